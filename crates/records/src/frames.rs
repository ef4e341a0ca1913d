//! `capture.pcapng`: packets as they came to each link, and as they left it, with their fates as comments.

mod live;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use capture::writer::{Packet, Writer};
use link::{Ecn, Fate, Passage};
use plan::Plan;
use units::Duration;

use self::live::Live;

/// The name of the file in a run's directory.
pub const FILE: &str = "capture.pcapng";
/// Bytes that are kept of each packet: its headers.
pub const SNAPLEN: usize = 128;
/// Bytes that change hands at once.
const CHUNK: usize = 256 << 10;
const ETHERNET: usize = 14;

/// Packets in the order in which links were done with them.
struct Chunk {
    blocks: Vec<u8>,
    /// Place of each packet, and the end of its block.
    ends: Vec<(Place, usize)>,
}

/// Where a packet belongs: its time, and its rank among those of the same time. What leaves a link comes first, as it may
/// cause what comes to another; packets that come at once do so in the order of their numbers, whichever is dropped first.
type Place = (i64, u64);
/// The rank of a packet that comes to a link, beside its number.
const COMES: u64 = 1 << 63;

/// Writes the packets of a run, or of some links of a lab. A thread of the lowest priority takes them to the disk; they are
/// sorted by time at the end, as links are done with them long after they came.
///
/// [`Frames::live`] writes them into a pipe instead, unsorted, while they come.
///
/// Times are those of the run: its origin is 1970 in the file, unless [`Frames::set_origin`] says when it was.
pub struct Frames {
    path: PathBuf,
    writer: Writer<Vec<u8>>,
    ends: Vec<(Place, usize)>,
    /// The first of a link's two interfaces, by index of the link.
    interfaces: Vec<Option<u32>>,
    chunks: Option<SyncSender<Chunk>>,
    thread: Option<JoinHandle<Result<Spool>>>,
    failure: Arc<Mutex<Option<String>>>,
    comment: String,
    /// Bytes that are kept of each packet.
    snaplen: usize,
    /// Nanoseconds from 1970 to the origin of the packets' times.
    origin_ns: i64,
    left: Vec<u8>,
    /// Where packets go at once, instead of to the disk.
    live: Option<Live>,
}

