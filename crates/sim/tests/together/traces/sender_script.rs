use std::fmt::Write;

use cc::CaState;
use sim::tcp::{Sender, Settings};
use sim::{Flags, Segment};
use units::{Duration, Time};

const MSS: u64 = 1448;

/// Run a script against a sender with an established connection. Packets are numbered from 1; a line is one of
///
/// ```text
/// write 20                    the application writes 20 packets' worth
/// write 100 bytes             ... or so many bytes
/// close                       it has no more to say
/// +40 ack 10                  40 ms pass, then packets up to 10 are acknowledged
/// ack 10 sack 12-13 15        with SACK blocks
/// ack 10 dsack 3 ece          with a D-SACK, with ECN echo
/// ack 10 echo 1               echoing the timestamp of packet 1's first transmission (default: the newest of all acknowledged)
/// ack 10 window 3             with room for 3 packets
/// > 11-14 r3                  sent since the last such line: 11 to 14, and 3 again; `>` alone: nothing
/// = cwnd 10 ssthresh 7 state recovery in-flight 8 lost 1 sacked 2
/// = pushed 3                  so many segments had PSH
/// = sampled 8                 packets in flight when what the latest ACK's rate sample belongs to was sent
/// +200                        200 ms pass
/// ```
pub fn run(settings: Settings, cc: &str, rtt_ms: i64, script: &str) -> Sender {
    let mut run = Run::new(settings, cc, rtt_ms);
    for (number, line) in script.lines().enumerate() {
        let text = line.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            run.line(text).unwrap_or_else(|why| panic!("line {number}: {text}\n  {why}\n{}", run.log));
        }
    }
    run.sender
}

/// The same for Reno, with settings as they come and an RTT of 40 ms.
pub fn reno(script: &str) {
    run(Settings::default(), "reno", 40, script);
}

struct Run {
    sender: Sender,
    now: Time,
    out: Vec<Segment>,
    /// The first and the last sending of each packet.
    sent: Vec<(u32, u32)>,
    window: u64,
    /// The highest packet that a `>` has seen.
    highest: u64,
    /// Segments with PSH so far.
    pushed: u32,
    /// Value of the latest ACK's rate sample.
    sampled: u32,
    log: String,
}

impl Run {
    fn new(settings: Settings, cc: &str, rtt_ms: i64) -> Run {
        let cc = cc::create(cc).unwrap();
        // Scripts have the times at which timers are due, and write as much as they like.
        let settings = Settings { ticks: false, send_buffer: 1 << 30, ..settings };
        let mut sender = Sender::new(settings, cc, 1, true);
        let mut out = Vec::new();
        let mut now = Time(1_000_000_000);
        sender.connect(now, &mut out);
        now += Duration::from_millis(rtt_ms);
        let flags = Flags { syn: true, ece: true, ..Flags::default() };
        let window = 10_000 * MSS;
        let answer =
            Segment { ack: 1, window: window as u32, ts_val: 1, ts_ecr: out[0].ts_val, flags, ..Segment::default() };
        out.clear();
        sender.on_segment(&Segment { is_reply: true, ..answer }, now, &mut out);
        assert!(sender.is_established());
        out.clear();
        Run { sender, now, out, sent: Vec::new(), window, highest: 0, pushed: 0, sampled: 0, log: String::new() }
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace().peekable();
        if let Some(wait) = words.next_if(|word| word.starts_with('+')) {
            self.wait(wait[1..].parse().map_err(|_| "a time in ms")?);
        }
        let rest: Vec<&str> = words.collect();
        match rest.as_slice() {
            [] => {}
            ["write", packets] => self.write(number(packets)? * MSS),
            ["write", bytes, "bytes"] => self.write(number(bytes)?),
            ["close"] => self.sender.close(self.now, &mut self.out),
            ["ack", to, more @ ..] => self.ack(number(to)?, more)?,
            [">", packets @ ..] => self.expect_sent(&packets.join(" "))?,
            ["=", facts @ ..] => facts.chunks(2).try_for_each(|fact| self.expect(fact[0], fact[1]))?,
            _ => return Err("what is that?".into()),
        }
        self.note(text);
        Ok(())
    }

    fn note(&mut self, text: &str) {
        let sk = self.sender.socket();
        let _ = writeln!(
            self.log,
            "{:9.3} ms  {text:40} cwnd {} ssthresh {} {:?} in flight {} lost {} sacked {}",
            self.now.0 as f64 / 1e6,
            sk.snd_cwnd,
            sk.snd_ssthresh as i32,
            sk.ca_state,
            sk.packets_in_flight(),
            sk.lost_out,
            sk.sacked_out
        );
    }

    fn wait(&mut self, ms: f64) {
        let until = self.now + Duration((ms * 1e6) as i64);
        while self.sender.next_timer() <= until {
            self.now = self.sender.next_timer();
            let before = self.out.len();
            self.sender.on_timer(self.now, &mut self.out);
            self.stamp(before);
        }
        self.now = until;
    }

