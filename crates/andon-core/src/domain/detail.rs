//! What a rule found: a sentence for people, and figures for programs. Nothing reads the sentence back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::Count;
use crate::format::fields::{Text, whole};

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
    pub fn with_figures(self, figures: Figures) -> Self {
        Self { figures, ..self }
    }

    /// The detail with another sentence for a decision that halts.
    #[must_use]
    pub fn or_in_halt(self, message: String) -> Self {
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
        /// How often the call, the row of calls or the answer came.
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
#[serde(expecting = "an object")]
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
mod tests {
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
