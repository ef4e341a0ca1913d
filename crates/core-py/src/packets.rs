//! Packets of a capture that goes on.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capture::Reader;
use capture::list::{Filter, List};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The latest packets of a pcap or pcapng stream of Ethernet frames, read in a thread until the stream ends. `descriptor` becomes this
/// object's. At most `most` packets with `most_bytes` together are kept. `name` is the interface's, if the stream names none.
#[pyclass(frozen)]
pub(crate) struct PacketList(Arc<Mutex<State>>);

struct State {
    list: List,
    dropped: u64,
    is_over: bool,
}

#[pymethods]
impl PacketList {
    #[new]
    fn new(descriptor: RawFd, name: String, most: usize, most_bytes: usize) -> PyResult<PacketList> {
        // SAFETY: the caller gives the descriptor away.
        let stream = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        let state = State { list: List::new(most, most_bytes), dropped: 0, is_over: false };
        let state = Arc::new(Mutex::new(state));
        let of_thread = state.clone();
        std::thread::Builder::new()
            .name("db-packets".into())
            .spawn(move || follow(stream, &name, &of_thread))
            .map_err(|error| PyRuntimeError::new_err(format!("no thread for packets: {error}")))?;
        Ok(PacketList(state))
    }

    /// Whether the stream has ended, how many packets were dropped before they were captured, and the numbers of the first packet that is
    /// kept and of the next that will come.
    fn state(&self) -> (bool, u64, u64, u64) {
        let state = self.state_now();
        let (first, end) = state.list.range();
        (state.is_over, state.dropped, first, end)
    }

    /// JSON of the first `most` packets from number `since` on that have all words of `filter`, and the number at which to go on.
    fn rows(&self, py: Python<'_>, since: u64, most: usize, filter: &str) -> (String, u64) {
        let filter = Filter::of(filter);
        let (rows, next) = py.detach(|| self.state_now().list.rows(since, most, &filter));
        (serde_json::to_string(&rows).expect("rows are plain data"), next)
    }

    /// JSON of a packet with the fields of its headers; None if it is no longer kept.
    fn whole(&self, number: u64) -> Option<String> {
        let whole = self.state_now().list.whole(number)?;
        Some(serde_json::to_string(&whole).expect("fields are plain data"))
    }

    /// The packets that have all words of `filter`, as a pcapng file.
    fn pcapng(&self, py: Python<'_>, filter: &str) -> PyResult<Vec<u8>> {
        let filter = Filter::of(filter);
        let file = py.detach(|| self.state_now().list.pcapng(&filter));
        file.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

impl PacketList {
    fn state_now(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn follow(stream: File, name: &str, state: &Mutex<State>) {
    let locked = || state.lock().unwrap_or_else(PoisonError::into_inner);
    // A stream that ends before its head has no packets.
    if let Ok(mut reader) = Reader::following(stream) {
        while let Some(frame) = reader.next_frame() {
            locked().list.push(&frame);
            let mut state = locked();
            for at in state.list.interfaces()..reader.interfaces().len() {
                state.list.name(at as u32, reader.interfaces()[at].name.as_deref().unwrap_or(name));
            }
            state.dropped = reader.dropped();
        }
    }
    locked().is_over = true;
}
