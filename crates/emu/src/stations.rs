use link::Packet;
use rustc_hash::FxHashMap;

use crate::store::Ends;

/// The stations of a lab network by their MAC addresses, as frames show them.
#[derive(Default)]
pub(crate) struct Stations {
    numbers: FxHashMap<[u8; 6], u16>,
}

impl Stations {
    /// The numbers of a frame's receiver and sender; [`Packet::UNKNOWN`] for a group, and for stations beyond the 65,535th.
    pub(crate) fn of(&mut self, ends: &Ends) -> (u16, u16) {
        let (receiver, sender) = ends.split_at(6);
        let mut number = |mac: &[u8]| self.number(mac.try_into().expect("six bytes"));
        (number(receiver), number(sender))
    }

    fn number(&mut self, mac: [u8; 6]) -> u16 {
        if mac[0] & 1 == 1 {
            return Packet::UNKNOWN;
        }
        if let Some(&number) = self.numbers.get(&mac) {
            return number;
        }
        let number = self.numbers.len().min(usize::from(Packet::UNKNOWN)) as u16;
        if number != Packet::UNKNOWN {
            self.numbers.insert(mac, number);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_have_numbers_and_groups_have_none() {
        let mut stations = Stations::default();
        let ends = |receiver: [u8; 6], sender: [u8; 6]| [receiver, sender].concat().try_into().unwrap();
        let (a, b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        assert_eq!(stations.of(&ends(a, b)), (0, 1));
        assert_eq!(stations.of(&ends(b, a)), (1, 0));
        assert_eq!(stations.of(&ends([0xff; 6], a)), (Packet::UNKNOWN, 0));
        assert_eq!(stations.of(&ends([1, 0, 0x5e, 0, 0, 5], b)), (Packet::UNKNOWN, 1));
        for index in 2..70_000u32 {
            let [_, high, middle, low] = index.to_be_bytes();
            stations.number([2, 1, 0, high, middle, low]);
        }
        assert_eq!(stations.number([2, 2, 2, 2, 2, 2]), Packet::UNKNOWN, "memory is bounded");
        assert_eq!(stations.number(b), 1);
    }
}
