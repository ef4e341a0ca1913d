//! Frames in words, and lists of the latest ones.

use capture::describe::describe;
use capture::list::{Filter, List};
use capture::writer::{Packet, Writer};
use capture::{DecodeAs, Frame, Reader};
use etherparse::PacketBuilder;
use proptest::prelude::*;

fn framed(bytes: &[u8]) -> Frame<'_> {
    let length = bytes.len() as u32;
    Frame { time_ns: Some(7), interface: 0, link: 1, fcs_bytes: 0, length, outgoing: None, bytes, comment: &[] }
}

/// The line of a frame: protocol, ends and fields.
fn line(bytes: &[u8]) -> String {
    let (line, _) = describe(&framed(bytes), &DecodeAs::default());
    format!("{} {} > {} {}", line.protocol, line.source, line.destination, line.info)
}

fn tcp(last: u8, port: u16) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, last], [10, 0, 0, 2], 64);
    let mut bytes = Vec::new();
    builder.tcp(port, 80, 5, 512).syn().write(&mut bytes, &[0; 9]).expect("a frame");
    bytes
}

#[test]
fn frames_of_each_protocol_are_said_in_a_line() {
    let ethernet = || PacketBuilder::ethernet2([1; 6], [2; 6]);
    let four = || ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let six = || ethernet().ipv6([0xfd; 16], [0xfe; 16], 64);
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        line(&bytes)
    };
    assert_eq!(line(&tcp(1, 4_000)), "TCP 10.0.0.1 > 10.0.0.2 4000 → 80 SYN seq 5 ack 0 window 512 length 9");
    assert_eq!(
        written(&|bytes| four().udp(53, 9_000).write(bytes, &[0; 4]).expect("a frame")),
        "UDP 10.0.0.1 > 10.0.0.2 53 → 9000 DNS length 4"
    );
    assert_eq!(
        written(&|bytes| four().icmpv4_echo_request(7, 3).write(bytes, &[]).expect("a frame")),
        "ICMP 10.0.0.1 > 10.0.0.2 echo request id 7 seq 3"
    );
    let from = "fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd";
    assert_eq!(
        written(&|bytes| six().icmpv6_echo_reply(7, 3).write(bytes, &[]).expect("a frame")),
        format!("ICMPv6 {from} > {} echo reply id 7 seq 3", from.replace("fd", "fe"))
    );
    let mut arp = vec![0xff; 6];
    arp.extend([2, 2, 2, 2, 2, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 2, 2, 2, 2, 2, 10, 0, 0, 1]);
    arp.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, 9]);
    assert_eq!(line(&arp), "ARP 02:02:02:02:02:02 > ff:ff:ff:ff:ff:ff who has 10.0.0.9? tell 10.0.0.1");
    let ospf = ethernet().ipv4([10, 0, 0, 1], [224, 0, 0, 5], 1);
    let mut bytes = Vec::new();
    ospf.write(&mut bytes, 89.into(), &[2, 1, 0, 44, 9, 9, 9, 9, 0, 0, 0, 1]).expect("a frame");
    assert_eq!(line(&bytes), "OSPF 10.0.0.1 > 224.0.0.5 Hello of router 9.9.9.9");
    // A tag and a tunnel: the line is of the innermost packet.
    let mut tagged = tcp(1, 4_000);
    tagged.splice(12..12, [0x81, 0x00, 0x20, 0x07]);
    let (line, headers) = describe(&framed(&tagged), &DecodeAs::default());
    assert_eq!((line.protocol.as_str(), line.source.as_str()), ("TCP", "10.0.0.1"));
    assert_eq!(headers.iter().map(|header| header.name).collect::<Vec<_>>(), ["Ethernet", "802.1Q", "IPv4", "TCP"]);
    assert_eq!(headers[1].fields[0], ("VLAN", "7".to_owned()));
}

#[test]
fn a_list_keeps_the_latest_packets_and_filters_by_whole_words() {
    let mut list = List::new(3, 1 << 20);
    list.name(0, "h1-eth0");
    for last in 1..=12 {
        list.push(&framed(&tcp(last, 4_000)));
    }
    assert_eq!(list.range(), (9, 12));
    let sources = |words: &str| {
        let (rows, next) = list.rows(0, 10, &Filter::of(words));
        assert_eq!(next, 12);
        rows.into_iter().map(|row| row.line.source).collect::<Vec<_>>()
    };
    assert_eq!(sources(""), ["10.0.0.10", "10.0.0.11", "10.0.0.12"]);
    assert_eq!(sources("TCP h1-eth0 10.0.0.11"), ["10.0.0.11"]);
    assert_eq!(sources("10.0.0.1"), [""; 0]);
    assert_eq!(sources("syn !10.0.0.12"), ["10.0.0.10", "10.0.0.11"]);
    assert_eq!(list.rows(0, 1, &Filter::of("")).1, 10);
    assert!(list.whole(8).is_none() && list.whole(12).is_none());
    assert!(list.whole(9).is_some_and(|whole| whole.dump.starts_with("0000  02 02 02 02 02 02 01")));
    // Bytes bound the list as well.
    let mut small = List::new(1_000, 1_000);
    (0..100).for_each(|_| small.push(&framed(&[0; 200])));
    let (first, end) = small.range();
    assert!(end == 100 && first > 90);
}

#[test]
fn a_list_is_saved_with_times_interfaces_and_comments() {
    let mut writer = Writer::new(Vec::new(), "test").unwrap();
    let at = writer.interface("core:in", 0).unwrap();
    let bytes = tcp(1, 4_000);
    let (length, comment) = (bytes.len() as u32, "packet 1: lost");
    writer
        .packet(&Packet { interface: at, time_ns: 9, length, bytes: &bytes, outgoing: Some(false), comment })
        .unwrap();
    let mut list = List::new(10, 1 << 20);
    list.name(0, "core:in");
    let mut reader = Reader::following(std::io::Cursor::new(writer.finish().unwrap())).unwrap();
    while let Some(frame) = reader.next_frame() {
        list.push(&frame);
    }
    let saved = list.pcapng(&Filter::of("lost")).unwrap();
    let mut again = Reader::from_bytes(saved).unwrap();
    let frame = again.next_frame().unwrap();
    assert_eq!((frame.time_ns, frame.comment, frame.bytes), (Some(9), &b"packet 1: lost"[..], &bytes[..]));
    assert_eq!(again.interfaces()[0].name.as_deref(), Some("core:in"));
    assert!(Reader::from_bytes(list.pcapng(&Filter::of("!lost")).unwrap()).unwrap().next_frame().is_none());
}

proptest! {
    #[test]
    fn no_bytes_of_a_frame_end_the_program(bytes in proptest::collection::vec(any::<u8>(), 0..120), kind in 0..6_usize) {
        let mut bytes = bytes;
        if let (Some(at), Some(two)) = (bytes.get_mut(12..14), [None, Some([8, 0]), Some([8, 6]), Some([0x86, 0xdd]), Some([0x88, 0x47]), Some([0x81, 0])][kind]) {
            at.copy_from_slice(&two);
        }
        let (line, _) = describe(&framed(&bytes), &DecodeAs::default());
        prop_assert!(line.info.len() < 500);
    }
}
