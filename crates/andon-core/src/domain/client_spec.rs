//! The clients of coding agents. A new one is a variant of [`Client`], a row at the same place of `clients.json` and of
//! `client_signs.json`, and its folder below `hooks/agents/`; where its payloads have a shape of their own, a reader in `andon-agents` as well.

use std::sync::LazyLock;

use serde::Deserialize;

use super::CallEnd;

/// The text of `clients.json`, which has no escapes: its words are borrowed.
#[derive(Default, Deserialize)]
struct Table {
    /// The names of events, of all clients together. An event that is not listed is [`HookMoment::Aside`].
    #[serde(borrow)]
    moments: Vec<(HookMoment, Vec<&'static str>)>,
    /// In the order of [`Client`]; the test below holds that it can be read.
    clients: Vec<ClientSpec>,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| serde_json::from_str(include_str!("clients.json")).unwrap_or_default());

static SIGNS: LazyLock<Vec<ClientSigns>> =
    LazyLock::new(|| serde_json::from_str(include_str!("client_signs.json")).unwrap_or_default());

impl Client {
    /// The row of the table.
    pub fn spec(self) -> &'static ClientSpec {
        &TABLE.clients[self as usize]
    }

    /// The row of the small table, which each git hook reads.
    pub fn signs(self) -> &'static ClientSigns {
        &SIGNS[self as usize]
    }
}

crate::named_enum! {
    /// A client by the name that its hooks give on the command line: client and event are given, never guessed.
    pub enum Client, "the name of an agent's client" {
        Claude = "claude",
        Codex = "codex",
        Gemini = "gemini",
        Qwen = "qwen",
        Copilot = "copilot",
        Cursor = "cursor",
        /// Before opencode, whose marker it sets too.
        Kilo = "kilo",
        Opencode = "opencode",
        Cline = "cline",
        Openhands = "openhands",
        Goose = "goose",
        Pi = "pi",
        Crush = "crush",
        Droid = "droid",
        Auggie = "auggie",
        Amp = "amp",
        Kiro = "kiro",
        Kimi = "kimi",
        /// Any client with hooks that has no row of its own.
        Generic = "generic",
    }
}

crate::named_enum! {
    /// The moments at which a client calls a hook, by the words that people know them by.
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum HookMoment {
        /// A tool is about to run, and may be refused.
        BeforeTool = "before a tool",
        /// The client decides whether a call that no hook refused may run: the session of a halted loop can end there.
        Permission = "a permission",
        /// A tool has run.
        AfterTool = "after a tool",
        /// A turn is about to end.
        TurnEnd = "end of a turn",
        /// A session begins.
        SessionStart = "a session begins",
        /// Something was asked of the agent, mostly by a person.
        Prompt = "a prompt",
        /// The context window is about to be compacted.
        Compacting = "before a compaction",
        /// It was.
        Compacted = "after a compaction",
        /// The client's settings have changed.
        SettingsChanged = "settings change",
        /// The model has answered: the client knows of tokens.
        Answered = "the model has answered",
        /// Any other event of the client: nothing follows.
        Aside = "anything else",
    }
}

impl HookMoment {
    fn of_event(name: &str) -> Self {
        let has = |(_, names): &&(Self, Vec<&str>)| names.contains(&name);
        TABLE.moments.iter().find(has).map_or(Self::Aside, |(moment, _)| *moment)
    }
}

/// The signs by which a client is known in an environment and in commits, and where its settings are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSigns {
    pub client: Client,
    /// Variables that its shell carries, each with the only value that counts where there is one.
    #[serde(default)]
    pub markers: Vec<(&'static str, Option<&'static str>)>,
    /// A variable with the id of the session.
    pub session: Option<&'static str>,
    /// Parts of the addresses under which it commits, in small letters.
    #[serde(default)]
    pub addresses: Vec<&'static str>,
    #[serde(default)]
    pub home: Home,
}

