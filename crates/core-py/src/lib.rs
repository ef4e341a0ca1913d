//! `dumbbell._core`: the Rust side as Python sees it. Coarse on purpose: a run's directory goes in, files come out.

mod batch;
mod captures;
mod cc;
mod declarations;
mod edits;
mod emulate;
mod figures;
mod held;
mod helper;
mod network;
mod packets;
mod routing;
mod runs;
mod simulate;

use pyo3::prelude::*;

/// The Rust side. `make generate` writes its types to `_core.pyi`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::batch::{missing_shards, simulate_many};
    #[pymodule_export]
    use crate::captures::{analyse_captures, capture_segments};
    #[pymodule_export]
    use crate::cc::{cc_build, cc_bundled, cc_can_load, cc_check, cc_headers, cc_inspect, cc_list, cc_load, cc_unload};
    #[pymodule_export]
    use crate::declarations::{declarations, version};
    #[pymodule_export]
    use crate::edits::{edit_toml, toml_values};
    #[pymodule_export]
    use crate::emulate::{check_namespaces, cpu_share_refusal, emulate, stay};
    #[pymodule_export]
    use crate::figures::{bottlenecks_of, carrying, check_table, figures_between, figures_of};
    #[pymodule_export]
    use crate::held::{HeldRun, held_fields, simulate_held, step_held};
    #[pymodule_export]
    use crate::helper::run_helper;
    #[pymodule_export]
    use crate::network::{LinkFacts, Path, network, peak_bps, static_routes};
    #[pymodule_export]
    use crate::packets::PacketList;
    #[pymodule_export]
    use crate::routing::routing_daemon;
    #[pymodule_export]
    use crate::runs::read_runs;
    #[pymodule_export]
    use crate::simulate::{simulate, simulate_check, simulate_parameters, simulate_traced};
}
