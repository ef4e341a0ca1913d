use anyhow::Result;

use crate::netlink::{Batch, Netlink};
use crate::requests;

/// Takes the carrier from interfaces of nodes, and gives it back: an interface has one while the core's end of its veth pair is
/// up.
pub struct Carriers {
    core: Netlink,
}

impl Carriers {
    /// For the pairs whose ends lie in the calling thread's network namespace.
    pub fn here() -> Result<Carriers> {
        Ok(Carriers { core: Netlink::open()? })
    }

    /// The peer of the core's end with this index has a carrier from now on, or none.
    pub fn set(&mut self, core_ifindex: i32, has: bool) -> Result<()> {
        let (what, request) = match has {
            true => ("giving an interface its carrier back", requests::set_up(core_ifindex)),
            false => ("taking the carrier from an interface", requests::set_down(core_ifindex)),
        };
        let mut batch = Batch::default();
        batch.push(what, request, 0);
        self.core.execute(batch)
    }
}
