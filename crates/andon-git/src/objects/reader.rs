//! A git that reads objects for a range of many commits: among thousands of objects it finds the bases of deltas again, which
//! libgit2 forgets all at once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use andon_core::domain::Oid;

/// A git that reads one object after the other. It ends with its standard input.
pub(crate) struct ObjectReader {
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl ObjectReader {
    /// Starts `git cat-file --batch`, given as a command; `None` where it cannot be started.
    pub(crate) fn start(mut cat_file: Command) -> Option<Self> {
        let mut child = cat_file.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (asks, answers) = (child.stdin.take(), BufReader::new(child.stdout.take()?));
        Some(Self { child, asks, answers })
    }

    /// Asks for objects, which are then read in the same order. Git waits for no answer to be read, so that they have to be few.
    pub(crate) fn ask(&mut self, ids: &[Oid]) -> std::io::Result<()> {
        let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
        self.asks.as_mut().ok_or_else(ended)?.write_all(lines.as_bytes())
    }

    /// The content of the next object that was asked for; `None` where there is none of that kind, or it has more than `max`
    /// bytes. An error says that git ended.
    pub(crate) fn answer(&mut self, kind: &str, max: usize) -> std::io::Result<Option<Vec<u8>>> {
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let mut words = head.split_ascii_whitespace().skip(1);
        let (found, size) = (words.next(), words.next());
        let Some(size) = size.and_then(|size| size.parse::<usize>().ok()) else {
            return if found == Some("missing") { Ok(None) } else { Err(ended()) };
        };
        if size > max {
            let passed = (&mut self.answers).take(size as u64 + 1);
            return std::io::copy(&mut { passed }, &mut std::io::sink()).map(|_| None);
        }
        let mut content = vec![0; size + 1];
        self.answers.read_exact(&mut content)?;
        content.truncate(size);
        Ok((found == Some(kind)).then_some(content))
    }
}

fn ended() -> std::io::Error {
    std::io::ErrorKind::UnexpectedEof.into()
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        self.asks = None;
        let _ended = self.child.wait();
    }
}
