//! Puts Andon's hooks into a hooks directory and takes them out again.
//!
//! It is careful because hooks are other people's programs. What was there is kept byte for byte and still
//! runs, a failure half way leaves nothing behind, and uninstalling removes only what is certainly ours.
//! Looking ([`mod@inspect`]), deciding ([`plan`]) and doing ([`steps`]) are apart, so that `doctor` can look
//! with the same eyes and every decision has its test.

pub mod clients;
pub mod edits;
mod error;
pub mod forward;
pub mod framework;
pub mod husky;
pub mod inspect;
pub mod lefthook;
pub mod managers;
pub mod manifest;
pub mod mode;
pub mod plan;
pub mod shim;
pub mod start_lines;
pub mod steps;

pub use self::clients::place::{Roots, Scope, SettingsFile};
pub use self::clients::{InstalledFile, SettingsState, memory::MemoryFile, saved_files::SavedFiles};
pub use self::{
    edits::*, framework::*, husky::Layout, inspect::*, managers::*, manifest::*, mode::*, plan::*,
    shim::Owner, steps::*,
};

use testreport::WordList;

pub use self::error::{InstallError, Result};

/// The list of `words.txt` with that name.
const fn words(list: &str) -> WordList {
    WordList::section(include_str!("words.txt"), list)
}
