use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use anyhow::{Context, Result, ensure};
use messages::Failure;
use nix::errno::Errno;
use nix::unistd::Pid;

use crate::flows::Flowing;
use crate::request::{Answer, Request};

/// The longest line of a client.
const LONGEST: usize = 64 << 20;
/// The most descriptors beside a request.
const MOST_DESCRIPTORS: usize = 3;

/// The work of a connection.
pub(crate) enum Work {
    /// No request has come yet.
    Nothing,
    /// A program in a node.
    Program(Pid),
    /// A child that answers by itself. The pipe has a stop for it when it is closed.
    Child(Pid, Option<File>),
    /// The link's change is on its way.
    Change,
    /// A capture of links, in this directory.
    Capture(String),
}

/// A connection.
pub(crate) struct Client {
    socket: OwnedFd,
    partial: Vec<u8>,
    /// The descriptors that came with the request.
    pub descriptors: Vec<OwnedFd>,
    pub work: Work,
    /// The node in which its program runs.
    pub node: Option<String>,
    /// The flows that it has asked for, as they go on.
    pub flowing: Option<Flowing>,
    /// True if the client has its last answer, or is gone.
    pub over: bool,
}

impl Client {
    /// Accept a connection. `None` if it is another user's, or already gone.
    pub(crate) fn accept(listener: RawFd) -> Option<Client> {
        // SAFETY: a valid listener; the address is not asked for.
        let fd = unsafe { libc::accept4(listener, std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC) };
        if fd < 0 {
            return None;
        }
        // SAFETY: a new descriptor, which is ours.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let mine = peer(&socket).is_ok_and(|user| user == nix::unistd::geteuid().as_raw());
        let client = Client {
            socket,
            partial: Vec::new(),
            descriptors: Vec::new(),
            work: Work::Nothing,
            node: None,
            flowing: None,
            over: false,
        };
        mine.then_some(client)
    }

    /// The number of its socket.
    pub(crate) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Read what has come: whole requests. Sets `over` if the client is gone.
    pub(crate) fn requests(&mut self) -> Result<Vec<Request>> {
        let mut buffer = [0; 65536];
        let count = match receive(&self.socket, &mut buffer, &mut self.descriptors) {
            Ok(count) => count,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Vec::new()),
            Err(_) => 0,
        };
        if count == 0 {
            self.over = true;
            return Ok(Vec::new());
        }
        self.partial.extend_from_slice(&buffer[..count]);
        ensure!(self.partial.len() <= LONGEST, "a request of more than {LONGEST} bytes");
        let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else { return Ok(Vec::new()) };
        let lines: Vec<u8> = self.partial.drain(..=end).collect();
        let parse = |line: &[u8]| {
            serde_json::from_slice(line).with_context(|| format!("no request: {}", String::from_utf8_lossy(line)))
        };
        lines[..end].split(|&byte| byte == b'\n').map(parse).collect()
    }

    /// Say something. A client that does not read is as good as gone.
    pub(crate) fn tell(&mut self, answer: &Answer) {
        if !send(&self.socket, answer, libc::MSG_DONTWAIT) {
            self.over = true;
        }
    }

    /// Say the last thing.
    pub(crate) fn finish(&mut self, answer: &Answer) {
        self.tell(answer);
        self.over = true;
    }

    pub(crate) fn fail(&mut self, error: &anyhow::Error) {
        self.finish(&Answer::Failed { failure: Failure::of(error) });
    }

    /// The answer of a child of the agent, which may take its time.
    pub(crate) fn answer_at_leisure(&self, answered: Result<Answer>) -> bool {
        let answer = answered.unwrap_or_else(|error| Answer::Failed { failure: Failure::of(&error) });
        send(&self.socket, &answer, 0)
    }
}

/// `true` if all of it was sent.
fn send(socket: &OwnedFd, answer: &Answer, flags: libc::c_int) -> bool {
    let mut line = serde_json::to_vec(answer).expect("an answer is plain data");
    line.push(b'\n');
    let mut rest = &line[..];
    while !rest.is_empty() {
        let flags = flags | libc::MSG_NOSIGNAL;
        // SAFETY: `rest` is valid for its length.
        let sent = unsafe { libc::send(socket.as_raw_fd(), rest.as_ptr().cast(), rest.len(), flags) };
        if sent < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        if sent <= 0 {
            return false;
        }
        rest = &rest[sent as usize..];
    }
    true
}

/// Give a descriptor to the client at the other end of `socket`, beside an empty line.
pub(crate) fn give(socket: RawFd, descriptor: RawFd) -> Result<()> {
    let mut byte = *b"\n";
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // Aligned as control messages must be.
    let mut control = [0_u64; 4];
    // SAFETY: all zero is a valid header; it points to valid memory, which has room for a message of one descriptor.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as usize;
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SCM_RIGHTS;
        (*message).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        libc::CMSG_DATA(message).cast::<RawFd>().write_unaligned(descriptor);
        libc::sendmsg(socket, &raw const header, libc::MSG_NOSIGNAL)
    };
    Errno::result(sent).map(drop).context("giving a descriptor to a client")
}

/// The user at the other end, as this process's user namespace knows it.
fn peer(socket: &OwnedFd) -> Result<u32, Errno> {
    let credentials = nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::PeerCredentials)?;
    Ok(credentials.uid())
}

/// Read once without waiting. Descriptors that came along are added to `descriptors`.
fn receive(socket: &OwnedFd, buffer: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> Result<usize, Errno> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // Aligned as control messages must be.
    let mut control = [0_u64; 8];
    // SAFETY: all zero is a valid header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header points to valid memory of the lengths that it says.
    let count =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) };
    let count = Errno::result(count)? as usize;
    // SAFETY: the kernel has filled in the control messages; each descriptor in them is new and ours.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while let Some(found) = message.as_ref() {
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data: *const RawFd = libc::CMSG_DATA(message).cast();
                let bytes = found.cmsg_len - libc::CMSG_LEN(0) as usize;
                for index in 0..bytes / size_of::<RawFd>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    descriptors.truncate(MOST_DESCRIPTORS);
    Ok(count)
}
