#![doc = include_str!("../README.md")]

mod canary;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod opencode;
mod openhands;
mod qwen;
pub mod ruling;
mod shaped;
mod told;
mod tools;
mod transcript;

use serde_json::Value;

use andon_core::domain::agent::Client;
use andon_core::domain::agent_door::{HookMoment, ToolUse};
use andon_core::domain::usage::Usage;
use andon_core::format::FormatError;

pub use canary::{canary, has_refused};
pub use claude::settings::{calls_us, switches_off};
pub use transcript::{ReadUsage, exit_code, newest_usage};

/// Most bytes of a payload.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// What a client told.
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
    pub calls: Vec<Called>,
    /// Tokens, where the payload has them.
    pub usage: Option<Usage>,
    /// Whether a hook holds this turn already.
    pub continued: Option<bool>,
    /// The last message of the model.
    pub said: Option<String>,
    /// What was asked of the agent.
    pub prompt: Option<String>,
    /// How a session begins, or what was compacted.
    pub source: Option<String>,
    /// A file of settings that changed.
    pub file: Option<String>,
    /// The moment, where the payload says more than the event's name.
    pub moment: Option<HookMoment>,
}

/// A tool call with what it was given and what it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// What is judged.
    pub used: ToolUse,
    /// The arguments of the call, as the client sent them.
    pub args: Option<Value>,
    /// The answer, without what differs in every one.
    pub result: Option<Value>,
}

/// What is to be said to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Say {
    /// Nothing.
    Nothing,
    /// The tool does not run; the reason for the model.
    Refuse(String),
    /// The tool runs with these arguments.
    Rewrite(Value),
    /// Something that the model is to know.
    Tell(String),
    /// The turn continues; what is missing.
    Hold(String),
    /// The turn ends; what the person is to know.
    LetGo(String),
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
struct Asked<'a> {
    event: &'a str,
    moment: HookMoment,
    calls: &'a [Called],
}

/// What `event` of `client` is; `None` where the client has no such event as far as is known.
pub fn moment(client: Client, event: &str) -> Option<HookMoment> {
    let events = match client {
        Client::Claude => claude::payload::EVENTS,
        Client::Codex => codex::payload::EVENTS,
        Client::Gemini => gemini::payload::EVENTS,
        Client::Qwen => qwen::payload::EVENTS,
        Client::Copilot => copilot::payload::EVENTS,
        Client::Cursor => cursor::payload::EVENTS,
        Client::Opencode => opencode::payload::EVENTS,
        Client::Cline => cline::payload::EVENTS,
        Client::Openhands => openhands::payload::EVENTS,
        Client::Goose => goose::payload::EVENTS,
    };
    events.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
}

/// Reads a payload.
///
/// # Errors
/// [`FormatError`] where it is too long or no JSON object.
pub fn read(client: Client, event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    // Windows' clients write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match client {
        Client::Claude => claude::payload::read(event, bytes),
        Client::Codex => codex::payload::read(event, bytes),
        Client::Gemini => gemini::payload::read(event, bytes),
        Client::Qwen => qwen::payload::read(event, bytes),
        Client::Copilot => copilot::payload::read(event, bytes),
        Client::Cursor => cursor::payload::read(event, bytes),
        Client::Opencode => opencode::payload::read(event, bytes),
        Client::Cline => cline::payload::read(event, bytes),
        Client::Openhands => openhands::payload::read(event, bytes),
        Client::Goose => goose::payload::read(event, bytes),
    }
}

/// Says `say` to `client` at `event`.
pub fn reply(client: Client, (event, moment): (&str, HookMoment), calls: &[Called], say: &Say) -> Reply {
    let asked = Asked { event, moment, calls };
    match client {
        Client::Claude => claude::reply::reply(asked, say),
        Client::Codex => codex::reply::reply(asked, say),
        Client::Gemini => gemini::reply::reply(asked, say),
        Client::Qwen => qwen::reply::reply(asked, say),
        Client::Copilot => copilot::reply::reply(asked, say),
        Client::Cursor => cursor::reply::reply(asked, say),
        Client::Opencode => opencode::reply::reply(asked, say),
        Client::Cline => cline::reply::reply(asked, say),
        Client::Openhands => openhands::reply::reply(asked, say),
        Client::Goose => goose::reply::reply(asked, say),
    }
}

/// Whether a prompt of this client is a person's, so that what is counted per turn begins anew.
pub fn is_of_a_person(client: Client, prompt: Option<&str>, own: &str) -> bool {
    // Qwen asks before nearly every request to its model.
    let told = client != Client::Qwen;
    let machine = |text: &str| text.contains(own) || text.trim_start().starts_with("<task-notification>");
    told && !prompt.is_some_and(machine)
}

#[cfg(test)]
mod tests;
