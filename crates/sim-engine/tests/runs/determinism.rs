//! A run depends only on its plan: the same bytes twice, and the same content on every machine.

use std::fmt::Write;

use crate::common::{Cell, Dumbbell, Run, TABLES, Table, bulk, run, run_with};
use plan::Plan;
use serde_json::json;
use sha2::{Digest, Sha256};

fn mixed() -> Dumbbell {
    crate::common::mixed(
        json!({"distribution": {"kind": "normal", "mean_ns": 1_000_000, "sd_ns": 500_000}, "correlation": 0.5}),
    )
}

/// CUBIC and BBRv3 at a shallow buffer.
fn competing() -> Plan {
    Dumbbell::new(10, 40.0).buffer_bdp(0.5).seconds(6.0).flow(bulk("cubic"), 0.0).flow(bulk("bbr3"), 0.3).plan()
}

/// DCTCP at a threshold, beside datagrams.
fn marked() -> Plan {
    let udp = json!({"kind": "udp", "rate_bps": 2_000_000, "payload_bytes": 1000, "bytes": null, "ecn": "ect0"});
    let queue = json!({"kind": "drop-tail", "ce_threshold": {"packets": 10}});
    Dumbbell::new(50, 4.0).seconds(2.0).flow(bulk("dctcp"), 0.0).flow(udp, 0.5).with(json!({"queue": queue})).plan()
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let plan = mixed().plan();
    let (one, other) = (run(&plan), run_with(&plan, &mut slow).unwrap());
    for table in TABLES {
        assert!(one.table(table).rows().count() > 400, "{table} is too small to prove anything");
        assert!(one.bytes(table) == other.bytes(table), "{table} differs from one run to the next");
    }
    assert_eq!(one.json("traffic"), other.json("traffic"));
}

/// Somebody who takes his time, so that threads meet in another order.
fn slow(_: &messages::Event) -> anyhow::Result<bool> {
    std::thread::sleep(std::time::Duration::from_millis(30));
    Ok(true)
}

#[test]
fn another_seed_gives_another_run() {
    let (one, other) = (run(&mixed().plan()), run(&mixed().seed(2).plan()));
    for table in TABLES {
        assert!(one.bytes(table) != other.bytes(table), "{table}: the seed makes no difference");
    }
}

#[test]
fn what_is_recorded_changes_nothing_else() {
    let mut plan = mixed().plan();
    let full = run(&plan);
    (plan.record.packets, plan.record.acks) = (false, plan::Acks::Off);
    let sparse = run(&plan);
    for table in ["samples", "links"] {
        assert!(full.bytes(table) == sparse.bytes(table), "{table}");
    }
    assert_eq!(full.json("traffic"), sparse.json("traffic"));
    for table in ["packets", "acks"] {
        assert!(!sparse.directory.path().join(format!("{table}.parquet")).exists(), "{table}");
    }
}

/// A hash of what is in a table, however it is written.
fn digest(table: &Table) -> String {
    let mut hash = Sha256::new();
    for (name, cells) in &table.columns {
        let mut text = format!("{name}:");
        for cell in cells {
            match cell {
                Cell::Null => text.push('-'),
                Cell::Number(number) => write!(text, "{number}").unwrap(),
                Cell::Float(value) => write!(text, "{:08x}", value.to_bits()).unwrap(),
                Cell::Flag(flag) => write!(text, "{flag}").unwrap(),
                Cell::Text(word) => text.push_str(word),
            }
            text.push('\n');
        }
        hash.update(text);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn digests(run: &Run) -> [String; 4] {
    TABLES.map(|table| digest(&run.table(table)))
}

/// The content of `mixed`, `competing` and `marked`, table by table.
const GOLDEN: [[&str; 4]; 3] = [
    ["54d63c033357d536", "deef42ed2ee56798", "c3cb1d5f47db027f", "b31e600b712d3382"],
    ["42a16daa2fc887b1", "040ab78324ba3c1d", "1f595f0d44d4bcf9", "1883ee2ec2bae3a7"],
    ["5f6005e4a870c4b5", "005cee8b40bb22eb", "2948501a6d4862cd", "f047ef50ea1ee1c0"],
];

/// A change of the simulator's behaviour, or of a link's, changes the content: then take over what the test found, and say
/// in the commit what has changed.
#[test]
fn the_content_is_the_same_on_every_machine() {
    let found = [mixed().plan(), competing(), marked()].map(|plan| digests(&run(&plan)));
    assert_eq!(found, GOLDEN);
}
