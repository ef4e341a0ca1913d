//! Queues in the words of tc(8).

use units::{Duration, Rate};

use super::{Order, US};
use crate::Queue;

/// A queue inside a bucket of tokens.
#[derive(Debug)]
pub(super) struct Words {
    pub queue: String,
    pub order: Order,
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
    let inside = |queue| Words { queue, order: Order::Arrival };
    if let Queue::Red { .. } = queue {
        return red(queue, room, rate).map(inside);
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
            Ok(Words { queue, order: Order::Flow })
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

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_bps(20_000_000).expect("it is not zero");

    fn said(queue: &Queue, room: Room) -> Result<String, &'static str> {
        words(queue, room, RATE).map(|words| words.queue)
    }

    fn red(weight: f64, gentle: bool, adaptive: bool) -> Queue {
        let (min_th_bytes, max_th_bytes, average_packet_bytes) = (15_140, 45_420, 1514);
        Queue::Red { min_th_bytes, max_th_bytes, max_p: 0.1, weight, average_packet_bytes, gentle, ecn: true, adaptive }
    }

    #[test]
    fn red_is_neither_gentle_nor_adaptive_nor_of_any_weight() {
        let words = said(&red(0.0078125, false, false), Room::Bytes(150_000)).unwrap();
        assert!(words.starts_with("red limit 150000 min 15140 max 45420 avpkt 1514 burst "), "{words}");
        assert!(words.ends_with(" probability 0.1 bandwidth 20000000bit ecn harddrop"), "{words}");
        assert!(said(&red(0.002, false, false), Room::Unlimited).is_err());
        assert!(said(&red(0.0078125, true, false), Room::Unlimited).is_err());
        assert!(said(&red(0.0078125, false, true), Room::Unlimited).is_err());
        assert!(said(&red(0.0078125, false, false), Room::Packets(10)).is_err());
    }

    #[test]
    fn pie_has_linuxs_constants() {
        let pie = |alpha, max_burst_ns| {
            let (target_ns, t_update_ns) = (Duration::from_millis(15), Duration::from_millis(15));
            Queue::Pie { target_ns, t_update_ns, alpha, beta: 1.25, max_burst_ns, ecn: true, mark_ecnth: 0.1 }
        };
        let words = said(&pie(0.125, PIE_BURST), Room::Packets(1001)).unwrap();
        assert_eq!(words, "pie limit 1001 target 15000us tupdate 15000us alpha 2 beta 20 ecn");
        assert!(said(&pie(0.1, PIE_BURST), Room::Unlimited).is_err());
        assert!(said(&pie(0.125, Duration::ZERO), Room::Unlimited).is_err());
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
