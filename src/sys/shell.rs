//! Paths as arguments of commands that are printed to be copied.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A path as one word of a shell command: plain where it can be, else in quotes, and with escapes
/// (`$'…'`, as bash, zsh and ksh read them) where it holds what must not be printed.
#[must_use]
pub fn quote(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let printable =
        |text: &str| text.chars().all(|c| !c.is_control() && (c.is_ascii() || c.is_alphanumeric()));
    match path.to_str() {
        Some(text) if printable(text) => {
            shlex::try_quote(text).map_or_else(|_| escaped(bytes), std::borrow::Cow::into_owned)
        }
        _ => escaped(bytes),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    for &byte in bytes {
        match byte {
            b'\n' => word.push_str("\\n"),
            b'\'' | b'\\' => word.extend(['\\', char::from(byte)]),
            b' '..=b'~' => word.push(char::from(byte)),
            _ => word.push_str(&format!("\\{byte:03o}")),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_quoted_path_comes_back_out_of_a_shell() {
        for path in ["/a/b", "/a b", "/it's", "/a\nb", "/a'\\\n\u{1b}[2J", "/é", "/\u{202e}x", "/$(x)`y`"] {
            assert_round_trip(path.as_bytes());
        }
        assert_round_trip(b"/\xff\n1");
    }

    fn assert_round_trip(bytes: &[u8]) {
        let word = quote(Path::new(OsStr::from_bytes(bytes)));
        assert!(!word.chars().any(char::is_control), "{word}");
        let script = format!("printf %s {word}");
        let said = std::process::Command::new("bash").args(["-c", &script]).output().unwrap().stdout;
        assert_eq!(said, bytes, "{word}");
    }
}
