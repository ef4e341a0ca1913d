use super::{Effects, Impairment};
use crate::chance::Chance;

/// Some packets are marked, as if a queue further on were congested.
#[derive(Clone, Debug)]
pub(crate) struct Marking(Chance);

impl Impairment for Marking {
    fn new(link: &plan::Link, seed: u64) -> Marking {
        Marking(Chance::new(link.marking.unwrap_or_default(), seed, &format!("{}/marking", link.name)))
    }

    fn configure(&mut self, link: &plan::Link) {
        self.0.configure(link.marking.unwrap_or_default());
    }

    fn acts(&self) -> bool {
        self.0.acts()
    }

    fn skip(&mut self, packets: u64) {
        self.0.skip(packets);
    }

    fn next(&mut self, effects: &mut Effects) {
        effects.is_marked = self.0.next();
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::{Ecn, Fate, Link, Mark, Packet, Passage};

    const N: u64 = 20_000;

    /// Packets one by one over a link that marks a fifth of them and loses a tenth.
    fn passages(ecn: fn(u64) -> Ecn) -> Vec<Passage> {
        let marking = Some(plan::Chance { probability: 0.2, correlation: 0.5 });
        let loss_after = vec![plan::Loss::Independent { probability: 0.1 }];
        let spec = plan::Link { marking, loss_after, ..plan::Link::transparent("ab", "a", "b") };
        let mut link = Link::new(&spec, 3);
        let pass = |id: u64| {
            let now = Time(id as i64);
            link.push(Packet { id, size: 1514, ecn: ecn(id), ..Packet::default() }, now);
            link.poll(now).expect("without a rate it is through at once")
        };
        let done: Vec<Passage> = (0..N).map(pass).collect();
        let marked = done.iter().filter(|passage| passage.mark.is_some()).count();
        assert_eq!(link.counters().marked_packets, marked as u64);
        done
    }

    #[test]
    fn a_share_of_packets_is_marked_whether_they_are_lost_or_not() {
        let done = passages(|_| Ecn::Ect0);
        let share = |of: &dyn Fn(&&Passage) -> bool| {
            let some: Vec<&Passage> = done.iter().filter(of).collect();
            some.iter().filter(|passage| passage.mark == Some(Mark::Random)).count() as f64 / some.len() as f64
        };
        // The share is of 2,000 lost packets; a correlation of 0.5 triples the variance: 4 standard deviations are 0.062.
        assert!((share(&|passage| passage.fate == Fate::LostAfter) - 0.2).abs() < 0.062);
        assert!((share(&|passage| passage.fate == Fate::Delivered) - 0.2).abs() < 0.021);
        assert!(done.iter().all(|passage| (passage.packet.ecn == Ecn::Ce) == passage.mark.is_some()));
    }

    #[test]
    fn packets_without_ecn_pass_unmarked_and_change_no_other_packets_marks() {
        let (all, half) = (passages(|_| Ecn::Ect0), passages(|id| if id % 2 == 0 { Ecn::NotEct } else { Ecn::Ect0 }));
        for (one, other) in all.iter().zip(&half) {
            let is_capable = other.packet.id % 2 == 1;
            assert_eq!(other.mark, one.mark.filter(|_| is_capable), "packet {}", one.packet.id);
        }
    }

    #[test]
    fn one_that_came_marked_is_not_this_links() {
        assert!(passages(|_| Ecn::Ce).iter().all(|passage| passage.mark.is_none() && passage.packet.ecn == Ecn::Ce));
    }
}
