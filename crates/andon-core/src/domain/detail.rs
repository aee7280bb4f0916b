//! What a rule found, as a value. A message is how the value reads; nothing reads a message back.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::format::Count;
use crate::format::fields::{Text, whole};

/// Bytes of the name and the signature of a tool.
const MAX_TOOL: usize = 1024;

/// What one kind of finding consists of. Each rule declares its own in its file; `Display` is the message.
pub trait FindingDetail: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The part that programs get, and that is stored with the message.
    fn figures(&self) -> Figures {
        Figures::Unreported
    }

    /// What it says in a decision that halts; `None`: the same.
    fn while_halted(&self) -> Option<Detail> {
        None
    }
}

/// A sentence of which programs are shown no figures.
impl FindingDetail for String {}

/// A sentence that is always the same.
impl FindingDetail for &'static str {}

/// The detail of a finding. Cheap to clone.
#[derive(Clone)]
pub struct Detail(Arc<dyn FindingDetail>);

impl Detail {
    /// The detail of `found`.
    pub fn new(found: impl FindingDetail) -> Self {
        Self(Arc::new(found))
    }

    /// What of it programs are shown.
    pub fn figures(&self) -> Figures {
        self.0.figures()
    }

    /// What it says in a decision that halts.
    #[must_use]
    pub fn while_halted(&self) -> Self {
        self.0.while_halted().unwrap_or_else(|| self.clone())
    }

    /// The same with words before it.
    #[must_use]
    pub fn after(&self, before: impl Into<String>) -> Self {
        Self::new(FramedDetail { before: before.into(), detail: self.clone(), after: String::new() })
    }

    /// The same with words behind it.
    #[must_use]
    pub fn before(&self, after: impl Into<String>) -> Self {
        Self::new(FramedDetail { before: String::new(), detail: self.clone(), after: after.into() })
    }
}

/// A detail with words before and after it, which leave its figures as they are.
#[derive(Debug)]
struct FramedDetail {
    before: String,
    detail: Detail,
    after: String,
}

impl fmt::Display for FramedDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.before, self.detail, self.after)
    }
}

impl FindingDetail for FramedDetail {
    fn figures(&self) -> Figures {
        self.detail.figures()
    }

    fn while_halted(&self) -> Option<Detail> {
        let Self { before, detail, after } = self;
        let detail = detail.0.while_halted()?;
        Some(Detail::new(Self { before: before.clone(), detail, after: after.clone() }))
    }
}

impl fmt::Display for Detail {
    /// In one sentence of facts. May hold untrusted text: the renderer escapes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl PartialEq for Detail {
    /// Details are equal that read alike and show programs the same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.figures() == other.figures() && self.to_string() == other.to_string())
    }
}

impl Eq for Detail {}

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