/// All that is known of one client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    pub client: Client,
    /// A remark for those who edit the row.
    pub note: Option<&'static str>,
    /// The name that people use for it.
    pub title: &'static str,
    /// The program that people start, where it is one.
    pub program: Option<&'static str>,
    /// Its events by its own names.
    events: Vec<&'static str>,
    /// The form of payloads and of the answers to them, where no reader of its own in `andon-agents` knows better.
    #[serde(default)]
    pub shape: Shape,
    /// The format of its transcript, where that is read.
    pub transcript: Option<Transcript>,
    /// Tokens in the context window of its usual model, where that is not the default of the rule and nothing else says so.
    pub window: Option<u64>,
    /// A variable, with its value, that its hooks have where a person sits before it.
    pub attended: Option<(&'static str, &'static str)>,
    #[serde(default)]
    pub habits: Habits,
    #[serde(default)]
    pub settings: Settings,
    /// The file in a repository whose text its model is given with every session.
    pub memory: &'static str,
    #[serde(default)]
    pub trust: TrustBy,
    /// The step that a person has to take before it runs the hooks of a project, as a sentence.
    pub step_in_project: Option<&'static str>,
    /// The same of the hooks of a user.
    pub step_of_user: Option<&'static str>,
}

impl ClientSpec {
    /// Its events with what they mean, in the order of the row.
    pub fn events(&'static self) -> impl Iterator<Item = (&'static str, HookMoment)> {
        self.events.iter().map(|name| (*name, HookMoment::of_event(name)))
    }
}

/// The shape of Claude Code, which most clients share, and what differs in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shape {
    /// The name of its shell.
    pub shell: &'static str,
    pub answer: Answer,
    /// The moment whose payload has tokens, and their place.
    pub tokens: Option<(HookMoment, Tokens)>,
    /// The member of an answer for other arguments; `None` where they cannot be changed.
    pub rewrites: Option<Rewrites>,
    /// A text for the model is a member beside the others, and a text for people goes to standard error.
    pub flat: bool,
    pub ends: Ends,
}

/// The ways to end a session whose loop is halted, beside a refusal, which a model may ignore for ever.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ends {
    /// A hook that blocks a prompt: nothing is sent to the model.
    pub at_prompts: Option<LastRefusal>,
    /// A refusal before a tool that is the last one.
    pub before_tools: Option<LastRefusal>,
    /// `continue: false` at the end of a turn; another client takes it for a hold, and ends by itself.
    pub at_turn_ends: bool,
}

/// The form of a refusal that ends the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastRefusal {
    /// An answer on standard output, with exit code 0: `continue: false` before a tool, `decision: block` at a prompt.
    Answer,
    /// Exit code 2, with the reason on standard error.
    Exit,
    /// The same beside an ordinary refusal: our plugin ends the session, and one of an earlier version refuses.
    Plugin,
    /// A call of the shell becomes one that fails, and the hook that is then asked for permission ends the session.
    Permission,
}

/// The form in which an answer gives a call other arguments.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrites {
    /// Their member.
    pub member: &'static str,
    /// The `permissionDecision` without which the client ignores them.
    pub decision: Option<&'static str>,
}

/// The answer of a tool: its text, and the end of the call, by the first of these that tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    pub text: AnswerText,
    /// The member that says that the call was interrupted: how it ended is unknown.
    #[serde(borrow)]
    pub interrupted: Option<&'static str>,
    /// The member that says whether it failed: a bool, or an error.
    pub failed: Option<&'static str>,
    pub exit: Option<ExitCode>,
    /// The end where nothing else says so, if there is an answer.
    pub answered: CallEnd,
    /// The end without an answer.
    pub unanswered: CallEnd,
}

