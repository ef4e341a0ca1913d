//! Queues in the words of tc(8).

use units::{Duration, Rate};

use super::{Order, US};
use crate::{Isolation, Queue};

/// A queue inside a bucket of tokens, or one that has a shaper of its own.
#[derive(Debug)]
pub(super) struct Words {
    pub queue: String,
    pub order: Order,
    /// True if the discipline shapes: no bucket of tokens stands around it.
    pub shapes: bool,
}

/// The room for packets that wait, the one that waits for tokens among them.
#[derive(Clone, Copy)]
pub(super) enum Room {
    Packets(u64),
    Bytes(u64),
    Unlimited,
}

/// More than ever wait, in packets and in bytes.
const MANY: (u64, u64) = (1_000_000, 2_000_000_000);

/// Constants of Linux's PIE: the burst that passes (150 ms), and the probability above which it drops in spite of ECN.
const PIE_BURST: Duration = Duration::from_millis(150);
const PIE_ECN: f64 = 0.1;
/// The unit of PIE's gains in tc(8), in Hz.
const PIE_GAIN: f64 = 1.0 / 16.0;

/// `queue` in tc's words; or the part of it that tc cannot say as we mean it.
pub(super) fn words(queue: &Queue, room: Room, rate: Rate) -> Result<Words, &'static str> {
    let inside = |queue| Words { queue, order: Order::Arrival, shapes: false };
    match queue {
        Queue::Red { .. } => return red(queue, room, rate).map(inside),
        Queue::Cake { .. } | Queue::Fq { .. } if !matches!(room, Room::Unlimited) => {
            return Err("a queue of flows that makes room in another way than ours");
        }
        Queue::Cake { .. } => return cake(queue, rate),
        _ => {}
    }
    let limit = match room {
        Room::Packets(limit) => limit,
        Room::Unlimited => MANY.0,
        Room::Bytes(_) => return Err("a queue that is managed and has room in bytes"),
    };
    match *queue {
        Queue::DropTail { ce_threshold: None } => Ok(inside(format!("pfifo limit {limit}"))),
        Queue::Codel { target_ns, interval_ns, ecn, ce_threshold_ns } => {
            let law = codel(target_ns, interval_ns, ecn, ce_threshold_ns)?;
            Ok(inside(format!("codel limit {limit} {law}")))
        }
        Queue::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn, ce_threshold_ns } => {
            let law = codel(target_ns, interval_ns, ecn, ce_threshold_ns)?;
            let queue = format!("fq_codel limit {limit} flows {flows} quantum {quantum_bytes} drop_batch 1 {law}");
            Ok(Words { queue, order: Order::Flow, shapes: false })
        }
        Queue::Fq { quantum_bytes, flows } => {
            // Flows without a socket are as many as the bits of a mask.
            if !flows.is_power_of_two() {
                return Err("a number of flows that is no power of two");
            }
            let queue = format!(
                "fq limit {limit} flow_limit {limit} quantum {quantum_bytes} initial_quantum {quantum_bytes} buckets {flows} \
                 orphan_mask {} nopacing",
                flows.get() - 1
            );
            Ok(Words { queue, order: Order::Flow, shapes: false })
        }
        Queue::Pie { target_ns, t_update_ns, alpha, beta, max_burst_ns, ecn, mark_ecnth } => {
            if max_burst_ns != PIE_BURST || (ecn && mark_ecnth != PIE_ECN) {
                return Err("PIE with another burst, or another end of marks, than Linux's");
            }
            let (target, update) = (whole_us(target_ns)?, whole_us(t_update_ns)?);
            let (alpha, beta) = (gain(alpha)?, gain(beta)?);
            let ecn = if ecn { "ecn" } else { "noecn" };
            Ok(inside(format!(
                "pie limit {limit} target {target}us tupdate {update}us alpha {alpha} beta {beta} {ecn}"
            )))
        }
        _ => Err("this queue"),
    }
}

fn whole_us(time: Duration) -> Result<i64, &'static str> {
    if time.as_nanos() % US == 0 {
        Ok(time.as_nanos() / US)
    } else {
        Err("times of a queue with a fraction of a microsecond")
    }
}

