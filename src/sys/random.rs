//! The only door to randomness: the kernel's, without a weaker substitute.

use std::fmt::Write as _;
use std::io;

/// 128 random bits as 32 lower-case hexadecimal digits: lock IDs and reservation IDs.
///
/// # Errors
/// When the kernel gives no random bytes. There is no fallback: an ID that could repeat would let
/// two attempts make the same commit.
pub fn hex128() -> io::Result<String> {
    let mut text = String::with_capacity(32);
    for byte in bytes::<16>()? {
        // Writing into a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// A number in `0..n`, evenly distributed; 0 when `n` is 0. For jitter.
///
/// # Errors
/// As [`hex128`].
pub fn below(n: u64) -> io::Result<u64> {
    if n == 0 {
        return Ok(0);
    }
    // The part of the range that does not divide evenly is drawn again.
    let usable = u64::MAX - u64::MAX % n;
    loop {
        let drawn = u64::from_le_bytes(bytes()?);
        if drawn < usable {
            return Ok(drawn % n);
        }
    }
}

fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut buffer = [0; N];
    getrandom::fill(&mut buffer)?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_have_a_fixed_form_and_do_not_repeat() {
        let ids: HashSet<String> = (0..100).map(|_| hex128().unwrap()).collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            assert_eq!(id.len(), 32, "{id}");
            assert!(id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{id}");
        }
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        assert_eq!(below(0).unwrap(), 0);
        assert_eq!(below(1).unwrap(), 0);
        let drawn: HashSet<u64> = (0..400).map(|_| below(4).unwrap()).collect();
        assert_eq!(drawn, HashSet::from([0, 1, 2, 3]));
    }
}
