//! The hook managers whose files get lines of ours, a row each.

use testreport::WordList;

use super::{Integration, Owner, framework, words};

/// A hook manager whose files get lines of ours.
pub struct ManagerSpec {
    /// The mode that writes into its files.
    pub mode: Integration,
    /// The files or the folder by which it is known, the likeliest first.
    pub shown_by: WordList,
    /// The tools by whose words its own hooks are known.
    pub owners: &'static [Owner],
    /// The step that sets it up where it is not.
    pub set_up: &'static str,
    /// A remark for a person on our lines in its files.
    pub remark: &'static str,
}

/// A row a manager.
pub const MANAGERS: [ManagerSpec; 3] = [
    ManagerSpec {
        mode: Integration::Husky,
        shown_by: words("files of husky"),
        owners: &[],
        set_up: "npx husky init",
        remark: "commit .husky: the lines are the same for everybody",
    },
    ManagerSpec {
        mode: Integration::Lefthook,
        shown_by: words("files of lefthook"),
        owners: &[Owner::Lefthook],
        set_up: "write a lefthook.yml",
        remark: "lefthook-local.yml is for this clone alone; for everybody, move its lines into the configuration of the \
                 project",
    },
    ManagerSpec {
        mode: Integration::PreCommit,
        shown_by: framework::FILES,
        owners: &[Owner::PreCommit, Owner::Prek],
        set_up: "write a .pre-commit-config.yaml",
        remark: "commit the file: its lines are the same for everybody, and let pass where andon is not installed",
    },
];

/// The manager of a mode; `None` for the modes without one.
pub fn of(mode: Integration) -> Option<&'static ManagerSpec> {
    const { &MANAGERS }.iter().find(|manager| manager.mode == mode)
}