fn codel(target: Duration, interval: Duration, ecn: bool, threshold: Option<Duration>) -> Result<String, &'static str> {
    if ecn && threshold.is_some() {
        return Err("CoDel that marks for two reasons");
    }
    let mut words = format!("target {}us interval {}us", whole_us(target)?, whole_us(interval)?);
    if let Some(time) = threshold {
        words += &format!(" ce_threshold {}us", whole_us(time)?);
    }
    Ok(words + if ecn { " ecn" } else { " noecn" })
}

/// A gain of PIE in tc's unit.
fn gain(hz: f64) -> Result<u32, &'static str> {
    let count = hz / PIE_GAIN;
    if count.fract() == 0.0 && (0.0..=32.0).contains(&count) {
        Ok(count as u32)
    } else {
        Err("gains of PIE that are no multiples of 1/16 Hz up to 2 Hz")
    }
}

/// Linux's RED (`include/net/red.h`) is not gentle, and weighs the newest length by a power of two, which tc(8) works out
/// from the burst that passes.
fn red(queue: &Queue, room: Room, rate: Rate) -> Result<String, &'static str> {
    let &Queue::Red { min_th_bytes, max_th_bytes, max_p, weight, average_packet_bytes, gentle, ecn, adaptive } = queue
    else {
        unreachable!("another queue")
    };
    let limit = match room {
        Room::Bytes(limit) => limit,
        Room::Unlimited => MANY.1,
        Room::Packets(_) => return Err("RED that has room in packets"),
    };
    if gentle {
        return Err("RED that is gentle");
    }
    if adaptive {
        // tc(8) gives its flags as TCA_RED_FLAGS since iproute2 5.7, and the kernel's timer wants them in the older field.
        return Err("RED that adapts");
    }
    let burst =
        red_burst(weight, min_th_bytes, average_packet_bytes).ok_or("a weight of RED that is no power of two")?;
    let mut words = format!(
        "red limit {limit} min {min_th_bytes} max {max_th_bytes} avpkt {average_packet_bytes} burst {burst} probability \
         {max_p} bandwidth {}bit",
        rate.as_bps()
    );
    if ecn {
        words += " ecn harddrop";
    }
    Ok(words)
}

/// The burst in packets for which tc(8) weighs by `weight`, a power of two. tc takes the largest weight W with which a queue
/// that was empty takes the burst before its average has reached `min_th`:
/// burst + 1 - min_th / packet <= (1 - (1 - W)^burst) / W (Floyd and Jacobson 1993, section 6).
fn red_burst(weight: f64, min_th: u64, packet: u32) -> Option<u64> {
    let wanted = -weight.log2();
    let least = min_th as f64 / f64::from(packet);
    let taken = |burst: u64| {
        let over = burst as f64 + 1.0 - least;
        (1..32).find(|&log| {
            let weight = 0.5_f64.powi(log);
            over <= (1.0 - (1.0 - weight).powf(burst as f64)) / weight
        })
    };
    let first = least.ceil() as u64;
    (first..first + 1_000_000).map_while(|burst| Some((burst, taken(burst)?))).find_map(|(burst, log)| {
        let log = f64::from(log);
        (log >= wanted).then(|| (log == wanted).then_some(burst))
    })?
}

