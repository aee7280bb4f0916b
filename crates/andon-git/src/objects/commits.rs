//! Commits: reading what a record needs, writing entries of our own refs.

use std::rc::Rc;

use crate::objects::commit_text::{CommitText, headers};
use crate::{Repo, Result, error::cut, objects::write_error};
use andon_core::domain::{CommitFact, CommitId, CommitRecord, Timestamp, TreeId, agent};

/// Longest subject that is kept, in characters.
const MAX_SUBJECT: usize = 500;

/// The content of a commit. Bytes that are not UTF-8 are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// The id of the commit.
    pub id: CommitId,
    /// The tree that it records.
    pub tree: TreeId,
    /// Its parents in order.
    pub parents: Vec<CommitId>,
    /// First paragraph of the message in one line (git's `%s`), at most 500 characters; unescaped.
    pub subject: String,
    /// `Key: value` lines of the last paragraph, in order; none when the message is one paragraph.
    pub trailers: Vec<(String, String)>,
    /// Name of the author.
    pub author: String,
    /// Address of the author.
    pub email: String,
    /// Name of the committer.
    pub committer: String,
    /// Address of the committer.
    pub committer_email: String,
    /// The message closes with a line in which an agent names itself.
    pub closes_as_agent: bool,
    /// Author date: earlier than the committer's where the commit was made again.
    pub authored_at: Timestamp,
    /// Committer date.
    pub committed_at: Timestamp,
}

impl CommitInfo {
    /// The commit with its record, as the fold takes it.
    pub fn fact(&self, record: CommitRecord) -> CommitFact {
        let author = format!("{} <{}>", self.author, self.email);
        CommitFact { id: Some(self.id), subject: self.subject.clone(), author, record, named: None }
    }
}

/// A commit to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// The tree that it records.
    pub tree: TreeId,
    /// Its parents in order.
    pub parents: &'a [CommitId],
    /// The message, subject and body, decoded.
    pub message: &'a str,
    /// Author and committer date.
    pub at: Timestamp,
}

impl Repo {
    /// The fact of a recorded commit. One that was rewritten and collected leaves its record.
    pub fn fact(&self, id: CommitId, record: CommitRecord) -> CommitFact {
        if let Ok(commit) = self.commit(id) {
            return commit.fact(record);
        }
        let (subject, author) = (String::new(), String::new());
        CommitFact { id: Some(id), subject, author, record, named: None }
    }

    /// The text of a commit as git itself reads it: libgit2 refuses one whose author or committer has no address.
    pub(crate) fn commit_text(&self, id: CommitId) -> Result<Rc<CommitText>> {
        if let Some(known) = self.commits.borrow().get(id.0) {
            return Ok(known);
        }
        let bytes = self.object(git2::ObjectType::Commit, id.0)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let tree = headers(head, "tree").next().and_then(|tree| tree.parse().ok());
        let tree = tree.ok_or_else(|| self.bad_object("commit", id.0, "it names no tree"))?;
        let mut parents: Vec<CommitId> =
            headers(head, "parent").filter_map(|parent| parent.parse().ok()).collect();
        if self.is_cut_at(id)? {
            parents.clear();
        }
        let message = message.trim_start_matches('\n').to_owned();
        let text = Rc::new(CommitText { tree, parents, head: head.to_owned(), message });
        self.commits.borrow_mut().keep(id.0, text.clone(), bytes.len());
        Ok(text)
    }

    /// Reads a commit.
    pub fn commit(&self, id: CommitId) -> Result<CommitInfo> {
        let text = self.commit_text(id)?;
        let [(author, email, authored_at), (committer, committer_email, committed_at)] =
            ["author", "committer"].map(|role| text.person(role));
        let paragraph = text.message.lines().map(str::trim).take_while(|line| !line.is_empty());
        Ok(CommitInfo {
            id,
            tree: text.tree,
            parents: text.parents.clone(),
            subject: cut(&paragraph.collect::<Vec<_>>().join(" "), MAX_SUBJECT),
            trailers: trailers(text.tail()),
            author: cut(author, MAX_SUBJECT),
            email: cut(email, MAX_SUBJECT),
            committer: cut(committer, MAX_SUBJECT),
            committer_email: cut(committer_email, MAX_SUBJECT),
            closes_as_agent: agent::in_closing_lines(text.tail()),
            authored_at,
            committed_at,
        })
    }

    /// The message of commit `id`: its end, where it is very long.
    pub fn message(&self, id: CommitId) -> Result<String> {
        Ok(self.commit_text(id)?.tail().to_owned())
    }

