//! The last bytes of a file of the client's: a transcript may be a gigabyte long, missing or no file at all.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// How much of a transcript is read.
const TAIL: u64 = 256 << 10;

/// The last bytes of a plain file; nothing where there is none.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    // A named pipe would keep a hook waiting.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut file = OpenOptions::new().read(true).open(path).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The first bytes of a plain file of at most `max`.
pub(super) fn whole(path: &Path, max: u64) -> Option<Vec<u8>> {
    let found = path.metadata().ok().filter(|found| found.is_file() && found.len() <= max)?;
    let mut bytes = Vec::new();
    OpenOptions::new().read(true).open(path).ok()?.take(found.len()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tail_of_a_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        std::fs::write(&path, vec![b'a'; 10]).unwrap();
        assert_eq!(read(&path).unwrap().len(), 10);
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, TAIL);
        assert_eq!((read(dir.path()), read(&dir.path().join("none"))), (None, None));
        assert_eq!(whole(&path, 10), None);
    }
}