    fn write(&mut self, bytes: u64) {
        let before = self.out.len();
        self.sender.write(bytes, self.now, &mut self.out);
        self.stamp(before);
    }

    /// Remember when packets were sent.
    fn stamp(&mut self, from: usize) {
        for segment in &self.out[from..] {
            self.pushed += u32::from(segment.flags.psh);
            let packet = ((segment.seq - 1) / MSS) as usize;
            self.sent.resize(self.sent.len().max(packet + 1), (segment.ts_val, segment.ts_val));
            self.sent[packet].1 = segment.ts_val;
        }
    }

    fn ack(&mut self, to: u64, words: &[&str]) -> Result<(), String> {
        let mut segment = Segment { seq: 1, ack: 1 + to * MSS, is_reply: true, ts_val: 1, ..Segment::default() };
        let (mut sacks, mut echo, mut what) = (Vec::new(), None, "");
        for word in words {
            match (*word, what) {
                ("ece", _) => segment.flags.ece = true,
                ("fin", _) => segment.flags.fin = true,
                ("sack" | "dsack" | "echo" | "window", _) => what = word,
                (range, "sack" | "dsack") => sacks.push(block(range)?),
                (packet, "echo") => echo = Some(self.sent[number(packet)? as usize - 1].0),
                (packets, "window") => self.window = number(packets)? * MSS,
                _ => return Err(format!("what is {word}?")),
            }
        }
        segment.window = self.window as u32;
        let newest = sacks.iter().map(|block| (block.1 - 1) / MSS).chain([to]).max().unwrap_or(to);
        let latest = self.sent.iter().take(newest as usize).map(|sent| sent.1).max();
        segment.ts_ecr = echo.or(latest).unwrap_or(0);
        for (at, block) in sacks.iter().enumerate() {
            segment.sack[at] = (block.0 as u32, block.1 as u32);
            segment.sacks += 1;
        }
        let before = self.out.len();
        if let Some(report) = self.sender.on_segment(&segment, self.now, &mut self.out) {
            self.sampled = report.sample.tx_in_flight;
        }
        self.stamp(before);
        Ok(())
    }

    fn expect_sent(&mut self, expected: &str) -> Result<(), String> {
        let mut seen: Vec<(bool, u64)> = Vec::new();
        for segment in self.out.drain(..).filter(|segment| segment.len > 0 || segment.flags.fin) {
            let packet = (segment.seq - 1) / MSS + 1;
            seen.push((packet <= self.highest, packet));
            self.highest = self.highest.max(packet);
        }
        let sent = describe(&seen);
        if sent == expected { Ok(()) } else { Err(format!("sent: {sent}")) }
    }

    fn expect(&self, what: &str, value: &str) -> Result<(), String> {
        let sk = self.sender.socket();
        let count = |count: u32| if count == u32::MAX { "inf".to_owned() } else { count.to_string() };
        let is = match what {
            "cwnd" => count(sk.snd_cwnd),
            "ssthresh" => count(sk.snd_ssthresh),
            "in-flight" => count(sk.packets_in_flight()),
            "lost" => count(sk.lost_out),
            "sacked" => count(sk.sacked_out),
            "retransmitting" => count(sk.retrans_out),
            "delivered" => count(sk.delivered - 1),
            "delivered-ce" => count(sk.delivered_ce),
            "pushed" => self.pushed.to_string(),
            "sampled" => self.sampled.to_string(),
            "undos" => self.sender.counters().undos.to_string(),
            "state" => match sk.ca_state {
                CaState::Open => "open",
                CaState::Disorder => "disorder",
                CaState::Cwr => "cwr",
                CaState::Recovery => "recovery",
                CaState::Loss => "loss",
            }
            .to_owned(),
            _ => return Err(format!("what is {what}?")),
        };
        if is == value { Ok(()) } else { Err(format!("{what} is {is}")) }
    }
}

/// `11-14 r3`.
fn describe(packets: &[(bool, u64)]) -> String {
    let mut runs: Vec<(bool, u64, u64)> = Vec::new();
    for &(again, packet) in packets {
        match runs.last_mut() {
            Some(run) if run.0 == again && run.2 + 1 == packet => run.2 = packet,
            _ => runs.push((again, packet, packet)),
        }
    }
    let text = |&(again, from, to): &(bool, u64, u64)| {
        let mark = if again { "r" } else { "" };
        if from == to { format!("{mark}{from}") } else { format!("{mark}{from}-{to}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

/// `12-13`: from the first byte of packet 12 to behind packet 13.
pub fn block(word: &str) -> Result<(u64, u64), String> {
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    Ok((1 + (number(from)? - 1) * MSS, 1 + number(to)? * MSS))
}