impl Frames {
    /// Begin the file in `directory`, with two interfaces for each link that can do something to a packet. While `waiting`
    /// chunks of 256 KiB wait to be written, [`Frames::passed`] waits, too.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn create(plan: &Plan, directory: &Path, waiting: usize) -> Result<Frames> {
        let opaque: Vec<bool> = plan.transparent_links().into_iter().map(|transparent| !transparent).collect();
        Frames::of(plan, &opaque, SNAPLEN, directory, waiting)
    }

    /// The same of the links that are `wanted`, by index, with so many bytes of each packet.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn of(plan: &Plan, wanted: &[bool], snaplen: usize, directory: &Path, waiting: usize) -> Result<Frames> {
        let mut frames = Frames::without_outlet(plan, wanted, snaplen, directory)?;
        let mut spool = Spool::create(&frames.path)?;
        spool.head = std::mem::take(frames.writer.get_mut());
        let (chunks, taken) = sync_channel(waiting);
        let failure = frames.failure.clone();
        let thread = std::thread::Builder::new().name("db-capture".into()).spawn(move || {
            let taken = spool.take(&taken);
            if let Err(error) = &taken {
                *failure.lock().expect("no writer panics with the lock held") = Some(format!("{error:#}"));
            }
            taken
        })?;
        Ok(Frames { chunks: Some(chunks), thread: Some(thread), ..frames })
    }

    /// The same into the pipe that `directory` has for the file, whose other end is open: in the order in which links are done with
    /// packets. Packets for which the pipe has no room are left out, and [`Frames::passed`] never waits.
    ///
    /// # Errors
    /// The pipe cannot be opened.
    pub fn live(plan: &Plan, wanted: &[bool], snaplen: usize, directory: &Path) -> Result<Frames> {
        let mut frames = Frames::without_outlet(plan, wanted, snaplen, directory)?;
        let head = std::mem::take(frames.writer.get_mut());
        Ok(Frames { live: Some(Live::create(&frames.path, head)?), ..frames })
    }

    /// A file of which the head is in memory, and nothing takes it further.
    fn without_outlet(plan: &Plan, wanted: &[bool], snaplen: usize, directory: &Path) -> Result<Frames> {
        let path = directory.join(FILE);
        let mut writer = Writer::new(Vec::new(), "dumbbell")?;
        let mut interface = |link: &plan::Link| -> Result<u32> {
            let first = writer.interface(&format!("{}:in", link.name), snaplen as u32)?;
            writer.interface(&format!("{}:out", link.name), snaplen as u32)?;
            Ok(first)
        };
        let links = plan.links.iter().zip(wanted);
        let interfaces = links.map(|(link, wanted)| wanted.then(|| interface(link)).transpose());
        let interfaces = interfaces.collect::<Result<Vec<_>>>()?;
        let (ends, comment, left) = (Vec::new(), String::new(), Vec::new());
        Ok(Frames {
            path,
            writer,
            ends,
            interfaces,
            chunks: None,
            thread: None,
            failure: Arc::new(Mutex::new(None)),
            comment,
            snaplen,
            origin_ns: 0,
            left,
            live: None,
        })
    }

    /// From now on packets' times count from so many nanoseconds after 1970.
    pub fn set_origin(&mut self, origin_ns: i64) {
        self.origin_ns = origin_ns;
    }

    /// From now on packets' times count from so much later.
    pub fn shift(&mut self, by: Duration) {
        self.origin_ns += by.as_nanos();
    }

    /// A link is done with a packet, or has it inside when all is over. `frame` begins with its headers as it came, `note`
    /// is more to say of it.
    pub fn passed(&mut self, link: u16, passage: &Passage, frame: &[u8], note: &str) {
        let Some(Some(first)) = self.interfaces.get(usize::from(link)).copied() else { return };
        let bytes = &frame[..frame.len().min(self.snaplen)];
        let Passage { packet, fate, queue_packets, queue_bytes, .. } = *passage;
        let mut comment = std::mem::take(&mut self.comment);
        comment.clear();
        write!(comment, "packet {}: {}; {queue_packets} packets, {queue_bytes} bytes waited", packet.id, fate.name())
            .expect("text grows");
        if passage.duplicate {
            comment.push_str("; a copy that the link made");
        }
        if !note.is_empty() {
            comment.push_str("; ");
            comment.push_str(note);
        }
        let place = (passage.arrival.as_nanos().max(0), COMES | packet.id);
        self.push(first, place, packet.size, bytes, &comment);
        if let Some(delivery) = passage.delivery.filter(|_| fate == Fate::Delivered) {
            comment.clear();
            write!(comment, "packet {}", packet.id).expect("text grows");
            for (is_so, word) in [
                (passage.mark.is_some(), "; marked here"),
                (passage.corruption.is_some(), "; a bit was flipped here"),
                (passage.reordered.is_some(), "; it overtook another here"),
            ] {
                if is_so {
                    comment.push_str(word);
                }
            }
            let mut left = std::mem::take(&mut self.left);
            left.clear();
            left.extend_from_slice(bytes);
            if passage.mark.is_some() {
                set_ecn(&mut left, packet.ecn);
            }
            self.push(first + 1, (delivery.as_nanos().max(0), 0), packet.size, &left, &comment);
            self.left = left;
        }
        self.comment = comment;
    }

    fn push(&mut self, interface: u32, place: Place, length: u32, bytes: &[u8], comment: &str) {
        let outgoing = Some(place.1 == 0);
        let packet = Packet { interface, time_ns: place.0 + self.origin_ns, length, bytes, outgoing, comment };
        self.writer.packet(&packet).expect("memory takes it");
        if let Some(live) = &mut self.live {
            live.push(&mut self.writer, packet.time_ns);
            return;
        }
        let end = self.writer.get_mut().len();
        self.ends.push(((place.0 + self.origin_ns, place.1), end));
        if end >= CHUNK {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let chunk = Chunk { blocks: std::mem::take(self.writer.get_mut()), ends: std::mem::take(&mut self.ends) };
        // A send fails only if the thread has ended with an error, which `finish` reports.
        let _ = self.chunks.as_ref().expect("open until finish").send(chunk);
    }

    /// Why nothing is written any more, if so: what comes is lost, and [`Frames::finish`] will fail.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().expect("no writer panics with the lock held").clone()
    }

    /// Sort all packets by time, and write the file. Returns their number; one that has come and left counts twice.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<u64> {
        if let Some(live) = self.live.take() {
            return live.finish(std::mem::take(self.writer.get_mut()));
        }
        self.hand_over();
        self.chunks = None;
        let thread = self.thread.take().expect("finish is called once");
        let spool = thread.join().map_err(|_| anyhow!("the thread that writes {FILE} panicked"))?;
        spool.and_then(Spool::sort).with_context(|| format!("writing {}", self.path.display()))
    }
}