/// The place of the text in an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerText {
    /// The answer as it is.
    #[default]
    Whole,
    /// These members, one after the other; the answer as it is where it has none of them.
    Joined(#[serde(borrow)] Vec<&'static str>),
    /// This member, without lines that differ in every answer.
    Lasting(&'static str),
    /// The `text` of each part in this list.
    Parts(&'static str),
}

/// The place of the exit code in an answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitCode {
    /// A member; a negative number is a command that still runs.
    Member(&'static str),
    /// A line of the text, for these tools; for any where the list is empty.
    Line(#[serde(borrow)] Vec<&'static str>),
}

/// The tokens that a payload has.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokens {
    /// `context_tokens`: the fill of the window.
    Context,
    /// `input_tokens`: what was sent, which is the fill.
    Input,
    /// The model's answer in `llm_response`.
    Response,
}

/// A format of transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transcript {
    /// Claude Code's.
    Claude,
    /// Codex's, which has the exit codes of commands as well.
    Codex,
    /// Qwen Code's.
    Qwen,
    /// Copilot CLI's log of events.
    Copilot,
}

impl Transcript {
    /// The transcript of a session, below the home directory, for a client that does not name it with every event.
    pub fn of_session(self, session: &str) -> Option<String> {
        let is_name = !session.is_empty() && session.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        match self {
            Self::Copilot if is_name => Some(format!(".copilot/session-state/{session}/events.jsonl")),
            Self::Claude | Self::Codex | Self::Qwen | Self::Copilot => None,
        }
    }
}

/// The differences of a client from most others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Habits {
    /// It asks before nearly every request to its model: a prompt is no sign of a person.
    pub prompts_itself: bool,
    /// It ends the turn whatever is said.
    pub ends_regardless: bool,
    /// A subagent has a session of its own, whose beginning no hook reports.
    pub subagent_sessions: bool,
    /// It calls a hook before a compaction and none afterwards.
    pub compacts_in_silence: bool,
    /// A text that is said before a compaction comes to the model.
    pub hears_at_compaction: bool,
    /// Its shell keeps git from running hooks that are files.
    pub shell_without_hooks: bool,
    /// A text that is said at a prompt does not come to the model.
    pub deaf_at_prompts: bool,
    /// A text that is said before a tool does not come to the model.
    pub deaf_before_tools: bool,
}

/// The place of installed hooks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The file, or the folder of several, from the top of a repository.
    pub project: &'static str,
    /// The same from `home`.
    pub user: &'static str,
    /// Whose the file is.
    pub owner: FileOwner,
    /// The files that are put there: one nameless file, or those of a folder.
    pub files: Vec<Piece>,
    pub start: CommandStart,
}

/// One file that is installed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Piece {
    /// Its place in the folder; empty where there is no folder.
    pub name: &'static str,
    /// Our file below `hooks/agents/`.
    pub template: &'static str,
    /// The text that takes the place of `@EVENT@`.
    pub event: &'static str,
}

/// The folder of a user's settings.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// In the home directory.
    #[default]
    Home,
    /// In the directory that this variable names, where it is set; else in the home directory.
    Variable(&'static str),
    /// In `$XDG_CONFIG_HOME`.
    Config,
}

/// Whose a file is, and what it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOwner {
    /// Ours are merged into settings that hold other things too.
    #[default]
    Shared,
    /// The whole file is ours.
    Whole,
    /// The whole file is ours, and it is started.
    Program,
}

/// The way in which a client starts a command of its settings.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandStart {
    #[default]
    Sh,
    Bash,
    /// By the login shell of the person.
    Login,
    /// From a plugin, which names the program in its second line.
    Plugin,
}

/// Who decides whether hooks that were installed run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustBy {
    /// No one: they run.
    #[default]
    NoOne,
    /// The client is asked: Codex keeps what it trusts by a hash that only it knows to make.
    Codex,
    /// A person trusts folders, which are listed in this file of the home directory.
    Folders(&'static str),
    /// A person trusts folders, of which there is no list.
    Unlisted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_row_and_no_event_is_misspelt() -> Result<(), serde_json::Error> {
        let table: Table = serde_json::from_str(include_str!("clients.json"))?;
        let clients: Vec<Client> = table.clients.iter().map(|row| row.client).collect();
        let signs: Vec<ClientSigns> = serde_json::from_str(include_str!("client_signs.json"))?;
        assert_eq!(clients, Client::ALL.map(|(client, _)| client));
        assert_eq!(signs.iter().map(|row| row.client).collect::<Vec<_>>(), clients);
        let heard: Vec<&str> =
            Client::every().flat_map(|client| client.spec().events()).map(|(name, _)| name).collect();
        for name in table.moments.iter().flat_map(|(_, names)| names) {
            assert!(heard.contains(name), "no client has an event {name}");
        }
        Ok(())
    }
}
