//! The text of a commit, as far as it is read.

use andon_core::domain::{CommitId, Timestamp, TreeId};

/// Most of a message that is searched for trailers, in bytes from its end.
const MAX_TRAILER_BYTES: usize = 64 * 1024;

/// A commit's headers, and its message without the lines that are empty before it.
pub(crate) struct CommitText {
    pub(crate) tree: TreeId,
    /// None where a shallow clone was cut.
    pub(crate) parents: Vec<CommitId>,
    pub(crate) head: String,
    pub(crate) message: String,
}

/// The values of the headers of that name.
pub(crate) fn headers<'a>(head: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    head.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '))
}

impl CommitText {
    /// Name, address and date of the author or the committer, as far as they are there.
    pub(crate) fn person(&self, role: &'static str) -> (&str, &str, Timestamp) {
        let line = headers(&self.head, role).next().unwrap_or_default();
        let (who, rest) = line.split_once('<').unwrap_or((line, ""));
        let (email, when) = rest.split_once('>').unwrap_or((rest, line));
        let at = when.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or_default();
        (who.trim(), email.trim(), Timestamp(at))
    }

    /// The end of the message that is searched for trailers.
    pub(crate) fn tail(&self) -> &str {
        let start = self.message.len().saturating_sub(MAX_TRAILER_BYTES);
        (start..).find_map(|start| self.message.get(start..)).unwrap_or_default()
    }
}
