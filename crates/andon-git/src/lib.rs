#![doc = include_str!("../README.md")]

mod diff;
mod error;
mod files;
mod index;
mod notes;
mod objects;
mod open;
pub mod platform;
mod program;
mod refs;
mod remote;
#[cfg(test)]
mod testkit;
mod worktree;

pub(crate) use self::objects::{cache::Cache, inflate::VettedObjects, reader::ObjectReader};

pub use diff::hunks::{hunks, is_binary};
pub use diff::merge::{MergeClaim, MergeStep, TreeVerdict};
pub use error::{GitError, MissingBecause, missing_help};
pub use files::{
    access_help, from_end, if_there, is_litter, open_plain, read_plain, replace_plain, replace_private,
    temporary_beside, temporary_in,
};
pub use index::tree::IndexTree;
pub use notes::NotesTree;
pub use notes::history::{NoteChange, NotesHistory};
pub use notes::union::{CommitNotes, NotesSince, NotesToJoin, NotesUnion};
pub use objects::commits::unsigned;
pub use objects::commits::{CommitInfo, NewCommit, keyed_lines, trailers};
pub use objects::texts::Text;
pub use objects::trees::{DifferingEntries, RawEntry, RawTree};
pub use objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE, MODE_TREE, TreeEntry};
pub use open::repo::Products;
pub use open::repo::{Repo, RepoEnv};
pub use open::settings::{ConfigScope, SourcedValue};
pub use open::worktrees::WorktreePlace;
pub use program::{Online, Prompt, Quiet, git};
pub use refs::Head;
pub use refs::Update;
pub use refs::origin::Operation;
pub use refs::reflog::ReflogEntry;
pub use remote::is_bundle;
pub use remote::{PushEnd, PushedTo, RemoteError, back_off};
pub use worktree::separate_checkout::SeparateCheckout;
pub use worktree::{Overlay, is_changed_submodule};

/// An answer of git, or the reason why there is none.
pub type Result<T, E = GitError> = std::result::Result<T, E>;
