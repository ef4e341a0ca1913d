use super::*;
use crate::packet::Ecn;
use crate::queue::aqm::testing::{Flow, Sender, closed_loop, item, mean, ms};
use crate::statistics::assert_chi_square;

const MAX_P: f64 = 0.02;

fn spec(weight: f64, gentle: bool, ecn: bool, adaptive: bool) -> Queue {
    Queue::Red {
        min_th_bytes: 10_000,
        max_th_bytes: 30_000,
        max_p: MAX_P,
        weight,
        average_packet_bytes: 1000,
        gentle,
        ecn,
        adaptive,
    }
}

fn red(weight: f64, gentle: bool, ecn: bool) -> Red {
    Red::new(&spec(weight, gentle, ecn, false), Buffer::Unlimited, 7, "link/queue")
}

/// The arrivals until each drop since the one before, while the average stays as it is.
fn spacings(average: f64, arrivals: u32) -> Vec<u32> {
    let mut red = Red { average, ..red(0.0, true, false) };
    let (mut spacings, mut since) = (Vec::new(), 0);
    for _ in 0..arrivals {
        let mut dropped = Dropped::default();
        red.enqueue(item(1000, Ecn::NotEct, Time::ZERO), Time::ZERO, &mut dropped);
        since += 1;
        if dropped.0.pop_front().is_some() {
            spacings.push(std::mem::take(&mut since));
        }
    }
    spacings
}

/// Floyd and Jacobson 1993, section 4: avg <- (1 - w) avg + w q at an arrival; (1 - w)^m avg at one to an empty queue,
/// m being the idle time in transmissions of an average packet. The values are computed by hand, packets of 1000 bytes,
/// one per ms.
#[test]
fn the_average_is_that_of_the_paper() {
    let mut red = red(0.25, true, false);
    let mut dropped = Dropped::default();
    let mut arrive = |red: &mut Red, us: i64| {
        red.enqueue(item(1000, Ecn::NotEct, Time(us * 1000)), Time(us * 1000), &mut dropped);
        red.average
    };
    let take = |red: &mut Red, us: i64| red.dequeue(Time(us * 1000), &mut Dropped::default()).is_some();
    assert_eq!(arrive(&mut red, 0), 0.0);
    assert!(take(&mut red, 0));
    assert_eq!(arrive(&mut red, 100), 0.0, "nothing waits");
    assert_eq!(arrive(&mut red, 200), 250.0, "1000 bytes wait");
    assert_eq!(arrive(&mut red, 300), 687.5, "2000 bytes wait");
    assert!(take(&mut red, 1000) && take(&mut red, 2000) && take(&mut red, 3000));
    assert!(!take(&mut red, 4000));
    assert_eq!(arrive(&mut red, 5000), 687.5 * 0.5625, "m = 2");
    assert!(take(&mut red, 5000));
    assert_eq!(arrive(&mut red, 9000), 687.5 * 0.5625 * 0.31640625, "m = 4");
}

/// Floyd and Jacobson 1993, section 4: idle time counts once, also where the arrival that ends it is dropped. ARED
/// looks at the average as it ages.
#[test]
fn idle_time_counts_once() {
    let mut red =
        Red { average: 80_000.0, ..Red::new(&spec(0.25, true, false, true), Buffer::Unlimited, 7, "link/queue") };
    (red.service, red.law.max_p) = (Service::default(), 0.4);
    for (us, others) in [(0, true), (1000, false)] {
        red.service.took(1000, Time(us * 1000), others);
    }
    red.empty_since = Some(ms(1));
    red.adapt_until(ms(1));
    let mut arrive = |ms_now: i64| {
        let mut dropped = Dropped::default();
        red.enqueue(item(1000, Ecn::NotEct, ms(ms_now)), ms(ms_now), &mut dropped);
        (red.average, red.law.max_p, dropped.0.len())
    };
    assert_eq!(arrive(2), (60_000.0, 0.4, 1));
    assert_eq!(arrive(3), (45_000.0, 0.4, 1), "a second ms");
    let (average, max_p, _) = arrive(1001);
    assert!(average < 1e-6, "{average}");
    assert_eq!(max_p, 0.4 * 0.9 * 0.9, "below the range at 0.501 s and 1.001 s");
}

