use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

fn names(dir: &Path) -> BTreeSet<String> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn permission_bits(path: &Path) -> u32 {
    mode_of(path).unwrap() & 0o7777
}

#[test]
fn the_first_publication_wins_and_leaves_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(publish_new(dir.path(), "a", b"first").unwrap(), Publication::Published);
    assert_eq!(publish_new(dir.path(), "a", b"second").unwrap(), Publication::AlreadyThere);
    assert_eq!(read_bounded(&dir.path().join("a"), 100).unwrap().unwrap(), b"first");
    assert_eq!(names(dir.path()), BTreeSet::from(["a".to_owned()]));
}

#[test]
fn a_dangling_link_counts_as_there() {
    let dir = tempfile::tempdir().unwrap();
    symlink("nowhere", dir.path().join("a")).unwrap();
    assert_eq!(publish_new(dir.path(), "a", b"x").unwrap(), Publication::AlreadyThere);
    assert!(read_bounded(&dir.path().join("a"), 100).is_err());
}

#[test]
fn of_many_writers_exactly_one_publishes() {
    let dir = tempfile::tempdir().unwrap();
    let winners: Vec<u8> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8_u8)
            .map(|n| {
                let dir = dir.path();
                scope.spawn(move || (n, publish_new(dir, "a", &vec![n; 5000]).unwrap()))
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .filter(|(_, publication)| *publication == Publication::Published)
            .map(|(n, _)| n)
            .collect()
    });
    let &[winner] = winners.as_slice() else { panic!("{winners:?}") };
    assert_eq!(read_bounded(&dir.path().join("a"), 5000).unwrap().unwrap(), vec![winner; 5000]);
}

#[test]
fn the_fallback_by_link_does_not_replace_either() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    std::fs::write(&from, "new").unwrap();
    link_without_replacing(&from, &to).unwrap();
    // A repeated call finds its own success.
    link_without_replacing(&from, &to).unwrap();
    let other = dir.path().join("other");
    std::fs::write(&other, "other").unwrap();
    let error = link_without_replacing(&other, &to).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&to).unwrap(), b"new");
}

#[test]
fn replacing_needs_no_older_file() {
    let dir = tempfile::tempdir().unwrap();
    replace(dir.path(), "a", b"one").unwrap();
    replace(dir.path(), "a", b"two").unwrap();
    assert_eq!(read_bounded(&dir.path().join("a"), 3).unwrap().unwrap(), b"two");
    assert_eq!(names(dir.path()), BTreeSet::from(["a".to_owned()]));
}

#[test]
fn only_absence_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "12345").unwrap();
    assert_eq!(read_bounded(&dir.path().join("missing"), 5).unwrap(), None);
    assert_eq!(read_bounded(&file, 5).unwrap().unwrap(), b"12345");
    let too_long = read_bounded(&file, 4).unwrap_err();
    assert_eq!(too_long.source.kind(), io::ErrorKind::FileTooLarge);
    assert!(read_bounded(dir.path(), 5).is_err(), "a folder");
    assert!(read_bounded(&file.join("below"), 5).is_err(), "below a file");

    // Opening either for reading would block or read for ever.
    let fifo = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(read_bounded(&fifo, 5).is_err(), "a pipe");
    let device = dir.path().join("device");
    symlink("/dev/zero", &device).unwrap();
    assert!(read_bounded(&device, 5).is_err(), "a device");
    // A link to a regular file is how some people keep their configuration.
    let link = dir.path().join("link");
    symlink("file", &link).unwrap();
    assert_eq!(read_bounded(&link, 5).unwrap().unwrap(), b"12345");
}

#[test]
fn an_error_names_the_path_and_the_reason() {
    let missing = Path::new("/nonexistent\u{1b}/a");
    let error = publish_new(missing, "b", b"").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("/nonexistent\\u{1b}/a") && text.contains("No such file or directory"), "{text}");
    assert!(error.is_not_found());
}

#[test]
fn removing_tells_whether_there_was_something() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(remove(&file).unwrap());
    assert!(!remove(&file).unwrap());
    assert!(remove(dir.path()).is_err());
}

#[test]
fn folders_and_files_are_as_open_as_their_model() {
    let dir = tempfile::tempdir().unwrap();
    for (bits, file_bits) in [(0o700, 0o600), (0o755, 0o644), (0o2775, 0o664), (0o2770, 0o660)] {
        let model = dir.path().join(format!("model-{bits:o}"));
        std::fs::create_dir(&model).unwrap();
        std::fs::set_permissions(&model, Permissions::from_mode(bits)).unwrap();
        let made = model.join("made");
        assert!(make_dir_like(&made, &model).unwrap());
        assert!(!make_dir_like(&made, &model).unwrap());
        assert_eq!(permission_bits(&made), bits, "{bits:o}");
        publish_new(&made, "file", b"").unwrap();
        assert_eq!(permission_bits(&made.join("file")), file_bits, "{bits:o}");
        assert!(make_dir_like(&made.join("file"), &model).is_err(), "a file is in the way");
    }
}

#[test]
fn leftovers_are_recognized() {
    let dir = tempfile::tempdir().unwrap();
    let temporary = write_temporary(dir.path(), b"").unwrap();
    assert!(is_temporary(temporary.path().file_name().unwrap()));
    assert!(!is_temporary(OsStr::new("merge.yaml")));
}
