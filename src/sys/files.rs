//! stub
use std::path::{Path, PathBuf};
/// x
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    doing: &'static str,
    source: std::io::Error,
}
impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {} {}: {}", self.doing, self.path.display(), self.source)
    }
}
/// x
pub fn make_dirs_like(p: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(p).map_err(|source| FileError { path: p.into(), doing: "create", source })
}
/// x
pub fn names_below(p: &Path, depth: usize) -> Result<Vec<String>, FileError> {
    let _ = (p, depth);
    Ok(vec![])
}
/// x
pub fn read_bounded(p: &Path, max: usize) -> Result<Option<Vec<u8>>, FileError> {
    let _ = max;
    Ok(std::fs::read(p).ok())
}
