//! The pipes to a child, none of which may ever block us.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read, write};

const CHUNK: usize = 64 * 1024;

/// One output of a child, as far as it was read.
#[derive(Default)]
pub struct Intake {
    pipe: Option<OwnedFd>,
    limit: usize,
    /// What was kept.
    pub bytes: Vec<u8>,
    /// Whether there was more than the limit.
    pub truncated: bool,
}

impl Intake {
    /// Keeps the first `limit` bytes of a pipe.
    pub fn new(pipe: Option<OwnedFd>, limit: usize) -> Self {
        Self { pipe: non_blocking(pipe), limit, bytes: Vec::new(), truncated: false }
    }

    /// The pipe, while there may be more in it.
    pub fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// Reads one chunk, if there is one; how much it was.
    pub fn read_some(&mut self) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
        let mut chunk = vec![0; CHUNK];
        match read(pipe, &mut chunk) {
            Ok(count @ 1..) => {
                let room = self.limit.saturating_sub(self.bytes.len());
                self.bytes.extend(chunk.iter().take(count.min(room)));
                self.truncated |= count > room;
                count
            }
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Ok(0) | Err(_) => {
                self.pipe = None;
                0
            }
        }
    }

    /// Reads what the pipe holds now and not what helpers may still add to it.
    pub fn take_what_is_there(&mut self) {
        let mut left = self.pipe.as_ref().and_then(|pipe| ioctl_fionread(pipe).ok()).unwrap_or(0);
        while left > 0 {
            match self.read_some() {
                0 => break,
                count => left = left.saturating_sub(count as u64),
            }
        }
    }
}

/// The standard input of a child, as far as it was written.
pub struct Feed {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    written: usize,
}

impl Feed {
    /// Will write `bytes` and then close the pipe.
    pub fn new(pipe: Option<OwnedFd>, bytes: Vec<u8>) -> Self {
        Self { pipe: non_blocking(pipe), bytes, written: 0 }
    }

    /// The pipe, while there is something to write.
    pub fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// Writes as much as fits right now.
    pub fn write_some(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let rest = self.bytes.get(self.written..).unwrap_or_default();
        if !rest.is_empty() {
            match write(pipe, rest) {
                Ok(count) => self.written += count,
                Err(Errno::AGAIN | Errno::INTR) => return,
                // Nobody reads any more: the child's business, its exit code tells.
                Err(_) => self.written = self.bytes.len(),
            }
        }
        if self.written >= self.bytes.len() {
            self.pipe = None;
        }
    }
}

/// A pipe that cannot be made so is not used at all: blocking would break the deadline.
fn non_blocking(pipe: Option<OwnedFd>) -> Option<OwnedFd> {
    pipe.filter(|pipe| ioctl_fionbio(pipe, true).is_ok())
}
