//! Device features through the ethtool ioctl: the one call that changes many features at once.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use anyhow::Result;

use messages::Failure;

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
const ETH_GSTRING_LEN: usize = 32;
/// SFEATURES: the device was asked for a change that it did not make.
const ETHTOOL_F_WISH: i32 = 2;

/// The kernel's feature names; a feature is a position in this list.
#[derive(Clone, Debug)]
pub struct Features {
    names: Vec<String>,
}

impl Features {
    /// Asks the kernel for the names. `socket` may be of any kind; its namespace is the one that is read.
    pub fn query(socket: &impl AsFd) -> Result<Features> {
        // struct ethtool_sset_info: cmd, reserved, u64 mask, one u32 per set in the mask.
        let mut set = [ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
        ioctl(socket, "lo", &mut set).map_err(|why| failed("counting the device features of lo", why))?;
        let count = set[4] as usize;
        // struct ethtool_gstrings: cmd, set, length, names of 32 bytes.
        let mut strings = vec![0u32; 3 + count * ETH_GSTRING_LEN / 4];
        strings[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count as u32]);
        ioctl(socket, "lo", &mut strings).map_err(|why| failed("naming the device features of lo", why))?;
        let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let name = |raw: &[u8]| String::from_utf8_lossy(raw).trim_end_matches('\0').to_owned();
        Ok(Features { names: bytes.chunks(ETH_GSTRING_LEN).map(name).collect() })
    }

    /// Switches every offload of the interface off.
    pub fn switch_offloads_off(&self, socket: &impl AsFd, interface: &str) -> Result<()> {
        // struct ethtool_sfeatures: cmd, blocks, (valid, requested) per block of 32 features.
        let mut request = vec![ETHTOOL_SFEATURES, self.names.len().div_ceil(32) as u32];
        request.resize(2 + 2 * self.names.len().div_ceil(32), 0);
        for (position, _) in self.offloads() {
            request[2 + 2 * (position / 32)] |= 1 << (position % 32);
        }
        let what = || format!("switching the offloads of {interface} off");
        let answer = ioctl(socket, interface, &mut request).map_err(|why| failed(&what(), why))?;
        if answer & ETHTOOL_F_WISH != 0 {
            return Err(Failure::new(what(), "the device keeps some of them on")
                .hint(format!(
                    "`ethtool -k {interface}` inside the lab shows which; a run with offloads on is possible"
                ))
                .into());
        }
        Ok(())
    }

    /// The offloads of the interface that are on.
    pub fn read_offloads(&self, socket: &impl AsFd, interface: &str) -> Result<BTreeMap<String, bool>> {
        // struct ethtool_gfeatures: cmd, blocks, (available, requested, active, never_changed) per block.
        let mut answer = vec![ETHTOOL_GFEATURES, self.names.len().div_ceil(32) as u32];
        answer.resize(2 + 4 * self.names.len().div_ceil(32), 0);
        ioctl(socket, interface, &mut answer)
            .map_err(|why| failed(&format!("reading the offloads of {interface}"), why))?;
        let bit = |word: usize, position: usize| answer[2 + 4 * (position / 32) + word] >> (position % 32) & 1 == 1;
        Ok(self
            .offloads()
            .filter(|&(position, _)| bit(0, position) || bit(2, position))
            .map(|(position, name)| (name.to_owned(), bit(2, position)))
            .collect())
    }

    fn offloads(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().map(String::as_str).enumerate().filter(|(_, name)| is_offload(name))
    }
}

/// Features that let a frame differ from what a wire would carry: larger than the MTU, or without its checksum.
/// Features match by pattern, because kernels keep adding names (`tx-tcp-accecn-segmentation`).
fn is_offload(name: &str) -> bool {
    const STARTS: [&str; 6] = ["tx-checksum-", "tx-scatter-gather", "tx-gso-", "rx-gro", "rx-udp-gro", "rx-lro"];
    name.ends_with("-segmentation") || STARTS.iter().any(|start| name.starts_with(start))
}

fn failed(what: &str, why: io::Error) -> Failure {
    Failure::new(what, why)
}

/// `data` starts with the ethtool command, and the kernel's answer replaces it.
fn ioctl(socket: &impl AsFd, interface: &str, data: &mut [u32]) -> io::Result<i32> {
    // SAFETY: ifreq is plain data, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (slot, byte) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *slot = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_data = data.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes `data` within the lengths that the callers put into its head.
    let answer = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), SIOCETHTOOL, &mut request) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
