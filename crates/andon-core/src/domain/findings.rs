//! The conclusion of a rule, with its evidence.
//!
//! A finding has a sentence for people, and figures for programs. Nothing reads the sentence back.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{About, CodeId, CommitId, DiffHash, HunkHash, ShortHash, Signature};
use crate::format::Count;
use crate::format::fields::{Text, as_text, whole};

crate::named_enum! {
    /// The level of a finding, in rising order (docs/rules.md).
    pub enum Level, "a level" {
        /// The rule is not evaluated.
        Off = "off",
        /// Recorded, not shown unless asked for.
        Note = "note",
        /// Shown; nothing is refused.
        Warn = "warn",
        /// This commit, push or completion is refused.
        Block = "block",
        /// The loop stops until a person answers.
        Halt = "halt",
    }
}

crate::named_enum! {
    /// The reason why a loop was halted (docs/spec-map.md, loop safety: stall detection).
    pub enum HaltReason, "a reason of a halt" {
        /// A cap or budget was reached.
        BudgetExceeded = "budget_exceeded",
        /// Nothing moves.
        Stalled = "stalled",
        /// The same states come back.
        Oscillating = "oscillating",
        /// It fails again and again.
        RepeatedError = "repeated_error",
        /// A person pulled the stop switch.
        UserStop = "user_stop",
    }
}

crate::named_enum! {
    /// The file that shows a halt to people.
    pub enum ReportFile, "a report file", file_name {
        /// `.andon/CHECKPOINT.md`
        Checkpoint = "CHECKPOINT.md",
        /// `.andon/BLOCKER_REPORT.md`
        BlockerReport = "BLOCKER_REPORT.md",
    }
}

impl ReportFile {
    /// Writes the path from the top of the working tree.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize_path<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!(".andon/{}", self.file_name()))
    }
}

/// A tool call behind a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        if let Self::Path(path) = self { Some(path) } else { None }
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

/// The conclusion of one rule, serialized as programs see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The level after configuration.
    pub level: Level,
    /// The halt reason that goes with it, for rules that can halt or signal.
    pub reason: Option<HaltReason>,
    /// The file that shows it, should it halt.
    #[serde(skip)]
    pub report_file: ReportFile,
    /// Further facts about the rule.
    #[serde(skip)]
    pub about: About,
    /// The details of the finding; programs get the sentence.
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
    /// The page of its rule.
    #[serde(skip)]
    pub page: &'static str,
}

/// The highest level that an excuse leaves a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
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

    /// Returns one sentence of facts that says what happened. May hold untrusted text: the renderer escapes.
    pub fn message(&self) -> String {
        self.detail.to_string()
    }
}

/// Bytes of the name and the signature of a tool.
const MAX_TOOL: usize = 1024;

/// The detail of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// One sentence of facts. May hold untrusted text: the renderer escapes.
    message: String,
    /// The part that programs get, and that is stored with the message.
    pub figures: Figures,
    /// The sentence in a decision that halts, where it is another one.
    in_halt: Option<String>,
}

impl Detail {
    /// A sentence of which programs are shown no figures.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), figures: Figures::Unreported, in_halt: None }
    }

    /// The detail with `figures`.
    #[must_use]
    pub(crate) fn with_figures(self, figures: Figures) -> Self {
        Self { figures, ..self }
    }

    /// The detail with another sentence for a decision that halts.
    #[must_use]
    pub(crate) fn or_in_halt(self, message: String) -> Self {
        Self { in_halt: Some(message), ..self }
    }

    /// The detail as it reads in a decision that halts.
    #[must_use]
    pub fn while_halted(self) -> Self {
        let Self { message, figures, in_halt } = self;
        Self { message: in_halt.unwrap_or(message), figures, in_halt: None }
    }

    /// The detail with words before its sentences.
    #[must_use]
    pub fn after(&self, before: &str) -> Self {
        self.framed(|sentence| format!("{before}{sentence}"))
    }

    /// The detail with words behind its sentences.
    #[must_use]
    pub fn before(&self, after: &str) -> Self {
        self.framed(|sentence| format!("{sentence}{after}"))
    }

    fn framed(&self, frame: impl Fn(&str) -> String) -> Self {
        Self {
            message: frame(&self.message),
            figures: self.figures.clone(),
            in_halt: self.in_halt.as_deref().map(frame),
        }
    }
}

