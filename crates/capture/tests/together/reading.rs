//! Files as others write them.

use std::io::Write;

use capture::writer::{Packet, Writer};
use capture::{Capture, Flags, Segment};
use etherparse::PacketBuilder;
use proptest::prelude::*;

/// An Ethernet frame with TCP, by another library.
fn frame(seq: u32, payload: usize) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(4_000, 80, seq, 512).ack(9);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; payload]).expect("a frame");
    bytes
}

fn pcap(
    magic: [u8; 4],
    is_big: bool,
    link: u32,
    frames: &[(u32, u32, Vec<u8>)],
    snaplen: usize,
    extra: usize,
) -> Vec<u8> {
    let word = |value: u32| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = magic.to_vec();
    file.extend(half(2));
    file.extend(half(4));
    file.extend([0; 8]);
    file.extend(word(snaplen as u32));
    file.extend(word(link));
    for (seconds, fraction, bytes) in frames {
        let kept = bytes.len().min(snaplen);
        [*seconds, *fraction, kept as u32, bytes.len() as u32].map(word).iter().for_each(|four| file.extend(four));
        file.extend(vec![0; extra]);
        file.extend(&bytes[..kept]);
    }
    file
}

fn read(bytes: Vec<u8>) -> (Vec<Segment>, capture::Notes) {
    let mut capture = Capture::from_bytes(bytes).expect("a capture");
    let mut found = Vec::new();
    while let Some(segment) = capture.next_segment().expect("it can be read") {
        found.push(segment);
    }
    (found, capture.notes().clone())
}

const MAGIC: [u8; 4] = [0xd4, 0xc3, 0xb2, 0xa1];

fn plain(count: u32) -> Vec<u8> {
    let frames: Vec<_> = (0..count).map(|n| (1_000 + n, 5, frame(100 * n, 100))).collect();
    pcap(MAGIC, false, 1, &frames, 65_535, 0)
}

#[test]
fn all_magics_and_byte_orders_are_read() {
    let frames = [(7, 500, frame(1, 10)), (8, 600, frame(11, 0))];
    for (magic, is_big, ns, extra) in [
        ([0xd4, 0xc3, 0xb2, 0xa1], false, 500_000, 0),
        ([0xa1, 0xb2, 0xc3, 0xd4], true, 500_000, 0),
        ([0x4d, 0x3c, 0xb2, 0xa1], false, 500, 0),
        ([0xa1, 0xb2, 0x3c, 0x4d], true, 500, 0),
        ([0x34, 0xcd, 0xb2, 0xa1], false, 500_000, 8),
    ] {
        let (found, notes) = read(pcap(magic, is_big, 1, &frames, 65_535, extra));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].time_ns, found[0].seq, found[0].payload), (7_000_000_000 + ns, 1, 10));
        assert_eq!((found[0].source_port, found[0].flags, found[0].ack), (4_000, Flags::ACK, 9));
        assert_eq!((notes.frames, notes.cut_files, notes.damages), (2, 0, 0));
    }
}

#[test]
fn lengths_come_from_headers_whatever_was_captured() {
    let frames = [(1, 0, frame(5, 1_400))];
    let (found, notes) = read(pcap(MAGIC, false, 1, &frames, 60, 0));
    assert_eq!((found[0].payload, found[0].frame_bytes), (1_400, 1_454));
    assert_eq!((notes.cut_frames, notes.headless_frames), (1, 0));
    let (found, notes) = read(pcap(MAGIC, false, 1, &frames, 40, 0));
    assert_eq!((found.len(), notes.headless_frames), (0, 1));
}

#[test]
fn compression_changes_nothing() {
    let bytes = plain(50);
    let expected = read(bytes.clone());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&bytes).expect("compressed");
    let zst = zstd::encode_all(&bytes[..], 1).expect("compressed");
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&bytes).expect("compressed");
    for compressed in [gz.finish().expect("compressed"), zst, lz4.finish().expect("compressed")] {
        assert_eq!(read(compressed), expected);
    }
}

#[test]
fn a_file_that_is_cut_off_gives_what_is_there() {
    let bytes = plain(10);
    let (found, notes) = read(bytes[..bytes.len() - 5].to_vec());
    assert_eq!((found.len(), notes.cut_files, notes.damages), (9, 1, 0));
}

