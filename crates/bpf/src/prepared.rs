//! Algorithms that are loaded before anybody knows the run.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use crate::bundled::algorithms;
use crate::kernel::{self, Interface};
use crate::object::Loaded;
use crate::session::{draw, load};

/// The bundled algorithms, with the parameters that they have by default, and each with the name that it will be
/// registered under. Nobody can choose them yet.
#[derive(Debug, Default)]
pub struct Prepared(Vec<(&'static str, String, Loaded)>);

impl Prepared {
    /// Loads all that this kernel takes. A run that wants another one loads it itself, and says what was wrong.
    ///
    /// `acks`: the ring buffer to which they write a row per ACK, of the senders that they are told.
    pub fn load(acks: Option<BorrowedFd<'_>>) -> Prepared {
        let Ok(interface) = kernel::is_new_enough().and_then(|()| Interface::of_running_kernel()) else {
            return Prepared::default();
        };
        let none = BTreeMap::new();
        let prepare = |label: &'static str, object: &[u8]| {
            let name = draw(label, object, &none)?;
            let loaded = load(label, object, &none, acks, interface, &name)?;
            anyhow::Ok((label, name, loaded))
        };
        Prepared(algorithms().filter_map(|one| prepare(one.label, one.object).ok()).collect())
    }

    /// Takes an algorithm out, and its name.
    pub(crate) fn take(&mut self, label: &str) -> Option<(String, Loaded)> {
        let at = self.0.iter().position(|(known, ..)| *known == label)?;
        let (_, name, loaded) = self.0.swap_remove(at);
        Some((name, loaded))
    }
}
