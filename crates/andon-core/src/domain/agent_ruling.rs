//! What is decided about an agent's calls and turns, as values with their words.

/// How often one turn is held at the most.
pub const MAX_HOLDS: usize = 3;

/// What a tool call would disarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disarm {
    /// `ANDON=0`.
    MasterSwitch,
    /// `core.hooksPath`, or hooks in git's configuration.
    HooksPath,
    /// Commands of Andon's that are a person's, such as `andon uninstall`.
    Command(String),
    /// `andon resume`.
    Resume,
}

impl Disarm {
    /// What is meant, in words.
    pub fn what(&self) -> String {
        match self {
            Self::MasterSwitch => "the switch ANDON=0".to_owned(),
            Self::HooksPath => "where git looks for hooks (core.hooksPath)".to_owned(),
            Self::Command(command) => format!("`{command}`"),
            Self::Resume => "`andon resume`".to_owned(),
        }
    }
}

/// Why a turn may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseReason {
    /// Nothing is missing.
    Done,
    /// The loop is halted: more work would be refused.
    Halted,
    /// It was held [`MAX_HOLDS`] times.
    Cap,
    /// It was held for the same on the same code, and nothing moved.
    NoProgress,
    /// Another hook holds it, and what was said before is not known any more.
    Forgotten,
}
