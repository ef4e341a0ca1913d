use std::net::Ipv4Addr;

use plan::Outside;

const IPV4: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DNS_PORT: u16 = 53;
/// The bits of the fragment offset, and "more fragments" (RFC 791, section 3.1).
const FRAGMENT: u16 = 0x3fff;

/// Decides which frames of the lab reach the machine's network.
///
/// slirp4netns opens a socket of this machine towards the destination of a packet, also towards 127.0.0.1 where a router
/// sends packets there: `--disable-host-loopback` refuses only its own name for it. And each port of its name server is the
/// same port of the machine's, which may be 127.0.0.53.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate(pub Outside);

impl Gate {
    /// True for ARP, and for IPv4 to where a router may send it: to no address of a machine itself or of its link alone
    /// (RFC 6890), to no group, and in the subnet of the interface only DNS and ICMP.
    pub(super) fn lets_out(&self, frame: &[u8]) -> bool {
        let Some((header, packet)) = frame.split_at_checked(14) else { return false };
        let ethertype = [header[12], header[13]];
        if ethertype != IPV4 {
            return ethertype == ARP;
        }
        let Some(ip) = packet.get(..20).filter(|ip| ip[0] >> 4 == 4) else { return false };
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        let [first, ..] = to.octets();
        if to.is_loopback() || to.is_link_local() || first == 0 || first >= 224 {
            return false;
        }
        !self.0.subnet.contains(&to) || self.is_for_the_stack(to, ip, packet)
    }

    /// True for a request to an address at which the network stack itself answers.
    fn is_for_the_stack(&self, to: Ipv4Addr, ip: &[u8], packet: &[u8]) -> bool {
        let is_name_server = to == self.0.name_server();
        let is_whole = u16::from_be_bytes([ip[6], ip[7]]) & FRAGMENT == 0;
        match ip[9] {
            ICMP => is_name_server || to == self.0.gateway(),
            TCP | UDP => {
                let start = 4 * usize::from(ip[0] & 15);
                let port = packet.get(start + 2..start + 4).map(|port| u16::from_be_bytes([port[0], port[1]]));
                is_name_server && is_whole && port == Some(DNS_PORT)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate(Outside { router: 0, subnet: "100.64.0.0/24".parse().expect("a subnet") })
    }

    fn frame(to: &str, protocol: u8, port: u16, fragment: u16) -> Vec<u8> {
        let mut frame = vec![0; 14 + 20 + 8];
        frame[12..14].copy_from_slice(&IPV4);
        frame[14] = 0x45;
        frame[20..22].copy_from_slice(&fragment.to_be_bytes());
        frame[23] = protocol;
        frame[30..34].copy_from_slice(&to.parse::<Ipv4Addr>().expect("an address").octets());
        frame[36..38].copy_from_slice(&port.to_be_bytes());
        frame
    }

    #[test]
    fn other_machines_are_reached() {
        for to in ["203.0.113.1", "192.168.1.1", "10.0.0.1", "100.64.1.2", "223.255.255.255"] {
            for protocol in [ICMP, TCP, UDP] {
                assert!(gate().lets_out(&frame(to, protocol, 80, 0)), "{to}");
                assert!(gate().lets_out(&frame(to, protocol, 80, 0x2000)), "{to}, in fragments");
            }
        }
    }

    #[test]
    fn no_address_of_the_machine_itself_is_reached() {
        for to in ["127.0.0.1", "127.0.0.53", "127.255.255.255", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1"] {
            for protocol in [ICMP, TCP, UDP] {
                assert!(!gate().lets_out(&frame(to, protocol, DNS_PORT, 0)), "{to}");
            }
        }
        assert!(!gate().lets_out(&frame("255.255.255.255", UDP, 67, 0)));
    }

    #[test]
    fn the_name_server_answers_nothing_but_names() {
        for protocol in [TCP, UDP] {
            assert!(gate().lets_out(&frame("100.64.0.3", protocol, 53, 0)));
            assert!(!gate().lets_out(&frame("100.64.0.3", protocol, 22, 0)));
            assert!(
                !gate().lets_out(&frame("100.64.0.3", protocol, 53, 0x2000)),
                "ports are in the first fragment alone"
            );
            assert!(!gate().lets_out(&frame("100.64.0.3", protocol, 53, 1)));
            assert!(!gate().lets_out(&frame("100.64.0.2", protocol, 53, 0)));
            assert!(!gate().lets_out(&frame("100.64.0.99", protocol, 53, 0)));
        }
        assert!(gate().lets_out(&frame("100.64.0.2", ICMP, 0, 0)));
        assert!(!gate().lets_out(&frame("100.64.0.2", 132, 53, 0)));
    }

    #[test]
    fn ports_behind_options_are_found() {
        let mut options = frame("100.64.0.3", UDP, 53, 0);
        options[14] = 0x46;
        assert!(!gate().lets_out(&options), "its port is 4 bytes further on");
        options.extend([0; 4]);
        options[40..42].copy_from_slice(&DNS_PORT.to_be_bytes());
        assert!(gate().lets_out(&options));
    }

    #[test]
    fn damaged_and_other_frames_stay() {
        let whole = frame("203.0.113.1", TCP, 80, 0);
        assert!((0..34).all(|length| !gate().lets_out(&whole[..length])));
        let mut other = whole.clone();
        other[12..14].copy_from_slice(&[0x86, 0xdd]);
        assert!(!gate().lets_out(&other));
        other[12..14].copy_from_slice(&ARP);
        assert!(gate().lets_out(&other));
        let mut version = whole;
        version[14] = 0x65;
        assert!(!gate().lets_out(&version));
    }
}
