//! The only door that adds objects to a repository: loose, and not compressed.
//!
//! What is written for a lock is three objects of a few hundred bytes. A compressor has to clear a
//! quarter of a megabyte for each of them, which takes longer than all the rest of the writing; git
//! compresses them when it packs them.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use gix::ObjectId;
use gix::objs::{Kind, WriteTo, compute_hash, encode};

/// What git itself calls what it has not finished: its garbage collection removes them.
const TEMPORARY_PREFIX: &str = "tmp_obj_";
/// What the length field of a stored block can hold.
const LONGEST_BLOCK: usize = 0xffff;

/// Writes an object; a reader finds all of it or nothing.
///
/// # Errors
/// The object makes no sense, or its file cannot be written.
pub fn write(repo: &gix::Repository, object: &dyn WriteTo) -> io::Result<ObjectId> {
    let mut content = Vec::new();
    object.write_to(&mut content)?;
    write_content(repo, object.kind(), &content)
}

/// Writes an object of this content, as [`write`] does.
///
/// # Errors
/// Its file cannot be written.
pub fn write_content(repo: &gix::Repository, kind: Kind, content: &[u8]) -> io::Result<ObjectId> {
    let id = compute_hash(repo.object_hash(), kind, content).map_err(io::Error::other)?;
    let length = u64::try_from(content.len()).map_err(io::Error::other)?;
    let mut data = encode::loose_header(kind, length).to_vec();
    data.extend_from_slice(content);
    publish(repo.objects.store_ref().path(), &id.to_string(), &stored(&data))?;
    Ok(id)
}

fn publish(objects: &Path, id: &str, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = id.split_at(2);
    let folder = objects.join(folder);
    // Beside its place, as git does it: a file system moves it within one folder faster than between two.
    let temporary = || {
        tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .permissions(Permissions::from_mode(0o444))
            .tempfile_in(&folder)
    };
    let mut temporary = match temporary() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(&folder)?;
            temporary()?
        }
        created => created?,
    };
    temporary.write_all(bytes)?;
    temporary.persist(folder.join(name))?;
    Ok(())
}

/// The data as a zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.chunks(LONGEST_BLOCK);
    let last = blocks.len().saturating_sub(1);
    for (number, block) in blocks.enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(number == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend_from_slice(block);
    }
    stream.extend(adler2::adler32_slice(data).to_be_bytes());
    stream
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn git_reads_what_is_written() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().unwrap();
            let git = |args: &[&str]| {
                let output = Command::new("git").current_dir(folder.path()).args(args).output().unwrap();
                assert!(output.status.success(), "{args:?}: {output:?}");
                output.stdout
            };
            git(&["init", "-q", &format!("--object-format={format}")]);
            let repo = gix::open(folder.path()).unwrap();
            for length in [0, 1, 300, LONGEST_BLOCK - 11, LONGEST_BLOCK, 3 * LONGEST_BLOCK + 7] {
                let content: Vec<u8> = (0..length).map(|at| (at * at % 251) as u8).collect();
                let id = write_content(&repo, Kind::Blob, &content).unwrap();
                // A second time changes nothing.
                assert_eq!(write_content(&repo, Kind::Blob, &content).unwrap(), id);
                assert!(git(&["cat-file", "blob", &id.to_string()]) == content, "{format} {length}");
                assert!(repo.find_object(id).unwrap().data == content, "{format} {length}");
            }
            git(&["fsck", "--strict"]);
            git(&["gc", "-q", "--prune=now"]);
            let left = std::fs::read_dir(folder.path().join(".git/objects")).unwrap();
            let left =
                left.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("tmp"));
            assert_eq!(left.count(), 0);
        }
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the folder of the object would have to be.
        std::fs::write(folder.path().join("ab"), "").unwrap();
        assert!(publish(folder.path(), "abcdef", b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
