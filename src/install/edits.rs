//! Edits files that belong to others: whole or not at all, and so that each edit can be undone byte for byte.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{AbsolutePath, Birth, EditedFile, InstallError, Result};
use andon_git::{platform::files, read_plain, temporary_beside};

/// Files longer than this are not edited.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// The kind of a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// It is read, and gets mode 0644.
    Text,
    /// It is started, and gets mode 0755.
    Program,
    /// git starts it, so that it has mode 0755 whatever was there.
    Hook,
}

impl FileKind {
    /// The permissions of a new file, as far as the umask lets.
    pub(super) fn fresh(self) -> Option<Permissions> {
        files::permissions(if self == Self::Text { 0o644 } else { 0o755 })
    }

    /// The permissions of the file that was at `path`, which it keeps.
    pub(super) fn kept(self, path: &Path) -> Option<Permissions> {
        fs::metadata(path).ok().filter(|_| self != Self::Hook).map(|facts| facts.permissions())
    }
}

/// A file as it is and as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// Its bytes now; `None` when it is not there.
    pub before: Option<Vec<u8>>,
    /// The bytes that the file has after the edit.
    pub after: Vec<u8>,
    pub inserted: Vec<String>,
    pub made: FileKind,
}

impl Edit {
    /// A file in the place of another, known by more than the lines that were put in.
    pub fn whole(path: PathBuf, before: Option<Vec<u8>>, after: Vec<u8>, made: FileKind) -> Self {
        Self { path, before, after, inserted: Vec::new(), made }
    }

    /// True if lines are put into a file of others.
    pub fn is_insertion(&self) -> bool {
        self.before.is_some() && !self.inserted.is_empty()
    }

    /// True if nothing has to be written.
    pub fn is_there(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }

    /// The entry of the manifest. `earlier` is the one from before: a file that was made by Andon stays so.
    pub fn entry(&self, earlier: Option<&EditedFile>) -> EditedFile {
        let birth = match (earlier, &self.before) {
            (Some(earlier), Some(_)) => earlier.birth,
            (_, None) => Birth::Made,
            (None, Some(_)) => Birth::There,
        };
        EditedFile { path: AbsolutePath(self.path.clone()), birth, inserted: self.inserted.clone() }
    }
}

/// The bytes of a file of others below `top`. A link, or what lies outside, is not touched.
pub fn read(top: &Path, path: &Path) -> Result<Option<Vec<u8>>> {
    let odd = |why| InstallError::LeftAlone { path: path.to_owned(), why };
    match fs::symlink_metadata(path) {
        Ok(facts) if !facts.is_file() => return Err(odd("it is not a plain file")),
        Ok(facts) if facts.len() > MAX_BYTES => return Err(odd("it is longer than 1 MiB")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            inside(top, path)?;
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(odd("what should be its folder is a file"));
        }
        Err(error) => return Err(InstallError::io("read", path, error)),
    }
    inside(top, path)?;
    read_plain(path, MAX_BYTES).map_err(|error| InstallError::io("read", path, error))
}

/// Fails where a link on the way leads out of `top`.
fn inside(top: &Path, path: &Path) -> Result<()> {
    // A folder that is not there yet will be made in the last one that is.
    let there = |path: &Path| {
        let found = path.ancestors().find(|folder| folder.symlink_metadata().is_ok()).map(Path::to_owned);
        let found = found.unwrap_or_else(|| path.to_owned());
        found.canonicalize().map_err(|error| InstallError::io("edit", path, error))
    };
    if there(path.parent().unwrap_or(top))?.starts_with(there(top)?) {
        return Ok(());
    }
    Err(InstallError::LeftAlone { path: path.to_owned(), why: "a link leads out of the repository" })
}

/// A temporary file beside `path` with these bytes, which a rename puts in its place. It has the permissions `kept`, or `fresh` ones.
pub(super) fn staged(
    path: &Path,
    bytes: &[u8],
    fresh: Option<Permissions>,
    kept: Option<Permissions>,
) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = temporary_beside(folder, kept.clone().or(fresh))?;
    file.write_all(bytes)?;
    // Not only at its making: the umask has had its say there.
    kept.map_or(Ok(()), |kept| file.as_file().set_permissions(kept))?;
    Ok(file)
}

/// Begins the lines that are ours, behind any indentation.
pub const BEGIN: &str = "# >>> andon (andon uninstall takes these lines out)";
/// The line that ends them.
pub const END: &str = "# <<< andon";
/// The text by which a first line is known, should its wording change.
pub const MARK: &[u8] = b"# >>> andon";

/// Lines between the marks, each indented by `indent` spaces.
pub fn marked(indent: usize, lines: &str) -> String {
    let pad = " ".repeat(indent);
    let body: String = lines
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{pad}{line}\n") })
        .collect();
    format!("{pad}{BEGIN}\n{body}{pad}{END}\n")
}

/// `text` without the inserted lines: `known` byte for byte, then everything between marks.
pub fn strip(text: &[u8], known: &[String]) -> Vec<u8> {
    let mut rest = text.to_vec();
    for inserted in known.iter().filter(|inserted| !inserted.is_empty()) {
        if let Some(at) = find(&rest, inserted.as_bytes()) {
            rest.drain(at..at + inserted.len());
        }
    }
    strip_marked(&rest)
}

fn strip_marked(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut waiting: Vec<u8> = Vec::new();
    let mut inside = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let words = line.trim_ascii();
        if inside {
            waiting.extend_from_slice(line);
            if words == END.as_bytes() {
                inside = false;
                waiting.clear();
            }
        } else if words.starts_with(MARK) {
            inside = true;
            waiting.extend_from_slice(line);
        } else {
            kept.extend_from_slice(line);
        }
    }
    // A mark without its end is not ours to judge.
    kept.extend_from_slice(&waiting);
    kept
}

/// Position of `part` in `text`.
pub fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// `text` with `block` at `at`, behind a line end that is added where there is none. Returns what was put in, too.
pub fn insert(text: &[u8], at: usize, block: &str) -> (Vec<u8>, String) {
    let (before, after) = text.split_at(at);
    let opened = !before.is_empty() && !before.ends_with(b"\n");
    let crlf = find(text, b"\r\n").is_some();
    let mut inserted = if opened { format!("\n{block}") } else { block.to_owned() };
    if crlf {
        inserted = inserted.replace('\n', "\r\n");
    }
    ([before, inserted.as_bytes(), after].concat(), inserted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_byte_for_byte() {
        let block = marked(2, "one\n\n  two\n");
        for text in ["", "a\n", "a", "a\n\n\nb", "a\r\nb\r\n", "a\r\nb", "\u{fffd}\n"] {
            for at in [0, text.len()] {
                let (changed, inserted) = insert(text.as_bytes(), at, &block);
                assert!(find(&changed, MARK).is_some());
                assert_eq!(strip(&changed, &[inserted]), text.as_bytes(), "{text:?} at {at}");
            }
            // Without the manifest the marks tell, but for a line end that was missing.
            let (changed, _) = insert(text.as_bytes(), text.len(), &block);
            let stripped = strip(&changed, &[]);
            assert_eq!(stripped.trim_ascii_end(), text.as_bytes().trim_ascii_end(), "{text:?}");
        }
    }

    #[test]
    fn a_mark_without_its_end_stays() {
        let open = format!("a\n{BEGIN}\nb\n");
        assert_eq!(strip(open.as_bytes(), &[]), open.as_bytes());
        let edited = format!("a\n{BEGIN}\nmine\n{END}\nb\n");
        assert_eq!(strip(edited.as_bytes(), &["something else".to_owned()]), b"a\nb\n");
    }
}