    /// The tree of commit `id`.
    pub fn tree_of(&self, id: CommitId) -> Result<TreeId> {
        Ok(self.commit_text(id)?.tree)
    }

    /// Writes a commit object; no ref is touched. Author is the configured user, else `andon <andon@localhost>`. The
    /// caller has just read or written the tree and the parents.
    pub fn write_commit(&self, new: &NewCommit<'_>) -> Result<CommitId> {
        self.write_commit_object(&self.commit_object_of(new)?)
    }

    /// Writes a commit object of these bytes; no ref is touched.
    pub fn write_commit_object(&self, raw: &[u8]) -> Result<CommitId> {
        self.write_object("a commit", git2::ObjectType::Commit, raw).map(CommitId)
    }

    /// The bytes of [`Self::write_commit`], to be signed: headers, blank line, message.
    pub fn commit_object_of(&self, new: &NewCommit<'_>) -> Result<Vec<u8>> {
        let who = self.signature(new.at)?;
        let mut raw = format!("tree {}\n", new.tree).into_bytes();
        for parent in new.parents {
            raw.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        for role in ["author ", "committer "] {
            for part in [role.as_bytes(), who.name_bytes(), b" <", who.email_bytes()] {
                raw.extend_from_slice(part);
            }
            raw.extend_from_slice(format!("> {} +0000\n", new.at.0).as_bytes());
        }
        raw.push(b'\n');
        raw.extend_from_slice(new.message.replace('\0', " ").as_bytes());
        Ok(raw)
    }

    /// The configured user at that time, in UTC.
    pub(crate) fn signature(&self, at: Timestamp) -> Result<git2::Signature<'static>> {
        let time = git2::Time::new(at.0, 0);
        let configured = self.config_string("user.name").zip(self.config_string("user.email"));
        configured
            .and_then(|(name, mail)| git2::Signature::new(&name, &mail, &time).ok())
            .map_or_else(|| git2::Signature::new("andon", "andon@localhost", &time), Ok)
            .map_err(|error| write_error("a signature", &error))
    }
}

/// Who else wrote a commit. Where a pull request is squashed, or a message given in several parts, such a line may be in any paragraph.
const AUTHOR: &str = "Co-authored-by";

/// The `Key: value` lines of the last paragraph, indented lines joined to the one they continue, and further authors of the
/// paragraphs before it.
pub fn trailers(message: &str) -> Vec<(String, String)> {
    let Some((before, last)) = message.trim_end().rsplit_once("\n\n") else { return Vec::new() };
    let keyed = before.lines().skip(1).filter_map(|line| line.split_once(':'));
    let authors = keyed.filter(|(key, _)| key.eq_ignore_ascii_case(AUTHOR));
    let mut found: Vec<(String, String)> =
        authors.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect();
    for line in last.lines() {
        let folded = line.starts_with([' ', '\t']);
        match (line.split_once(':'), found.last_mut()) {
            (_, Some((_, value))) if folded => {
                value.push(' ');
                value.push_str(line.trim());
            }
            (Some((key, value)), _) if is_trailer_key(key) => {
                found.push((key.to_owned(), value.trim().to_owned()));
            }
            (None | Some(_), _) => {}
        }
    }
    found
}

/// The values of lines `key: value` anywhere below the subject, also where they are indented or an item of a list; what is
/// indented further continues them.
pub fn keyed_lines(message: &str, key: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open: Option<usize> = None;
    for line in message.lines().skip(1) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let item = text.strip_prefix("* ").or_else(|| text.strip_prefix("- ")).unwrap_or(text);
        let value = item.split_once(':').filter(|(name, _)| name.trim_end().eq_ignore_ascii_case(key));
        match (value, open, found.last_mut()) {
            (Some((_, value)), _, _) => {
                found.push(value.trim().to_owned());
                open = Some(indent);
            }
            (None, Some(at), Some(last)) if indent > at && !text.is_empty() => {
                last.push(' ');
                last.push_str(text.trim_end());
            }
            (None, _, _) => open = None,
        }
    }
    found
}

fn is_trailer_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 100
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Largest commit object that is read, in bytes.
const MAX_COMMIT: usize = 1 << 20;

impl Repo {
    /// The commit object as it is stored. At most 1 MiB.
    pub fn commit_object(&self, id: CommitId) -> Result<Vec<u8>> {
        let size = self.size(git2::ObjectType::Commit, id.0)?;
        if size > MAX_COMMIT {
            let message = format!("it has {size} bytes, more than {MAX_COMMIT}");
            return Err(self.bad_object("commit", id.0, message));
        }
        self.data(git2::ObjectType::Commit, id.0)
    }
}

