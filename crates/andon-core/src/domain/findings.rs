//! What a rule concluded, with its evidence.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::about::About;
use super::codec::named;
use super::detail::Detail;
use super::ids::{CodeId, CommitId, DiffHash, HunkHash, ShortHash, Signature};
use crate::format::fields::as_text;

/// The level of a finding, in rising order (docs/rules.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The rule is not evaluated.
    Off,
    /// Recorded, not shown unless asked for.
    Note,
    /// Shown; nothing is refused.
    Warn,
    /// This commit, push or completion is refused.
    Block,
    /// The loop stops until a person answers.
    Halt,
}

impl Level {
    /// Every level with its name in configuration and JSON.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Off, "off"),
        (Self::Note, "note"),
        (Self::Warn, "warn"),
        (Self::Block, "block"),
        (Self::Halt, "halt"),
    ];
}

named!(Level, "a level");

/// Why a loop was halted (docs/spec-map.md, loop safety: stall detection).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HaltReason {
    /// A cap or budget was reached.
    BudgetExceeded,
    /// Nothing moves.
    Stalled,
    /// The same states come back.
    Oscillating,
    /// It fails again and again.
    RepeatedError,
    /// A person pulled the stop switch.
    UserStop,
}

impl HaltReason {
    /// Every reason with its name in JSON.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::BudgetExceeded, "budget_exceeded"),
        (Self::Stalled, "stalled"),
        (Self::Oscillating, "oscillating"),
        (Self::RepeatedError, "repeated_error"),
        (Self::UserStop, "user_stop"),
    ];
}

named!(HaltReason, "a reason of a halt");

/// The file that shows a halt to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReportFile {
    /// `.andon/CHECKPOINT.md`
    Checkpoint,
    /// `.andon/BLOCKER_REPORT.md`
    BlockerReport,
}

impl ReportFile {
    /// Every report file with its file name under `.andon/`.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Checkpoint, "CHECKPOINT.md"), (Self::BlockerReport, "BLOCKER_REPORT.md")];
}

named!(ReportFile, "a report file", file_name);

impl ReportFile {
    /// Writes the path from the top of the working tree.
    pub(super) fn serialize_path<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!(".andon/{}", self.file_name()))
    }
}

/// A tool call behind a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct NamedCall {
    /// Tool and full arguments, as a hash.
    #[serde(rename = "call")]
    pub exact: ShortHash,
    /// Its short form, where that is known. Untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

impl fmt::Display for NamedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shown {
            Some(shown) => write!(f, "{}: {shown}", self.exact),
            None => write!(f, "{}", self.exact),
        }
    }
}

/// One piece of evidence behind a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A commit, by its id.
    Commit(CommitId),
    /// A normalized diff.
    Diff(DiffHash),
    /// A code state.
    Code(CodeId),
    /// A failure signature.
    Tests(Signature),
    /// A tool call.
    Call(NamedCall),
    /// A path, as bytes of git made readable (lossy).
    Path(String),
    /// Anything else, in words.
    Text(String),
}

impl Evidence {
    /// The path, where it is one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            Self::Commit(_)
            | Self::Diff(_)
            | Self::Code(_)
            | Self::Tests(_)
            | Self::Call(_)
            | Self::Text(_) => None,
        }
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Evidence {
    /// `commit 1a2b...`, `diff 3c4d...`: one form for text and JSON. Not escaped: the renderer does that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit(id) => write!(f, "commit {id}"),
            Self::Diff(hash) => write!(f, "diff {hash}"),
            Self::Code(code) => write!(f, "code {code}"),
            Self::Tests(signature) => write!(f, "tests {signature}"),
            Self::Call(call) => write!(f, "call {call}"),
            Self::Path(path) => write!(f, "path {path}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// What one rule concluded; serialized as programs see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Rule id, kebab-case.
    pub rule: &'static str,
    /// The level after configuration.
    pub level: Level,
    /// The halt reason that goes with it, for rules that can halt or signal.
    pub reason: Option<HaltReason>,
    /// The file that shows it, should it halt.
    #[serde(skip)]
    pub report_file: ReportFile,
    /// What else is to be known of the rule.
    #[serde(skip)]
    pub about: About,
    /// What it found; programs get the sentence.
    #[serde(rename = "message", serialize_with = "as_text")]
    pub detail: Detail,
    /// The files that it is about, as hashes: code with access to the repository names them.
    #[serde(skip)]
    pub files: Vec<HunkHash>,
    /// Hashes and ids by which a person can look it up.
    pub evidence: Vec<Evidence>,
    /// Commands or steps that resolve it, the likeliest first.
    pub help: Vec<String>,
    /// The rule whose finding, where there is one, reports the same cause.
    #[serde(skip)]
    pub echo_of: Option<&'static str>,
}

/// The highest level that an excuse leaves a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// That level.
    pub most: Level,
    /// The excuse as a noun phrase: "a step of a release".
    pub excuse: &'static str,
}

impl Limit {
    /// A finding that is a note at most.
    pub const fn note(excuse: &'static str) -> Self {
        Self { most: Level::Note, excuse }
    }

    /// A finding that is a warning at most.
    pub const fn warn(excuse: &'static str) -> Self {
        Self { most: Level::Warn, excuse }
    }
}

impl Finding {
    /// The finding within `limits`, an `Option` or a list. Its evidence names each excuse that lessens it.
    #[must_use]
    pub fn within(mut self, limits: impl IntoIterator<Item = Limit>) -> Self {
        for Limit { most, excuse } in limits {
            if self.level > most {
                self.level = most;
                self.evidence.push(Evidence::Text(format!("excuse: {excuse}")));
            }
        }
        self
    }

    /// What happened, in one sentence of facts. May hold untrusted text: the renderer escapes.
    pub fn message(&self) -> String {
        self.detail.to_string()
    }
}
