//! Reports of agents' clients to Andon's hooks, as values, and the part that the hooks remember.
//!
//! Decisions about an agent's calls and turns, as values with their words.

use serde::{Deserialize, Serialize};

use super::{CallEnd, Client, ShortHash, Timestamp};
use crate::format::fields::Text;

pub use super::client_spec::HookMoment;

/// Bytes of a name in the journal.
const MAX_NAME: usize = 1024;

/// The kind of a tool, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKind {
    /// It reads and changes nothing.
    Read,
    /// It writes files.
    Edit,
    /// It runs a command line.
    Shell,
    Unknown,
}

/// A tool with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The client's name of it.
    pub name: String,
    pub kind: ToolKind,
    /// The client's id of the call.
    pub id: Option<String>,
    /// The command lines, of a shell.
    pub commands: Vec<String>,
    /// The files that the arguments name.
    pub paths: Vec<String>,
    /// The end of the call, where it has ended.
    pub end: CallEnd,
}

crate::named_enum! {
    /// An action or observation of an agent's hook. It is kept, so that "already said" is a fold over facts and no counter.
    pub enum AgentAction, "what an agent's hook did" {
        /// A session began.
        Session = "session",
        /// A person gave a prompt: counts per turn begin anew. The mark is that of its text.
        Prompt = "prompt",
        /// A tool call was recorded; the mark distinguishes it from others.
        Called = "called",
        /// A call of this turn may have changed files; whether it was an edit or a command is said in words.
        Wrote = "wrote",
        /// The context window was compacted; which time that was is said in words.
        Compacted = "compacted",
        /// An event was reported that has no id of its own; the mark is that of its payload. Earlier versions kept under a name of
        /// its own that a command line which runs git was let through.
        Heard = "heard" | "asked",
        /// Tokens were taken in; the mark is that of the client's message.
        Counted = "counted",
        /// A tool was refused; the mark says why.
        Refused = "refused",
        /// The model got a message once; the mark says which.
        Nudged = "nudged",
        /// A turn was not let end; the mark is what was missing, on which code.
        Held = "held",
        /// A turn was let end although something was missing.
        Released = "released",
        /// A turn ended; which one is said in words.
        Ended = "ended",
        /// A change of the client's settings was refused.
        Kept = "kept",
        /// The hook could not do its work.
        Broken = "broken",
    }
}

/// The prefix of a canary's session. The events that `andon doctor --live` sends are not an agent's work.
pub const CANARY: &str = "andon-canary-";

/// One such fact: a line of the journal of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFact {
    pub at: Option<Timestamp>,
    /// Whose hook it was.
    pub client: Client,
    /// The client's session. Untrusted text.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub session: Option<String>,
    /// The action or observation of the client's hook.
    #[serde(rename = "did")]
    pub deed: AgentAction,
    /// The subject of the action, in words. Untrusted text.
    #[serde(default, skip_serializing_if = "String::is_empty", with = "Text::<MAX_NAME>")]
    pub about: String,
    /// Distinguishes it from others of its kind.
    pub mark: Option<ShortHash>,
}

impl AgentFact {
    /// Returns whether it is an event that `andon doctor --live` sent.
    pub fn is_canary(&self) -> bool {
        self.session.as_deref().is_some_and(|session| session.starts_with(CANARY))
    }
}

/// A safeguard that a tool call would disarm.
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
    /// Returns a description in words.
    pub fn what(&self) -> String {
        match self {
            Self::MasterSwitch => "the switch ANDON=0".to_owned(),
            Self::HooksPath => "where git looks for hooks (core.hooksPath)".to_owned(),
            Self::Command(command) => format!("`{command}`"),
            Self::Resume => "`andon resume`".to_owned(),
        }
    }
}
