//! The only door that adds objects to a repository: loose, and not compressed.
//!
//! What is written for a lock is three objects of a few hundred bytes. A compressor has to clear a
//! quarter of a megabyte for each of them, which takes longer than all the rest of the writing; git
//! compresses them when it packs them.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::{Kind, WriteTo, compute_hash, encode};

use super::clock;

/// What git itself calls what it has not finished: its garbage collection removes them.
const TEMPORARY_PREFIX: &str = "tmp_obj_";
/// How often an object is written whose folder or temporary file is removed in the middle.
const PRUNED_TRIES: u32 = 20;
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
    let (objects, data) = (repo.objects.store_ref().path(), stored(&data));
    let mut tries = 0;
    loop {
        tries += 1;
        match publish(objects, &id.to_string(), &data) {
            // A clean-up of git's removes empty folders, and files that are not finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < PRUNED_TRIES => {}
            published => return published.map(|()| id),
        }
    }
}

/// Keeps a second name of a new object for ten minutes or more: until a reference is seen to lead to it,
/// `git gc --prune=now` may delete it, and one that began before may do so even later. Tells
/// whether the object is there.
///
/// # Errors
/// The second name cannot be made.
pub fn keep(repo: &gix::Repository, id: ObjectId) -> io::Result<bool> {
    let folder = kept_folder(repo);
    let span = u64::try_from(clock::now().as_second()).unwrap_or(0) / 600;
    let now = folder.join(span.to_string());
    if !now.is_dir() {
        fs::create_dir_all(&now)?;
        let recent = [span.to_string(), span.saturating_sub(1).to_string()];
        for old in fs::read_dir(&folder)?.flatten() {
            if !recent.iter().any(|recent| old.file_name() == recent.as_str()) {
                // Another command may be at it.
                let _gone_already = fs::remove_dir_all(old.path());
            }
        }
    }
    match fs::hard_link(place(repo, id), now.join(id.to_string())) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
        // One that is in a pack was named by a reference before.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(repo.has_object(id)),
        linked => linked.map(|()| true),
    }
}

/// Puts an object that is not there any more back from its second name, if it has one still.
#[must_use]
pub fn bring_back(repo: &gix::Repository, id: ObjectId) -> bool {
    let Ok(spans) = fs::read_dir(kept_folder(repo)) else { return false };
    spans.flatten().any(|span| {
        let place = place(repo, id);
        // The folder of an object goes with the last one in it.
        let _there_already = place.parent().map(fs::create_dir_all);
        match fs::hard_link(span.path().join(id.to_string()), place) {
            Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
            Ok(()) => true,
        }
    })
}

/// Puts back whatever has a second name and is not there any more.
pub fn bring_all_back(repo: &gix::Repository) {
    let Ok(spans) = fs::read_dir(kept_folder(repo)) else { return };
    let files = spans.flatten().filter_map(|span| fs::read_dir(span.path()).ok()).flatten().flatten();
    for file in files {
        let Ok(id) = ObjectId::from_hex(file.file_name().as_encoded_bytes()) else { continue };
        if !place(repo, id).exists() && !repo.has_object(id) {
            let _unless_it_is_gone = bring_back(repo, id);
        }
    }
}

fn kept_folder(repo: &gix::Repository) -> PathBuf {
    repo.common_dir().join("aitask-lock").join("fresh")
}

fn place(repo: &gix::Repository, id: ObjectId) -> PathBuf {
    let name = id.to_string();
    let (folder, name) = name.split_at(2);
    repo.objects.store_ref().path().join(folder).join(name)
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