/// CAKE has a shaper of its own. Its limit counts the memory of packets, so that only none is the same as ours. Flows are
/// told apart without connection tracking, which the word `nonat` would ask for.
fn cake(queue: &Queue, rate: Rate) -> Result<Words, &'static str> {
    let &Queue::Cake { interval_ns, quantum_bytes, isolation, ecn, .. } = queue else { unreachable!("another queue") };
    // The kernel's quantum follows from the rate: 1/4096 s of it, 300 to 1514 bytes.
    if u64::from(quantum_bytes.get()) != (rate.as_bps() / 8 / 4096).clamp(300, 1514) || !ecn {
        return Err("CAKE with another quantum than Linux's, or without marks");
    }
    let isolation = match isolation {
        Isolation::Flows => "flows",
        Isolation::TripleIsolate => "triple-isolate",
    };
    let queue = format!(
        "cake bandwidth {}bit besteffort {isolation} nowash no-ack-filter raw memlimit {} rtt {}us",
        rate.as_bps(),
        MANY.1,
        whole_us(interval_ns)?
    );
    Ok(Words { queue, order: Order::Flow, shapes: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_bps(20_000_000).expect("it is not zero");

    fn queue_words(queue: &Queue, room: Room) -> Result<String, &'static str> {
        words(queue, room, RATE).map(|words| words.queue)
    }

    fn red(weight: f64, gentle: bool, adaptive: bool) -> Queue {
        let (min_th_bytes, max_th_bytes, average_packet_bytes) = (15_140, 45_420, 1514);
        Queue::Red { min_th_bytes, max_th_bytes, max_p: 0.1, weight, average_packet_bytes, gentle, ecn: true, adaptive }
    }

    #[test]
    fn red_is_neither_gentle_nor_adaptive_nor_of_any_weight() {
        let words = queue_words(&red(0.0078125, false, false), Room::Bytes(150_000)).unwrap();
        assert!(words.starts_with("red limit 150000 min 15140 max 45420 avpkt 1514 burst "), "{words}");
        assert!(words.ends_with(" probability 0.1 bandwidth 20000000bit ecn harddrop"), "{words}");
        assert!(queue_words(&red(0.002, false, false), Room::Unlimited).is_err());
        assert!(queue_words(&red(0.0078125, true, false), Room::Unlimited).is_err());
        assert!(queue_words(&red(0.0078125, false, true), Room::Unlimited).is_err());
        assert!(queue_words(&red(0.0078125, false, false), Room::Packets(10)).is_err());
    }

    #[test]
    fn pie_has_linuxs_constants() {
        let pie = |alpha, max_burst_ns| {
            let (target_ns, t_update_ns) = (Duration::from_millis(15), Duration::from_millis(15));
            Queue::Pie { target_ns, t_update_ns, alpha, beta: 1.25, max_burst_ns, ecn: true, mark_ecnth: 0.1 }
        };
        let words = queue_words(&pie(0.125, PIE_BURST), Room::Packets(1001)).unwrap();
        assert_eq!(words, "pie limit 1001 target 15000us tupdate 15000us alpha 2 beta 20 ecn");
        assert!(queue_words(&pie(0.1, PIE_BURST), Room::Unlimited).is_err());
        assert!(queue_words(&pie(0.125, Duration::ZERO), Room::Unlimited).is_err());
    }

    #[test]
    fn cake_takes_the_place_of_the_bucket() {
        let cake = |quantum| Queue::Cake {
            target_ns: Duration::from_millis(5),
            interval_ns: Duration::from_millis(100),
            quantum_bytes: std::num::NonZeroU32::new(quantum).unwrap(),
            isolation: Isolation::TripleIsolate,
            ecn: true,
        };
        let found = words(&cake(610), Room::Unlimited, RATE).expect("tc can say it");
        assert!(found.shapes && found.order == Order::Flow);
        let flags = "besteffort triple-isolate nowash no-ack-filter raw";
        assert_eq!(found.queue, format!("cake bandwidth 20000000bit {flags} memlimit 2000000000 rtt 100000us"));
        assert!(queue_words(&cake(1514), Room::Unlimited).is_err());
        assert!(queue_words(&cake(610), Room::Bytes(100_000)).is_err());
    }

    #[test]
    fn fq_has_as_many_flows_as_a_mask() {
        let fq = |flows| {
            let number = |value| std::num::NonZeroU32::new(value).unwrap();
            queue_words(&Queue::Fq { quantum_bytes: number(3028), flows: number(flows) }, Room::Unlimited)
        };
        let words = fq(1024).unwrap();
        assert!(words.ends_with("quantum 3028 initial_quantum 3028 buckets 1024 orphan_mask 1023 nopacing"), "{words}");
        assert!(fq(1000).is_err());
    }

    #[test]
    fn the_burst_gives_the_weight() {
        for log in 2..12 {
            let weight = 0.5_f64.powi(log);
            let burst = red_burst(weight, 15_140, 1514).expect("each power of two has a burst");
            let over = burst as f64 + 1.0 - 10.0;
            let most = |weight: f64| (1.0 - (1.0 - weight).powf(burst as f64)) / weight;
            assert!(over <= most(weight) && over > most(2.0 * weight), "{burst} packets weigh more than {weight}");
        }
        assert_eq!(red_burst(0.002, 15_140, 1514), None);
    }
}