#[test]
fn behind_damage_reading_goes_on() {
    let mut bytes = plain(10);
    let record = 16 + frame(0, 100).len();
    // The captured length of the fourth record.
    bytes[24 + 3 * record + 8..24 + 3 * record + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let (found, notes) = read(bytes);
    assert_eq!((found.len(), notes.damages), (9, 1));
}

#[test]
fn tags_and_tunnels_are_looked_through() {
    let plain = frame(77, 100);
    let ip = plain[14..].to_vec();
    let wrap = |kind: [u8; 2], middle: &[u8], inner: &[u8]| [&plain[..12], &kind[..], middle, inner].concat();
    let outer = |protocol: u8, inner: &[u8]| {
        let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        header[2..4].copy_from_slice(&(20 + inner.len() as u16).to_be_bytes());
        wrap([8, 0], &header, inner)
    };
    let udp = |port: u16, inner: &[u8]| [&[0, 9][..], &port.to_be_bytes(), &[0, 0, 0, 0], inner].concat();
    let cases = [
        ("VLAN", wrap([0x81, 0], &[0, 5, 8, 0], &ip)),
        ("QinQ", wrap([0x88, 0xa8], &[0, 5, 0x81, 0, 0, 6, 8, 0], &ip)),
        ("MPLS", wrap([0x88, 0x47], &[0, 0, 0x10, 64, 0, 0, 0x21, 64], &ip)),
        ("PPPoE", wrap([0x88, 0x64], &[0x11, 0, 0, 1, 0, 142, 0, 0x21], &ip)),
        ("IP in IP", outer(4, &ip)),
        ("GRE with a key", outer(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 9], &ip[..]].concat())),
        ("GRE with Ethernet", outer(47, &[&[0, 0, 0x65, 0x58], &plain[..]].concat())),
        ("VXLAN", outer(17, &udp(4_789, &[&[8, 0, 0, 0, 0, 0, 1, 0], &plain[..]].concat()))),
        ("Geneve", outer(17, &udp(6_081, &[&[0, 0, 0x65, 0x58, 0, 0, 1, 0], &plain[..]].concat()))),
        ("GTP-U", outer(17, &udp(2_152, &[&[0x30, 0xff, 0, 140, 0, 0, 0, 1], &ip[..]].concat()))),
    ];
    for (name, bytes) in cases {
        let (found, notes) = read(pcap(MAGIC, false, 1, &[(1, 0, bytes)], 65_535, 0));
        assert_eq!(found.len(), 1, "{name}: {notes:?}");
        assert_eq!((found[0].seq, found[0].payload, found[0].source[15]), (77, 100, 1), "{name}");
    }
    for (link, head) in [
        (101, vec![]),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (9, vec![0xff, 3, 0, 0x21]),
        (113, vec![0, 4, 0, 1, 0, 6, 1, 1, 1, 1, 1, 1, 0, 0, 8, 0]),
        (276, vec![8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 4, 6, 1, 1, 1, 1, 1, 1, 0, 0]),
    ] {
        let bytes = [head, ip.clone()].concat();
        let (found, _) = read(pcap(MAGIC, false, link, &[(1, 0, bytes)], 65_535, 0));
        assert_eq!((found.len(), found[0].seq), (1, 77), "link type {link}");
        assert_eq!(found[0].outgoing, matches!(link, 113 | 276).then_some(true));
    }
}

#[test]
fn ports_and_link_types_are_read_as_users_say() {
    let plain = frame(77, 100);
    let udp = [&[0, 9][..], &4_790_u16.to_be_bytes(), &[0; 4], &[8, 0, 0, 0, 0, 0, 1, 0], &plain[..]].concat();
    let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
    ip[2..4].copy_from_slice(&(20 + udp.len() as u16).to_be_bytes());
    let tunnel = [&plain[..12], &[8, 0], &ip[..], &udp[..]].concat();
    for (link, bytes, said) in [(1, tunnel, "udp:4790=vxlan"), (147, plain.clone(), "link:147=1"), (9, plain, "link=1")]
    {
        let file = pcap(MAGIC, false, link, &[(1, 0, bytes)], 65_535, 0);
        assert!(read(file.clone()).0.is_empty(), "{said}");
        let as_said = capture::DecodeAs::parse(&[said.to_owned()]).expect("well-formed");
        let mut capture = Capture::from_bytes(file).expect("a capture").decoding(as_said);
        assert_eq!(capture.next_segment().expect("a file").expect("a segment").seq, 77, "{said}");
    }
}

#[test]
fn link_types_that_are_not_read_are_counted() {
    let (found, notes) = read(pcap(MAGIC, false, 999, &[(1, 0, vec![0; 80])], 65_535, 0));
    assert_eq!((found.len(), notes.unknown_links), (0, vec![(999, 1)]));
}

#[test]
fn what_is_written_as_pcapng_is_read_back() {
    let mut writer = Writer::new(Vec::new(), "test").expect("written");
    let first = writer.interface("left", 128).expect("written");
    let second = writer.interface("right", 128).expect("written");
    let bytes = frame(3, 1_000);
    for (interface, time_ns) in [(first, 1_000_000_001), (second, 1_000_000_002)] {
        let packet = Packet {
            interface,
            time_ns,
            length: bytes.len() as u32,
            bytes: &bytes[..128],
            outgoing: Some(interface == first),
            comment: "dropped-tail",
        };
        writer.packet(&packet).expect("written");
    }
    writer.statistics(first, 1_000_000_003, 5, 4).expect("written");
    let file = writer.finish().expect("written");
    let mut capture = Capture::from_bytes(file).expect("a capture");
    let one = capture.next_segment().expect("read").expect("a segment");
    let two = capture.next_segment().expect("read").expect("a segment");
    assert_eq!((one.time_ns, two.time_ns, one.payload), (1_000_000_001, 1_000_000_002, 1_000));
    assert_eq!((one.outgoing, two.outgoing), (Some(true), Some(false)));
    assert_ne!(one.place, two.place);
    assert!(capture.next_segment().expect("read").is_none());
    assert_eq!(capture.notes().capture_drops, 4);
    let names: Vec<_> = capture.interfaces().iter().map(|one| one.name.as_deref()).collect();
    assert_eq!(names, [Some("left"), Some("right")]);
}