/// Floyd and Jacobson 1993, section 4: p_b rises linearly from 0 at min_th to max_p at max_th; figure 2: from max_th on
/// all are dropped. Gentle (Floyd 2000): it rises linearly to 1 at twice max_th.
#[test]
fn the_probability_is_linear_in_both_parts() {
    let gentle = red(0.0, true, false).law;
    let close = |average: f64, p: f64| (gentle.probability(average).unwrap() - p).abs() < 1e-12;
    assert!(close(0.0, 0.0) && close(10_000.0, 0.0));
    assert!(close(15_000.0, MAX_P / 4.0) && close(20_000.0, MAX_P / 2.0) && close(30_000.0, MAX_P));
    assert!(close(45_000.0, MAX_P + 0.5 * (1.0 - MAX_P)) && close(54_000.0, MAX_P + 0.8 * (1.0 - MAX_P)));
    assert_eq!(gentle.probability(60_000.0), None);
    let steep = red(0.0, false, false).law;
    assert!(steep.probability(29_999.0).is_some());
    assert_eq!(steep.probability(30_000.0), None);
}

/// Floyd and Jacobson 1993, section 7, method 2, and figure 2: with p_a = p_b / (1 - count p_b) the arrivals from one
/// drop to the next are uniform over 1 to 1 / p_b - 1 (count is 1 for the first). Chi-square at 1e-4.
#[test]
fn drops_are_spaced_uniformly() {
    for (average, longest) in [(20_000.0, 99u32), (30_000.0 - 1e-7, 49)] {
        let mut counts = vec![0.0; longest as usize];
        for spacing in spacings(average, 400_000) {
            assert!(spacing <= longest, "{spacing} at {average}");
            counts[spacing as usize - 1] += 1.0;
        }
        let shares = vec![1.0 / f64::from(longest); longest as usize];
        assert_chi_square(&counts, &shares, &format!("spacings at {average}"));
    }
}

/// Floyd and Jacobson 1993, section 7: the rate of drops follows the average. Uniform spacings over 1 to n have mean
/// (n + 1) / 2 and variance (n^2 - 1) / 12: within 4.5 standard errors (two-sided 7e-6 for each).
#[test]
fn the_rate_of_drops_follows_the_average() {
    for (average, n) in [(12_000.0, 499.0), (15_000.0, 199.0), (20_000.0, 99.0), (30_000.0 - 1e-7, 49.0)] {
        let spacings = spacings(average, 1_000_000);
        let measured = mean(spacings.iter().map(|&spacing| f64::from(spacing)));
        let error = ((n * n - 1.0) / 12.0 / spacings.len() as f64).sqrt();
        let expected = (n + 1.0) / 2.0;
        assert!((measured - expected).abs() < 4.5 * error, "at {average}: {measured}, not {expected} +- {error}");
    }
}

/// RFC 2309 section 2 and RFC 3168 section 7: ECN-capable packets are marked where others are dropped early, but
/// dropped where all are; without room any is.
#[test]
fn ecn_marks_between_the_thresholds_only() {
    let fates = |average: f64, ecn: Ecn, limit: Buffer| {
        let mut red = Red { average, limit, count: 1 << 40, ..red(0.0, true, true) };
        let mut dropped = Dropped::default();
        red.enqueue(item(1000, ecn, Time::ZERO), Time::ZERO, &mut dropped);
        let mark = red.inside().first().and_then(|passage| passage.mark);
        (dropped.0.pop_front().map(|passage| passage.fate), mark)
    };
    let any = Buffer::Unlimited;
    assert_eq!(fates(20_000.0, Ecn::Ect0, any), (None, Some(Mark::Early)));
    assert_eq!(fates(20_000.0, Ecn::Ect1, any), (None, Some(Mark::Early)));
    assert_eq!(fates(20_000.0, Ecn::Ce, any), (None, None));
    assert_eq!(fates(20_000.0, Ecn::NotEct, any), (Some(Fate::DroppedEarly), None));
    assert_eq!(fates(60_000.0, Ecn::Ect0, any), (Some(Fate::DroppedEarly), None));
    assert_eq!(fates(20_000.0, Ecn::Ect0, Buffer::Bytes(999)), (Some(Fate::DroppedTail), None));
    assert_eq!(fates(5_000.0, Ecn::NotEct, any), (None, None));
}