impl<T: Into<String>> From<T> for Detail {
    fn from(message: T) -> Self {
        Self::new(message)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The figures of a finding that the safety event log documents (docs/spec-map.md, loop rules).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(untagged, from = "FiguresMembers")]
pub enum Figures {
    /// There are none, or only the text of the finding was stored.
    #[default]
    Unreported,
    /// A loop of tool calls.
    Calls {
        /// Name of the tool, bounded. Untrusted text.
        #[serde(serialize_with = "Text::<MAX_TOOL>::serialize")]
        tool: String,
        /// `Edit(file=a.rs)`: the calls with their file or command, where the arguments are known. Untrusted text.
        #[serde(serialize_with = "Text::<MAX_TOOL>::serialize")]
        signature: Option<String>,
        /// The number of times that the call, the row of calls or the answer came.
        #[serde(serialize_with = "whole")]
        count: u64,
    },
    /// The dirty bits of a task that was to be called done, as far as they are known.
    Bits {
        /// There is code that is not committed.
        code_modified: Option<bool>,
        /// The tests ran on exactly this code.
        tests_run: Option<bool>,
        /// They pass.
        tests_passing: Option<bool>,
        /// The documentation moved with the code.
        docs_updated: Option<bool>,
    },
    /// A context window.
    Fill {
        /// The used share in whole percent.
        #[serde(serialize_with = "whole")]
        percent: u64,
        /// The share that was reached, in whole percent.
        #[serde(serialize_with = "whole")]
        threshold: u64,
    },
}

/// The members of all kinds of figures, as they are read: those that this version does not know are left out.
#[derive(Deserialize)]
struct FiguresMembers {
    tool: Option<String>,
    signature: Option<String>,
    count: Option<Count>,
    percent: Option<Count>,
    threshold: Option<Count>,
    code_modified: Option<bool>,
    tests_run: Option<bool>,
    tests_passing: Option<bool>,
    docs_updated: Option<bool>,
}

impl From<FiguresMembers> for Figures {
    fn from(members: FiguresMembers) -> Self {
        match members {
            FiguresMembers { tool: Some(tool), signature, count: Some(Count(count)), .. } => {
                Self::Calls { tool, signature, count }
            }
            FiguresMembers { percent: Some(Count(percent)), threshold: Some(Count(threshold)), .. } => {
                Self::Fill { percent, threshold }
            }
            FiguresMembers { code_modified, tests_run, tests_passing, docs_updated, .. }
                if [code_modified, tests_run, tests_passing, docs_updated] != [None; 4] =>
            {
                Self::Bits { code_modified, tests_run, tests_passing, docs_updated }
            }
            FiguresMembers { .. } => Self::Unreported,
        }
    }
}

#[cfg(test)]
mod detail_tests {
    use super::*;

    #[test]
    fn figures_come_back_and_others_are_untold() {
        let calls =
            Figures::Calls { tool: "Edit".into(), signature: Some("Edit(file=a.rs)".into()), count: 5 };
        let bits = Figures::Bits {
            code_modified: Some(false),
            tests_run: Some(true),
            tests_passing: None,
            docs_updated: None,
        };
        for figures in [calls, bits, Figures::Fill { percent: 86, threshold: 85 }] {
            let text = serde_json::to_string(&figures).unwrap();
            assert_eq!(serde_json::from_str::<Figures>(&text).unwrap(), figures, "{text}");
        }
        assert_eq!(serde_json::to_string(&Figures::Unreported).unwrap(), "null");
        let later = serde_json::from_str::<Figures>(r#"{"tool":"a","rate":7}"#).unwrap();
        assert_eq!(later, Figures::Unreported);
    }
}
