//! What a repository remembers of a commit that was made here, wherever HEAD has gone since.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ids::CommitId;
use crate::format::fields::{Items, Text, Texts};

/// Bytes of the name of a worktree.
const MAX_NAME: usize = 1024;

/// A commit that was recorded in one of the repository's worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Attempt {
    /// The commit as it was recorded; a reset may have left it unreachable.
    pub commit: CommitId,
    /// Its first parent; `None` for a root commit.
    pub parent: Option<CommitId>,
    /// The worktree in which it was made. A worktree that is removed and added again is another one.
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub worktree: String,
    /// The other linked worktrees that there were then.
    #[serde(default, serialize_with = "write_beside", deserialize_with = "read_beside")]
    pub beside: Vec<String>,
}

fn write_beside<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let many = [Attempt::MANY.to_owned()];
    let names = if names.len() > Attempt::MAX_BESIDE { &many } else { names };
    Texts::<{ Attempt::MAX_BESIDE }, MAX_NAME>::serialize(names, serializer)
}

fn read_beside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let mut names: Vec<String> = Items::<{ Attempt::MAX_BESIDE + 1 }>::deserialize(deserializer)?;
    if let Some(beyond) = names.get_mut(Attempt::MAX_BESIDE) {
        Attempt::MANY.clone_into(beyond);
    }
    Ok(names)
}

impl Attempt {
    /// The main worktree, which is always there.
    pub const MAIN: &'static str = "main";
    /// Bound of [`Self::beside`].
    pub const MAX_BESIDE: usize = 256;
    /// The entry of [`Self::beside`] that marks a longer list.
    pub const MANY: &'static str = "*";

    /// Whether the worktree `here` is another one and was there when this commit was made: then both go their own ways.
    pub fn is_beside(&self, here: &str) -> bool {
        self.worktree != here
            && (here == Self::MAIN || self.beside.iter().any(|other| other == here || other == Self::MANY))
    }
}
