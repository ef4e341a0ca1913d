//! The same rows give the same bytes, however the writing thread is scheduled.

use std::path::Path;

use link::{Backlog, Counters};
use records::links::LinkRow;
use records::{Names, Writer};
use units::Time;

fn names() -> Names {
    Names { flows: vec!["f1".into(), "other".into()], links: vec!["there".into(), "back".into()] }
}

fn write(path: &Path, limit: Option<usize>, rows: i64) -> u64 {
    let mut table = Writer::create(path, names()).unwrap();
    if let Some(chunks) = limit {
        table = table.waiting(chunks);
    }
    for at in 0..rows {
        table.push(LinkRow {
            time: Time(at * 997),
            link: (at % 2) as u16,
            counters: Counters::default(),
            backlog: Backlog::default(),
            queue_bytes_max: (at * at) as u64 % 10_007,
            capacity_bytes: None,
        });
    }
    assert_eq!(table.failure(), None);
    let stats = table.finish().unwrap();
    assert!(limit.is_none_or(|chunks| stats.backlog_max_chunks <= chunks + 2), "{stats:?}");
    stats.rows
}

#[test]
fn one_who_waits_writes_the_same_and_keeps_few_rows() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    // More than a group of rows.
    let rows = 1_200_000;
    for (name, limit) in [("free", None), ("waits", Some(1))] {
        assert_eq!(write(&path(name), limit, rows), rows as u64);
    }
    assert!(std::fs::read(path("free")).unwrap() == std::fs::read(path("waits")).unwrap());
}
