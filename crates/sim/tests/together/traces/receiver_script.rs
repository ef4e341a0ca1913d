use link::Ecn;
use sim::tcp::{Receiver, Settings};
use sim::{Flags, Segment};
use units::{Duration, Time};

const MSS: u64 = 1448;

/// Run a script against a receiver with an established connection. Packets are numbered from 1; a line is one of
///
/// ```text
/// data 3                      packet 3 arrives
/// +5 data 4-6 ce              5 ms pass, then 4 to 6 arrive, marked Congestion Experienced
/// data 7 psh                  7 arrives, the last of a train
/// data 8 late 20              8 arrives, which was sent 20 ms ago: its timestamp tells
/// last 7                      packet 7 arrives, of 100 bytes, with the FIN
/// > ack 3; ack 3 sack 5-6     what was sent since the last such line
/// > ack 3 dsack 2 ece
/// = window 4000               the latest of what a `>` has yet to see offers so many bytes
/// +40                         40 ms pass
/// ```
pub fn run(cc: Option<&str>, rtt_ms: i64, script: &str) -> Receiver {
    let mut run = Run::new(cc, rtt_ms);
    for (number, line) in script.lines().enumerate() {
        let text = line.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            run.line(text).unwrap_or_else(|why| panic!("line {number}: {text}\n  {why}"));
        }
    }
    run.receiver
}

struct Run {
    receiver: Receiver,
    now: Time,
    out: Vec<Segment>,
}

impl Run {
    fn new(cc: Option<&str>, rtt_ms: i64) -> Run {
        // A window that doesn't grow: growth is acknowledged at once.
        let buffer = 1 << 20;
        let buffers = Settings { receive_buffer: buffer, receive_buffer_max: buffer, ..Settings::default() };
        let settings = Settings { offered_at_first: 161, ticks: false, ..buffers };
        let mut receiver = Receiver::new(settings, cc.map(|cc| cc::create(cc).unwrap()));
        let (mut now, mut out) = (Time(1_000_000_000), Vec::new());
        let flags = Flags { syn: true, ece: true, cwr: true, ..Flags::default() };
        receiver.on_segment(&Segment { flags, ts_val: 1, ..Segment::default() }, Ecn::NotEct, now, &mut out);
        assert!(out[0].flags.syn && out[0].flags.ece);
        now += Duration::from_millis(rtt_ms);
        let ack = Segment { seq: 1, ack: 1, ts_val: 2, ts_ecr: out[0].ts_val, ..Segment::default() };
        receiver.on_segment(&ack, Ecn::NotEct, now, &mut out);
        out.clear();
        Run { receiver, now, out }
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace().peekable();
        if let Some(wait) = words.next_if(|word| word.starts_with('+')) {
            self.wait(wait[1..].parse().map_err(|_| "a time in ms")?);
        }
        let rest: Vec<&str> = words.collect();
        match rest.as_slice() {
            [] => {}
            [">", acks @ ..] => {
                let sent = std::mem::take(&mut self.out).iter().map(describe).collect::<Vec<_>>().join("; ");
                if sent != acks.join(" ") {
                    return Err(format!("sent: {sent}"));
                }
            }
            ["=", "window", bytes] => {
                let window = self.out.last().ok_or("nothing was sent")?.window;
                if u64::from(window) != parse(bytes)? {
                    return Err(format!("window is {window}"));
                }
            }
            [what @ ("data" | "last"), packets, more @ ..] => {
                let (from, to) = packets.split_once('-').unwrap_or((packets, packets));
                let ecn = if more.contains(&"ce") { Ecn::Ce } else { Ecn::Ect0 };
                let (from, to): (u64, u64) = (parse(from)?, parse(to)?);
                let late_ms = more.iter().skip_while(|word| **word != "late").nth(1).map_or(Ok(0), |ms| parse(ms))?;
                for packet in from..=to {
                    let mut segment =
                        Segment { seq: 1 + (packet - 1) * MSS, len: MSS as u32, ack: 1, ..Segment::default() };
                    segment.ts_val = (self.now.0 / 1_000_000) as u32 - late_ms as u32;
                    segment.flags.cwr = more.contains(&"cwr");
                    segment.flags.psh = more.contains(&"psh");
                    if *what == "last" {
                        (segment.len, segment.flags.fin) = (100, true);
                    }
                    self.receiver.on_segment(&segment, ecn, self.now, &mut self.out);
                }
            }
            _ => return Err("what is that?".into()),
        }
        Ok(())
    }

    fn wait(&mut self, ms: f64) {
        let until = self.now + Duration((ms * 1e6) as i64);
        while self.receiver.next_timer() <= until {
            self.now = self.receiver.next_timer();
            self.receiver.on_timer(self.now, &mut self.out);
        }
        self.now = until;
    }
}

fn parse(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

fn describe(segment: &Segment) -> String {
    let packet = |seq: u64| (seq - 1).div_ceil(MSS);
    let mut text = format!("{} {}", if segment.flags.fin { "fin" } else { "ack" }, packet(segment.ack));
    let mut last = "";
    for (begin, end) in segment.sack_blocks() {
        let kind = if begin < segment.ack { "dsack" } else { "sack" };
        if kind != last {
            text += &format!(" {kind}");
            last = kind;
        }
        let (from, to) = (packet(begin) + 1, packet(end));
        text += &if from == to { format!(" {from}") } else { format!(" {from}-{to}") };
    }
    if segment.flags.ece {
        text += " ece";
    }
    text
}
