#![doc = include_str!("../README.md")]

mod canary;
mod claude_settings;
mod cline;
mod copilot;
mod cursor;
mod member;
mod opencode;
pub mod ruling;
mod shared_dialect;
mod tools;
mod transcript;

use serde_json::Value;

use andon_core::domain::agent::Client;
use andon_core::domain::agent_door::{HookMoment, ToolUse};
use andon_core::domain::client_spec::Dialect;
use andon_core::domain::usage::Usage;
use andon_core::format::FormatError;

use canary::exits_refusing;
pub use canary::{canary, has_refused};
pub use claude_settings::{calls_us, switches_off};
pub use tools::{called, with_command};
pub use transcript::{ReadUsage, exit_code, newest_usage};

/// Most bytes of a payload.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// A command line that is refused whether or not the loop is halted.
const DISARMS: &str = "ANDON=0 git commit";

/// What a client reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookPayload {
    /// The session; for a subagent that of its parent, where it is given.
    pub session: Option<String>,
    /// The subagent that is at work.
    pub subagent: Option<String>,
    /// Where the client is at work.
    pub cwd: Option<String>,
    /// The client's transcript of the session.
    pub transcript: Option<String>,
    /// Tool calls.
    pub calls: Vec<CompletedCall>,
    /// Tokens, where the payload has them.
    pub usage: Option<Usage>,
    /// Whether a hook holds this turn already.
    pub continued: Option<bool>,
    /// The last message of the model.
    pub said: Option<String>,
    /// What was asked of the agent.
    pub prompt: Option<String>,
    /// The client's id of that.
    pub prompt_id: Option<String>,
    /// How a session begins, or what was compacted.
    pub source: Option<String>,
    /// A file of settings that changed.
    pub file: Option<String>,
    /// The moment, where the payload says more than the event's name.
    pub moment: Option<HookMoment>,
}

/// A tool call with what it was given and what it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedCall {
    /// What is judged.
    pub used: ToolUse,
    /// The arguments of the call, as the client sent them.
    pub args: Option<Value>,
    /// The answer, without what differs in every one.
    pub result: Option<Value>,
}

/// What is to be said to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Nothing.
    Nothing,
    /// The tool does not run; the reason for the model.
    Refuse(String),
    /// The tool runs with these arguments; what the model is to know of that.
    Rewrite(Value, Option<String>),
    /// Something that the model is to know.
    Tell(String),
    /// The turn continues; what is missing.
    Hold(String),
    /// The turn ends; what the person is to know.
    LetGo(String),
    /// The turn ends, whatever another hook wants; why, for the person.
    Stop(String),
    /// The settings stay as they were; why.
    Keep(String),
}

/// How a hook ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Exit code.
    pub exit: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Reply {
    /// What blocks on most clients: exit code 2, the reason on standard error, nothing on standard output.
    fn blocks(why: &str) -> Self {
        Self { exit: 2, stderr: format!("{why}\n"), ..Self::default() }
    }

    /// An object on standard output.
    fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }

    /// A line for people that no client takes for an answer.
    pub fn aside(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), ..Self::default() }
    }
}

/// What is answered: at which event, on which calls.
#[derive(Debug, Clone, Copy)]
struct Request<'a> {
    event: &'a str,
    moment: HookMoment,
    calls: &'a [CompletedCall],
}

/// The reader and the replies of a client whose dialect no other client uses.
struct OwnDialect {
    read: fn(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError>,
    reply: fn(Request<'_>, &Instruction) -> Reply,
    /// Whether a hook can change the arguments of a call, at this event before a tool.
    rewrites: fn(event: &str) -> bool,
    /// The payload of a canary in that session.
    canary: fn(session: &str) -> Value,
    /// Whether exit code and standard output are a refusal.
    has_refused: fn(Option<i32>, &str) -> bool,
}

/// The clients with a dialect of their own.
const OWN: [(Client, OwnDialect); 5] = [
    (Client::Copilot, copilot::OWN),
    (Client::Cursor, cursor::OWN),
    (Client::Opencode, opencode::OWN),
    (Client::Kilo, opencode::OWN),
    (Client::Cline, cline::OWN),
];

fn own(client: Client) -> Option<&'static OwnDialect> {
    OWN.iter().find(|(known, _)| *known == client).map(|(_, own)| own)
}

/// What `event` of `client` is; `None` where the client has no such event as far as is known.
pub fn moment(client: Client, event: &str) -> Option<HookMoment> {
    client.spec().events().find(|(name, _)| *name == event).map(|(_, moment)| moment)
}

/// Reads a payload.
///
/// # Errors
/// [`FormatError`] where it is too long or no JSON object.
pub fn read(client: Client, event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    // Windows' clients write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match &client.spec().dialect {
        Dialect::Shaped(shape) => shared_dialect::read(shape, moment(client, event), event, bytes),
        Dialect::Own => {
            own(client).map_or_else(|| Ok(HookPayload::default()), |own| (own.read)(event, bytes))
        }
    }
}

/// Says `say` to `client` at `event`.
pub fn reply(
    client: Client,
    (event, moment): (&str, HookMoment),
    calls: &[CompletedCall],
    say: &Instruction,
) -> Reply {
    let request = Request { event, moment, calls };
    match &client.spec().dialect {
        Dialect::Shaped(shape) => shared_dialect::reply(shape, request, say),
        Dialect::Own => own(client).map_or_else(Reply::default, |own| (own.reply)(request, say)),
    }
}

/// Whether a hook of `client` before a tool, whose event has the style of `event`, can change the arguments of a call.
pub fn rewrites(client: Client, event: &str) -> bool {
    match &client.spec().dialect {
        Dialect::Shaped(shape) => shape.rewrites.is_some(),
        Dialect::Own => own(client).is_some_and(|own| (own.rewrites)(event)),
    }
}

/// Whether a prompt is a person's, so that what is counted per turn begins anew.
pub fn is_of_a_person(prompt: Option<&str>, own: &str) -> bool {
    let machine = |text: &str| text.contains(own) || text.trim_start().starts_with("<task-notification>");
    !prompt.is_some_and(machine)
}

#[cfg(test)]
mod tests;
