//! Once as many packets are under way as ever will be, none costs an allocation.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Dumbbell, bulk};
use sim::{Options, Simulation};
use units::Time;

/// Counts allocations of the whole process: this file has one test, so nothing else allocates beside it.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn none_per_packet() {
    let mut plan = Dumbbell::new(100, 20.0).seconds(30.0);
    for cc in cc::NAMES {
        plan = plan.flow(bulk(cc), 0.0);
    }
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), ()).unwrap();
    simulation.run_until(Time(15_000_000_000));
    let (before, packets) = (ALLOCATIONS.load(Ordering::Relaxed), simulation.packets());
    simulation.run();
    let during = ALLOCATIONS.load(Ordering::Relaxed) - before;
    let packets = simulation.packets() - packets;
    // A flow whose window grows beyond all that it was before may grow its memory; a packet may not.
    assert!(during < 30, "{during} allocations for {packets} packets");
}
