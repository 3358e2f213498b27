//! The only door to digests: short names of exact states, never a matter of security.

/// The first 12 hexadecimal digits of a SHA-1 of `data`; `None` when it could not be computed, which
/// only crafted data can bring about.
#[must_use]
pub fn short(data: &[u8]) -> Option<String> {
    let hash = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, data).ok()?;
    Some(hash.to_hex_with_len(12).to_string())
}
