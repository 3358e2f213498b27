//! The map of rooms in `src/lib.rs`, held against the imports: who may use whom, and which doors to the
//! outside world stand where.

use std::path::{Path, PathBuf};

use crate::support;

/// Each room with the rooms that it may use. A room not named here may use everything.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("domain", &[]),
    ("sys", &["domain"]),
    ("store", &["sys", "domain"]),
    ("owner", &["sys", "domain"]),
    ("arbiter", &["sys", "domain"]),
    ("context", &["sys", "domain", "owner", "arbiter"]),
    ("render", &["domain", "context"]),
    ("manual", &["commands", "domain", "render"]),
    ("commands", &["domain", "sys", "store", "owner", "arbiter", "context", "render"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Each file of `src` that is no test: its room, its name for messages, and its text.
fn rooms() -> Vec<(String, String, String)> {
    let top = support::manifest_dir().join("src");
    let mut files = Vec::new();
    sources(&top, &mut files);
    let of_room = files.into_iter().filter_map(|path| {
        let inside = path.strip_prefix(&top).ok()?.to_str()?.to_owned();
        let is_test =
            inside.contains("tests") || inside.contains("in_tmux") || inside.contains("in_namespaces");
        let room = inside.split('/').next()?.trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).ok()?;
        let text = text.split("#[cfg(test)]\nmod").next()?.to_owned();
        (!is_test).then_some((room, inside, text))
    });
    let rooms: Vec<_> = of_room.collect();
    assert!(rooms.len() > 50, "the sources were found");
    rooms
}

#[test]
fn no_room_uses_what_stands_above_it() {
    for (room, file, text) in rooms() {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room) else { continue };
        for (at, _) in text.match_indices("crate::") {
            let used: String = text[at + "crate::".len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            let known = MAY_USE.iter().any(|(name, _)| *name == used) || used == "live";
            assert!(!known || used == room || allowed.contains(&used.as_str()), "{file} uses {used}");
        }
    }
}

#[test]
fn the_outside_world_has_its_doors_in_one_room() {
    for (room, file, text) in rooms() {
        if ["sys", "build"].contains(&room.as_str()) {
            continue;
        }
        for door in [
            "Command::new",
            "std::fs::write",
            "std::fs::rename",
            "thread::sleep",
            "Timestamp::now",
            "rustix::",
        ] {
            assert!(!text.contains(door), "{file} goes through the wall: {door}");
        }
        if room == "domain" {
            for door in ["std::fs", "std::env", "std::io", "Instant::now", "gix::"] {
                assert!(!text.contains(door), "{file} is not pure: {door}");
            }
        }
    }
}

#[test]
fn no_file_is_too_long_to_read_in_one_sitting() {
    for (_, file, text) in rooms() {
        assert!(text.lines().count() <= 420, "{file} has {} lines", text.lines().count());
    }
}