/// Packets on the disk, unsorted.
struct Spool {
    sorted: File,
    /// Has no name: nothing is left of it, whatever ends this process.
    file: File,
    head: Vec<u8>,
    /// Place of each packet, where its block begins, and how long it is.
    packets: Vec<(Place, u64, u32)>,
}

impl Spool {
    fn create(path: &Path) -> Result<Spool> {
        let unsorted = path.with_extension("unsorted");
        let open = File::options().read(true).write(true).create(true).truncate(true).open(&unsorted);
        let file = open.with_context(|| format!("creating {}", unsorted.display()))?;
        std::fs::remove_file(&unsorted).with_context(|| format!("removing {}", unsorted.display()))?;
        // Whoever reads the capture of a lab has it open, too, and removes its name.
        let sorted = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Spool { sorted, file, head: Vec::new(), packets: Vec::new() })
    }

    fn take(mut self, chunks: &Receiver<Chunk>) -> Result<Spool> {
        // Records are less urgent than packets, whatever priority the creating thread has.
        // SAFETY: plain system calls on the calling thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, 19) };
        let mut at = 0;
        for Chunk { blocks, ends } in chunks {
            self.file.write_all(&blocks)?;
            let mut from = 0;
            for (place, end) in ends {
                self.packets.push((place, at + from as u64, (end - from) as u32));
                from = end;
            }
            at += blocks.len() as u64;
        }
        Ok(self)
    }

    fn sort(mut self) -> Result<u64> {
        self.packets.sort_unstable();
        let mut sorted = std::io::BufWriter::with_capacity(CHUNK, self.sorted);
        sorted.write_all(&self.head)?;
        let mut block = Vec::new();
        for &(_, start, length) in &self.packets {
            block.resize(length as usize, 0);
            self.file.read_exact_at(&mut block, start)?;
            sorted.write_all(&block)?;
        }
        sorted.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        Ok(self.packets.len() as u64)
    }
}

/// Set the codepoint of a frame's IP header.
fn set_ecn(frame: &mut [u8], ecn: Ecn) {
    const TO_IPV6: usize = 4;
    let Some(ip) = frame.get_mut(ETHERNET..).filter(|ip| ip.len() >= 20) else { return };
    if ip[0] >> 4 == 6 {
        ip[1] = (ip[1] & !(3 << TO_IPV6)) | ((ecn as u8) << TO_IPV6);
        return;
    }
    let before = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] = (ip[1] & !3) | ecn as u8;
    let after = u16::from_be_bytes([ip[0], ip[1]]);
    // RFC 1624: the checksum of a header of which one word is another.
    let checksum = u16::from_be_bytes([ip[10], ip[11]]);
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