/// Floyd, Gummadi, Shenker 2001, figure 3: every 0.5 s max_p rises by min(0.01, max_p / 4) above the target range,
/// falls to 0.9 of it below, and stays from 0.01 to 0.5.
#[test]
fn max_p_is_adapted_every_half_second() {
    let mut red = Red::new(&spec(0.0, true, false, true), Buffer::Unlimited, 7, "link/queue");
    let at = |red: &mut Red, now: i64, average: f64| {
        red.average = average;
        red.enqueue(item(1000, Ecn::NotEct, ms(now)), ms(now), &mut Dropped::default());
        red.law.max_p
    };
    assert_eq!(at(&mut red, 0, 25_000.0), 0.02);
    assert_eq!(at(&mut red, 499, 25_000.0), 0.02);
    assert_eq!(at(&mut red, 500, 25_000.0), 0.02 + 0.005);
    assert_eq!(at(&mut red, 999, 25_000.0), 0.025);
    assert_eq!(at(&mut red, 1000, 25_000.0), 0.025 + 0.00625);
    assert_eq!(at(&mut red, 1500, 20_000.0), 0.03125, "within 18,000 to 22,000");
    assert_eq!(at(&mut red, 2500, 17_999.0), 0.03125 * 0.9 * 0.9);
    let high = at(&mut red, 100_000, 22_001.0);
    assert!(high > 0.5 && high <= 0.51, "{high}");
    let low = at(&mut red, 200_000, 17_999.0);
    assert!((0.009..0.01).contains(&low), "{low}");
}

/// Floyd, Gummadi, Shenker 2001, section 4: under long-lived traffic of more or fewer flows the average settles in the
/// target range, min_th + (0.4 to 0.6) (max_th - min_th). 12 Mbit/s and 50 ms, Reno. The mean over 60 s has to be
/// there.
#[test]
fn ared_brings_the_average_into_its_range() {
    let reno = Flow { sender: Sender::Reno, ecn: Ecn::NotEct };
    for flows in [10, 30] {
        let mut red = Red::new(
            &Queue::Red {
                min_th_bytes: 15_000,
                max_th_bytes: 45_000,
                max_p: 0.1,
                weight: 0.002,
                average_packet_bytes: 1500,
                gentle: true,
                ecn: false,
                adaptive: true,
            },
            Buffer::Unlimited,
            1,
            "link/queue",
        );
        let (rtt, mut averages) = (Duration::from_millis(50), Vec::new());
        closed_loop(&mut red, Duration::from_millis(1), rtt, &vec![reno; flows], ms(100_000), |red, now| {
            if now >= ms(40_000) {
                averages.push(red.average);
            }
        });
        let average = mean(averages.into_iter());
        assert!((27_000.0..33_000.0).contains(&average), "{flows} flows: {average}");
    }
}

/// ARED's learned values, the average and waiting packets stay when other parameters change; a new max_p is taken.
#[test]
fn new_parameters_keep_what_was_learned() {
    let mut red = Red::new(&spec(0.0, true, false, true), Buffer::Unlimited, 7, "link/queue");
    (red.law.max_p, red.average) = (0.3, 12_345.0);
    assert!(red.configure(&spec(0.5, true, true, true), Buffer::Bytes(5)));
    assert_eq!((red.law.max_p, red.average), (0.3, 12_345.0));
    assert!(red.configure(&spec(0.5, true, true, false), Buffer::Bytes(5)));
    assert_eq!(red.law.max_p, MAX_P);
    assert!(!red.configure(&Queue::DropTail { ce_threshold: None }, Buffer::Unlimited));
}
