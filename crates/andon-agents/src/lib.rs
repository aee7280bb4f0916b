#![doc = include_str!("../README.md")]

mod cline;
mod copilot;
mod cursor;
mod opencode;
pub mod ruling;
mod shared_dialect;
mod tools;
mod transcript;

use serde_json::Value;

use andon_core::domain::{Client, HookMoment, ToolUse, Usage};
use andon_core::format::FormatError;

pub use tools::{called, with_command};
pub use transcript::{ReadUsage, exit_code, newest_usage};

/// Most bytes of a payload.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// A command line that is refused whether or not the loop is halted.
const DISARMS: &str = "ANDON=0 git commit";

/// The report of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookPayload {
    /// The session; for a subagent that of its parent, where it is given.
    pub session: Option<String>,
    /// The subagent that is at work.
    pub subagent: Option<String>,
    /// The directory in which the client is at work.
    pub cwd: Option<String>,
    /// The client's transcript of the session.
    pub transcript: Option<String>,
    /// Tool calls.
    pub calls: Vec<CompletedCall>,
    /// Tokens, where the payload has them.
    pub usage: Option<Usage>,
    /// Milliseconds that the call took.
    pub duration_ms: Option<u64>,
    /// A hook holds this turn already.
    pub continued: Option<bool>,
    /// The last message of the model.
    pub said: Option<String>,
    /// The text that was asked of the agent.
    pub prompt: Option<String>,
    /// The client's id of that.
    pub prompt_id: Option<String>,
    /// The origin of a session, or of a compaction.
    pub source: Option<String>,
    /// A file of settings that changed.
    pub file: Option<String>,
    /// The moment, where the payload says more than the event's name.
    pub moment: Option<HookMoment>,
}

/// A tool call with what it was given and what it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedCall {
    /// The part that is judged.
    pub used: ToolUse,
    /// The arguments of the call, as the client sent them.
    pub args: Option<Value>,
    /// The answer, without what differs in every one.
    pub result: Option<Value>,
}

/// A message to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
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

impl Instruction {
    /// True where the reply can carry a message to the model beside what it says.
    pub fn can_tell(&self) -> bool {
        matches!(self, Self::Nothing | Self::Tell(_))
    }

    /// Puts `text` before the reported text; any other instruction stays as it is.
    #[must_use]
    pub fn after(self, text: String) -> Self {
        if !self.can_tell() {
            return self;
        }
        if let Self::Tell(more) = self { Self::Tell(format!("{text}\n\n{more}")) } else { Self::Tell(text) }
    }
}

/// The end of a hook.
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
    /// The reply that blocks on most clients: exit code 2, the reason on standard error, nothing on standard output.
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

/// The event and the calls that are answered.
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
    /// True if a hook can change the arguments of a call, at this event before a tool.
    rewrites: fn(event: &str) -> bool,
    /// The payload of a canary in that session.
    canary: fn(session: &str) -> Value,
    /// True if exit code and standard output are a refusal.
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

/// The moment of `event`; `None` where `client` has no such event as far as is known.
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
    match own(client) {
        Some(own) => (own.read)(event, bytes),
        None => shared_dialect::read(&client.spec().shape, moment(client, event), event, bytes),
    }
}

/// Says `say` to `client` at `event`.
pub fn reply(
    client: Client,
    event: &str,
    moment: HookMoment,
    calls: &[CompletedCall],
    say: &Instruction,
) -> Reply {
    let request = Request { event, moment, calls };
    match own(client) {
        Some(own) => (own.reply)(request, say),
        None => shared_dialect::reply(&client.spec().shape, request, say),
    }
}

/// True if a hook of `client` before a tool, whose event has the style of `event`, can change the arguments of a call.
pub fn rewrites(client: Client, event: &str) -> bool {
    own(client).map_or_else(|| client.spec().shape.rewrites.is_some(), |own| (own.rewrites)(event))
}

/// True if a prompt is a person's, so that what is counted per turn begins anew.
pub fn is_of_a_person(prompt: Option<&str>, own: &str) -> bool {
    let machine = |text: &str| text.contains(own) || text.trim_start().starts_with("<task-notification>");
    !prompt.is_some_and(machine)
}

/// The client's event before a tool, and a payload of it in `session`.
pub fn canary(client: Client, session: &str) -> (&'static str, String) {
    let spec = client.spec();
    let before = spec.events().find(|(_, moment)| *moment == HookMoment::BeforeTool);
    let event = before.map_or("", |(event, _)| event);
    let payload = match own(client) {
        Some(own) => (own.canary)(session),
        None => shared_dialect::canary(&spec.shape, event, session),
    };
    (event, payload.to_string())
}

/// True if a hook that ended with `code` and wrote `stdout` has refused, as that client takes it.
pub fn has_refused(client: Client, code: Option<i32>, stdout: &str) -> bool {
    own(client).map_or(exits_refusing(code, stdout), |own| (own.has_refused)(code, stdout))
}

/// The refusal of most clients.
fn exits_refusing(code: Option<i32>, _: &str) -> bool {
    code == Some(2)
}

#[cfg(test)]
mod tests;
