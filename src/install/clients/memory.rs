//! The line for the memory file of a client, which tells its model how tests are run here. The marks hold the client's
//! name, for several clients read one file, and all that is needed to take the lines out again byte for byte.

use std::path::PathBuf;

use crate::install::edits::{self, Edit, FileKind};
use crate::install::{InstallError, Result, steps::Step};
use andon_core::domain::Client;

const LINE: &str = "Run the tests with `andon test` before each commit. When a commit is refused, do what its help lines say; when the loop is halted, stop and report.";

/// The memory file of a client in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    pub client: Client,
    /// The top of the working tree.
    pub top: PathBuf,
}

impl MemoryFile {
    /// Absolute, from the table of clients.
    pub fn path(&self) -> PathBuf {
        self.top.join(self.client.spec().memory)
    }

    fn text(&self) -> Result<Option<String>> {
        let path = self.path();
        let Some(bytes) = edits::read(&self.top, &path)? else { return Ok(None) };
        let broken = |_| InstallError::LeftAlone { path, why: "it is not UTF-8" };
        String::from_utf8(bytes).map(Some).map_err(broken)
    }

    /// The change that puts the line in; `None` where it is there.
    ///
    /// # Errors
    /// When the file cannot be read, or is a link.
    pub fn insertion(&self) -> Result<Option<Step>> {
        let now = self.text()?;
        let after = with_line(now.as_deref(), self.client).map(String::into_bytes);
        let whole = |after| Edit::whole(self.path(), now.map(String::into_bytes), after, FileKind::Text);
        Ok(after.map(whole).map(Step::Write))
    }

    /// The change that takes the line out again; `None` where it is not there.
    ///
    /// # Errors
    /// The same.
    pub fn removal(&self) -> Result<Option<Step>> {
        let Some(now) = self.text()? else { return Ok(None) };
        let rest = match without_line(&now, self.client) {
            LineRemoval::None => return Ok(None),
            LineRemoval::File => None,
            LineRemoval::Text(rest) => Some(rest.into_bytes()),
        };
        Ok(Some(Step::Remove { path: self.path(), rest }))
    }
}

fn marks(client: Client) -> (String, String) {
    let name = client.as_str();
    (
        format!("<!-- >>> andon: `andon agent uninstall {name}` takes these lines out -->"),
        format!("<!-- <<< andon: {name} -->"),
    )
}

/// The lines that are put in.
pub fn lines(client: Client) -> String {
    let (begin, end) = marks(client);
    format!("{begin}\n{LINE}\n{end}\n")
}

/// `text` with the line at its end; `None` where it is there. A text without a line end at its end stays one.
fn with_line(text: Option<&str>, client: Client) -> Option<String> {
    let added = lines(client);
    let Some(text) = text else { return Some(added) };
    if text.contains(&marks(client).0) {
        return None;
    }
    let added = if text.is_empty() {
        added.trim_end().to_owned()
    } else if text.ends_with('\n') {
        added
    } else {
        format!("\n{}", added.trim_end())
    };
    let added = if text.contains("\r\n") { added.replace('\n', "\r\n") } else { added };
    Some(format!("{text}{added}"))
}

/// The rest of a file without the line.
#[derive(Debug, PartialEq, Eq)]
enum LineRemoval {
    /// It is not there.
    None,
    /// Nothing: there was no such file.
    File,
    /// The text from before.
    Text(String),
}

fn without_line(text: &str, client: Client) -> LineRemoval {
    let (begin, end) = marks(client);
    let found = text.find(&begin).and_then(|from| {
        let to = from + text[from..].find(&end)? + end.len();
        Some((from, to))
    });
    let Some((mut from, mut to)) = found else { return LineRemoval::None };
    let rest = &text[to..];
    let ended = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    to += ended;
    if ended == 0 {
        let before = &text[..from];
        from = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before).len();
    }
    let left = [&text[..from], &text[to..]].concat();
    if left.is_empty() && ended > 0 { LineRemoval::File } else { LineRemoval::Text(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_byte_for_byte() {
        for text in [
            None,
            Some(""),
            Some("a"),
            Some("a\n"),
            Some("\n"),
            Some("a\r\nb"),
            Some("a\r\nb\r\n"),
            Some("é\n\n"),
        ] {
            let expected = text.map_or(LineRemoval::File, |text| LineRemoval::Text(text.to_owned()));
            let one = with_line(text, Client::Codex).unwrap();
            assert!(one.contains(LINE), "{one}");
            assert_eq!(with_line(Some(&one), Client::Codex), None);
            assert_eq!(without_line(&one, Client::Codex), expected, "{text:?}");
            assert_eq!(without_line(&one, Client::Claude), LineRemoval::None);
            // Two clients in one file, taken out in either order.
            let both = with_line(Some(&one), Client::Opencode).unwrap();
            for [first, second] in [[Client::Codex, Client::Opencode], [Client::Opencode, Client::Codex]] {
                let LineRemoval::Text(left) = without_line(&both, first) else { panic!("{both}") };
                assert_eq!(without_line(&left, second), expected, "{text:?} {first:?}");
            }
        }
    }

    #[test]
    fn what_was_written_around_it_stays() {
        let own = with_line(Some("a\n"), Client::Claude).unwrap();
        assert_eq!(
            without_line(&format!("{own}b\n"), Client::Claude),
            LineRemoval::Text("a\nb\n".to_owned())
        );
        let open = own.replace("<<<", "<<");
        assert_eq!(without_line(&open, Client::Claude), LineRemoval::None);
    }
}