/// A commit object without the headers that begin with `gpgsig` and their continuation lines.
pub fn unsigned(raw: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(raw.len());
    let mut rest = raw;
    let mut dropping = false;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n').map(|end| end + 1) {
        let (line, after) = rest.split_at(end);
        if line == b"\n" {
            break;
        }
        dropping = if line.starts_with(b" ") { dropping } else { line.starts_with(b"gpgsig") };
        if !dropping {
            kept.extend_from_slice(line);
        }
        rest = after;
    }
    kept.extend_from_slice(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn a_commit_without_addresses_is_read_as_git_reads_it() {
        let scratch = Scratch::new();
        let (parent, tree) = (scratch.commit("a", "1", "one"), scratch.tree("HEAD"));
        let who = "No Mail 7 +0000";
        let message = "\n\nA subject\nof two lines\n\nKey: value\n";
        let raw = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n{message}");
        scratch.write("raw", &raw);
        let odd = scratch.git(&["hash-object", "-t", "commit", "-w", "--literally", "raw"]);
        let repo = scratch.open();
        let found = repo.commit(repo.resolve(&odd).unwrap()).unwrap();
        assert_eq!(found.subject, scratch.git(&["log", "-1", "--format=%s", &odd]));
        assert_eq!((found.subject.as_str(), found.committed_at.0), ("A subject of two lines", 7));
        assert_eq!((found.tree, found.parents), (tree, vec![parent]));
        assert_eq!(found.trailers, [("Key".to_owned(), "value".to_owned())]);
    }

    #[test]
    fn keyed_lines_are_found_wherever_they_stand() {
        let cases: [(&str, &[&str]); 9] = [
            ("Tests-Removed: a subject", &[]),
            ("s\n\nTests-Removed: gone\n", &["gone"]),
            ("s\n\ntests-removed:gone\n\nCo-authored-by: A <a@b>\n", &["gone"]),
            ("Squashed\n\ncommit 1\n\n    del\n\n    Tests-Removed: gone\n\n    more\n", &["gone"]),
            ("s (#1)\n\n* del\n\nTests-Removed: gone\n\n* more\n", &["gone"]),
            ("s\n\n* Tests-Removed: one\n* Tests-Removed: two\n", &["one", "two"]),
            ("s\n\nTests-Removed: gone\n for good\nnot this\n", &["gone for good"]),
            ("s\n\nsays Tests-Removed: no\nTests-Removed\n", &[]),
            ("s\n\nTests-Removed:\n", &[""]),
        ];
        for (message, want) in cases {
            assert_eq!(keyed_lines(message, "Tests-Removed"), want, "{message}");
        }
    }

    #[test]
    fn trailers_are_the_key_value_lines_of_the_last_paragraph() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let cases = [
            ("subject only", vec![]),
            ("Fix: not a trailer", vec![]),
            (
                "s\n\nbody\n\nSigned-off-by: A <a@b>\nCo-Authored-By: X\n",
                vec![pair("Signed-off-by", "A <a@b>"), pair("Co-Authored-By", "X")],
            ),
            ("s\n\nKey: one\n two\n", vec![pair("Key", "one two")]),
            ("s\n\n(cherry picked from commit abc)\nA: b", vec![pair("A", "b")]),
            ("s\n\nsee http://x.y for more", vec![]),
            (
                "s\n\nCo-Authored-By: X\nKey: none\n\nSigned-off-by: A <a@b>\n",
                vec![pair("Co-Authored-By", "X"), pair("Signed-off-by", "A <a@b>")],
            ),
            ("Co-Authored-By: none\n\n* one\n  Co-Authored-By: none\n\nKey: one", vec![pair("Key", "one")]),
        ];
        for (message, want) in cases {
            assert_eq!(trailers(message), want, "{message}");
        }
    }

    #[test]
    fn signatures_are_left_out_and_nothing_else() {
        let plain = "tree 1\nauthor a\n folded\nencoding x\n\nsubject\n\ngpgsig in the message\n";
        assert_eq!(unsigned(plain.as_bytes()), plain.as_bytes());
        let signed = plain
            .replace("encoding", "gpgsig -----BEGIN\n line\n \n -----END\nencoding")
            .replace("\n\nsubject", "\ngpgsig-sha256 x\n y\n\nsubject");
        assert_eq!(unsigned(signed.as_bytes()), plain.as_bytes());
        for odd in ["", "\n", "no line end", "gpgsig x", "\n\n"] {
            assert_eq!(unsigned(odd.as_bytes()), odd.as_bytes());
        }
    }
}
