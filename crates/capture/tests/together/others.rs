//! Captures that other projects made to try readers: `others/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use capture::{Capture, Notes, Segment};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/others").join(folder);
    let is_capture = |path: &PathBuf| {
        path.extension().is_some_and(|kind| ["pcap", "pcapng", "cap"].contains(&kind.to_str().unwrap_or_default()))
    };
    let mut found: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).filter(is_capture).collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// All that a file holds, up to what ends it.
fn read(path: &Path) -> anyhow::Result<(Vec<Segment>, Notes)> {
    let mut capture = Capture::from_bytes(fs::read(path)?)?;
    let mut found = Vec::new();
    while let Some(segment) = capture.next_segment()? {
        found.push(segment);
    }
    Ok((found, capture.notes().clone()))
}

/// Packets in a file of the generator, by its text: blocks of all three kinds that hold one.
fn described(path: &Path) -> u64 {
    let text = fs::read_to_string(path.with_extension("txt")).expect("a description");
    let count =
        |kind| text.lines().filter_map(|line| line.trim().strip_prefix(kind)?.trim().parse::<u64>().ok()).sum::<u64>();
    count("EPB:") + count("SPB:") + count("PB:")
}

#[test]
fn every_block_of_pcapng_is_counted_in_both_byte_orders() {
    let mut both = [0, 0];
    for path in files("pcapng-test-generator") {
        let is_big = path.file_stem().expect("a name").to_str().expect("ASCII").ends_with("-be");
        let (_, notes) = read(&path).unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        assert_eq!(notes.frames, described(&path), "{}", path.display());
        both[usize::from(is_big)] += notes.frames;
    }
    assert_eq!(both, [70, 70]);
}

#[test]
fn byte_orders_hold_the_same_segments() {
    for path in files("pcapng-test-generator") {
        let name = path.to_str().expect("UTF-8");
        if let Some(stem) = name.strip_suffix("-le.pcapng") {
            let (little, _) = read(&path).expect("a capture");
            let (big, _) = read(Path::new(&format!("{stem}-be.pcapng"))).expect("a capture");
            assert_eq!(little, big, "{stem}");
        }
    }
}

#[test]
fn what_is_malformed_ends_in_segments_or_in_a_sentence() {
    let mut segments = 0;
    for path in files("PcapPlusPlus").into_iter().chain(files("tcpdump")) {
        match read(&path) {
            Ok((found, notes)) => {
                assert!(notes.frames > 0, "{}", path.display());
                segments += found.len();
            }
            Err(error) => assert!(error.to_string().len() > 20, "{}: {error:#}", path.display()),
        }
    }
    assert!(segments > 300);
}
