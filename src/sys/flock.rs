//! stub
use super::files::FileError;
use std::path::Path;
use std::time::Instant;
/// x
pub struct Flock(std::fs::File);
/// x
pub fn flock_until(p: &Path, deadline: Instant) -> Result<Option<Flock>, FileError> {
    let f = std::fs::File::open(p).unwrap();
    loop {
        if rustix::fs::flock(&f, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(Some(Flock(f)));
        }
        if Instant::now() > deadline {
            return Ok(None);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
