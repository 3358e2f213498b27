//! The only door to the machine's identity: boot id, namespaces, host name, machine id.

use std::fmt::Write as _;
use std::io;

use crate::domain::anchor::{Here, ProcessTable};
use crate::domain::record::plain;
use crate::sys::process;

/// Inode number of the initial PID namespace (`PROC_PID_INIT_INO` of the kernel).
const INITIAL_PID_NAMESPACE: u64 = 4_026_531_836;

/// Longest name of a host.
const MAX_HOSTNAME_BYTES: usize = 255;

/// Makes the derived id useless anywhere else, as `machine-id(5)` asks of applications.
const MACHINE_ID_SALT: &[u8] = b"git-aitask-lock machine id 1\n";

/// The place from which the running command judges.
///
/// `pinned_hostname` is `aitask-lock.hostname`, which stands in for the machine's own name.
#[must_use]
pub fn here(pinned_hostname: Option<&str>) -> Here {
    let table = process_table();
    let initial_pid_namespace =
        table.as_ref().is_some_and(|table| table.pid_namespace == INITIAL_PID_NAMESPACE);
    // In a container the id is the image's, baked into each of its copies on whatever machine: with
    // it, a container on another machine would look like this one before its last restart.
    let machine_id = if initial_pid_namespace { std::fs::read("/etc/machine-id").ok() } else { None };
    Here {
        initial_pid_namespace,
        table,
        hostname: match pinned_hostname {
            Some(pinned) => usable_hostname(pinned),
            None => own_hostname(),
        },
        booted_unix: super::clock::booted_unix(),
        machine_id: machine_id.and_then(|raw| derived_machine_id(&raw)),
    }
}

/// Our process table, or `None` where `/proc` is missing or shows the one of somebody else.
fn process_table() -> Option<ProcessTable> {
    if !process::proc_is_ours() {
        return None;
    }
    Some(ProcessTable {
        boot_id: boot_id(
            std::str::from_utf8(&process::read_proc("/proc/sys/kernel/random/boot_id").ok()?).ok()?,
        )?,
        pid_namespace: namespace("pid").ok()??,
        // A kernel older than time namespaces has one clock for everybody.
        time_namespace: match namespace("time") {
            Ok(inode) => inode?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(_) => return None,
        },
    })
}

fn namespace(kind: &str) -> io::Result<Option<u64>> {
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}"))?;
    Ok(link.to_str().and_then(|text| namespace_inode(text, kind)))
}

/// Reads `pid:[4026531836]`.
fn namespace_inode(link: &str, kind: &str) -> Option<u64> {
    link.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
}

/// A boot id in the one form the kernel prints: a lower-case UUID.
fn boot_id(text: &str) -> Option<String> {
    let id = text.trim_end();
    let well_formed = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
    well_formed.then(|| id.to_owned())
}

fn own_hostname() -> Option<String> {
    usable_hostname(rustix::system::uname().nodename().to_str().ok()?)
}

/// Why a text cannot be the pinned name of this host.
///
/// # Errors
/// What is in the way: it is too long, or a record with it would not be the same to every reader.
pub fn check_hostname(name: &str) -> Result<(), String> {
    if name.len() > MAX_HOSTNAME_BYTES {
        return Err(format!("it is longer than {MAX_HOSTNAME_BYTES} bytes"));
    }
    plain(name).map_err(|why| why.to_string())
}

/// A name that says something, and that a record can hold: `unknown` is what older records hold when there was none, and
/// `(none)` is what the kernel answers before anybody has set one.
fn usable_hostname(name: &str) -> Option<String> {
    let name = name.trim();
    let usable = !matches!(name, "unknown" | "(none)") && check_hostname(name).is_ok();
    usable.then(|| name.to_owned())
}

/// Hashes the content of `/etc/machine-id`, which must not leave the machine as it is.
///
/// `None` for what is no id: empty, `uninitialized` (first boot of an image) or all zero.
fn derived_machine_id(raw: &[u8]) -> Option<String> {
    let id = raw.trim_ascii();
    if id.len() != 32 || !id.iter().all(u8::is_ascii_hexdigit) || id.iter().all(|&digit| digit == b'0') {
        return None;
    }
    let mut data = MACHINE_ID_SALT.to_vec();
    data.extend(id.to_ascii_lowercase());
    let hash = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, &data).ok()?;
    let mut text = String::with_capacity(32);
    for byte in hash.as_bytes().iter().take(16) {
        // Writing into a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

#[cfg(test)]
mod tests;
