//! The only door to git: objects, refs, notes and the index in process, the `git` program where libgit2
//! cannot give the answer.
//!
//! Why a module of its own: a hook has a millisecond or two (DESIGN section 9), and libgit2 has traps
//! (GIT-FACTS.md) that must be met once. No git2 type leaves this module; above it there are only the ids of
//! `domain` and the values defined here. Nothing here decides anything about a loop.

mod ancestry;
mod bundle;
mod changes;
mod commits;
mod config;
mod durable;
mod error;
mod file_system;
mod files;
mod filters;
mod gathered;
mod happened;
mod head;
mod hooks_path;
mod hunks;
mod index_entries;
mod index_paths;
mod index_tree;
mod inflate;
mod kept;
mod made_here;
mod notes;
mod notes_history;
mod notes_pack;
mod notes_unite;
mod notes_write;
mod objects;
mod online;
mod open;
mod origin;
mod outlive;
mod pack;
mod payload;
mod porcelain;
mod program;
mod reflog;
mod refs;
mod remade;
mod remade_paths;
mod repo;
mod revisions;
#[cfg(test)]
mod scratch;
mod settings;
mod sight;
pub mod stop_point;
mod texts;
mod trees;
mod turn;
mod vetting;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(not(target_os = "linux"))]
#[path = "unwatched.rs"]
mod watch;
mod worktree;
mod worktrees;
mod written;

pub use bundle::is_bundle;
pub use changes::Change;
pub use commits::{CommitInfo, NewCommit, trailers};
pub use config::{ConfigLevel, ConfigValue};
pub use error::{GitError, MissingBecause, missing_help};
pub use files::{is_litter, open_plain, read_plain, replace_plain, temporary_in};
pub use happened::{Happened, IndexFile};
pub use head::Head;
pub use hooks_path::LinkedWorktree;
pub use hunks::{RawHunk, hunks, is_binary};
pub use index_tree::IndexTree;
pub use notes::NotesTree;
pub use notes_history::{NoteChange, NotesHistory};
pub use notes_unite::NotesUnion;
pub use objects::{Blob, MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE, MODE_TREE, TreeEntry};
pub use online::{PushEnd, PushedTo, RemoteError, back_off};
pub use origin::Operation;
pub use program::{Online, Output, Prompt, git};
pub use reflog::ReflogEntry;
pub use refs::Update;
pub use remade::{Claimed, Made};
pub use repo::{Repo, RepoEnv};
pub use settings::{ConfigScope, SourcedValue};
pub use texts::{Text, Texts};
pub use trees::{Differing, RawEntry, RawTree};
pub use watch::{Ended, Watch};
pub use worktree::{Overlay, is_changed_submodule};