#[test]
fn fragments_are_put_together() {
    let whole = frame(42, 1_000);
    let (ethernet, ip) = whole.split_at(14);
    let (header, body) = ip.split_at(20);
    let part = |range: std::ops::Range<usize>, more: u16| {
        let mut head = header.to_vec();
        head[2..4].copy_from_slice(&(20 + range.len() as u16).to_be_bytes());
        head[4..6].copy_from_slice(&[0, 99]);
        head[6..8].copy_from_slice(&((range.start as u16 / 8) | more).to_be_bytes());
        (1, 0, [ethernet, &head, &body[range]].concat())
    };
    let parts = [part(0..504, 0x2000), part(504..body.len(), 0)];
    let (found, notes) = read(pcap(MAGIC, false, 1, &parts, 65_535, 0));
    assert_eq!((found.len(), found[0].seq, found[0].payload), (1, 42, 1_000));
    assert_eq!(notes.open_datagrams, 0);
    let (found, notes) = read(pcap(MAGIC, false, 1, &parts[..1], 65_535, 0));
    assert_eq!((found.len(), notes.open_datagrams), (0, 1));
}

#[test]
fn several_files_are_read_in_the_order_of_their_first_frames() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths: Vec<_> = [30, 10, 20]
        .map(|second| {
            let path = directory.path().join(format!("{second}.pcap"));
            std::fs::write(&path, pcap(MAGIC, false, 1, &[(second, 0, frame(second, 1))], 100, 0)).expect("written");
            path
        })
        .to_vec();
    let mut capture = Capture::open(&paths, &[]).expect("captures");
    let mut numbers = Vec::new();
    while let Some(segment) = capture.next_segment().expect("read") {
        numbers.push(segment.seq);
    }
    assert_eq!((numbers, capture.notes().files), (vec![10, 20, 30], 3));
}

#[test]
fn what_is_no_capture_is_refused() {
    for (bytes, why) in [(&b""[..], "empty"), (b"hello", "5 bytes"), (&[b'x'; 100], "begins with 78 78 78 78")] {
        let error = Capture::from_bytes(bytes.to_vec()).err().expect("refused");
        assert!(error.to_string().contains(why), "{error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_end_and_none_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 0_u8..3, link in 0_u32..300) {
        let mut file = match kind {
            0 => pcap(MAGIC, false, link, &[], 65_535, 0),
            1 => Writer::new(Vec::new(), "x").and_then(Writer::finish).expect("written"),
            _ => Vec::new(),
        };
        file.append(&mut bytes);
        if let Ok(mut capture) = Capture::from_bytes(file) {
            while capture.next_segment().expect("one file").is_some() {}
        }
    }

    #[test]
    fn any_frame_is_decoded_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), link in 0_u16..300, more in 0_u32..2_000, at in 0_usize..200, byte in any::<u8>()) {
        let decode = |link: u16, bytes: &[u8]| {
            let length = bytes.len() as u32 + more;
            capture::decode::decode(&capture::Frame { time_ns: None, interface: 0, link, fcs_bytes: 4, length, outgoing: None, bytes, comment: &[] }, &capture::DecodeAs::default())
        };
        let _ = decode(link, &bytes);
        // Frames that are nearly right lead deeper.
        let mut near = frame(1, 60);
        if let Some(one) = near.get_mut(at) { *one = byte; }
        let _ = decode(1, &near);
        let _ = decode(1, &near[..at.min(near.len())]);
    }
}

/// An enhanced packet that counts nearly all drops there can be, and an obsolete one that counts more.
#[test]
fn drops_that_do_not_fit_are_as_many_as_fit() {
    fn block(kind: u32, body: &[&[u8]]) -> Vec<u8> {
        let (body, kind) = (body.concat(), kind.to_le_bytes());
        let size = (12 + body.len() as u32).to_le_bytes();
        [&kind, &size, &body[..], &size].concat()
    }
    let drops = (u64::MAX - 1).to_le_bytes();
    let file = [
        block(0x0a0d_0d0a, &[&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0], &[255; 8]]),
        block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0]]),
        block(6, &[&[0; 20], &[4, 0, 8, 0], &drops, &[0; 4]]),
        block(2, &[&[0, 0, 5, 0], &[0; 16]]),
    ];
    let (_, notes) = read(file.concat());
    assert_eq!((notes.frames, notes.damages, notes.capture_drops), (2, 0, u64::MAX));
}
