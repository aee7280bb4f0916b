//! A client of coding agents, as a value: the rows are in `clients`.

use super::events::CallEnd;

/// A client by the name that its hooks give on the command line: client and event are given, never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    Cursor,
    /// Before opencode, whose marker it sets too.
    Kilo,
    Opencode,
    Cline,
    Openhands,
    Goose,
    Pi,
    Crush,
    Droid,
    Auggie,
    Amp,
    Kiro,
    Kimi,
    /// Any client with hooks that has no row of its own.
    Generic,
}

/// The moments at which a client calls a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookMoment {
    /// A tool is about to run, and may be refused.
    BeforeTool,
    /// A tool has run.
    AfterTool,
    /// A turn is about to end.
    TurnEnd,
    /// A session begins.
    SessionStart,
    /// Something was asked of the agent, mostly by a person.
    Prompt,
    /// The context window is about to be compacted.
    Compacting,
    /// It was.
    Compacted,
    /// The client's settings have changed.
    SettingsChanged,
    /// The model has answered: the client knows of tokens.
    Answered,
    /// Any other event of the client: nothing follows.
    Aside,
}

impl HookMoment {
    /// The names of events, of all clients together. An event that is not listed is [`HookMoment::Aside`].
    pub(super) const EVENTS: [(Self, &'static str); 9] = [
        (
            Self::BeforeTool,
            "PreToolUse preToolUse pre_tool_use BeforeTool beforeShellExecution beforeMCPExecution \
             tool.execute.before tool_call tool.call",
        ),
        (
            Self::AfterTool,
            "PostToolUse postToolUse post_tool_use AfterTool PostToolUseFailure postToolUseFailure PostToolBatch \
             afterShellExecution afterMCPExecution afterFileEdit tool.execute.after message.part.updated tool_result \
             tool.result",
        ),
        (
            Self::TurnEnd,
            "Stop stop agentStop AfterAgent session.idle TaskComplete agent_before_settle agent.end",
        ),
        (
            Self::SessionStart,
            "SessionStart sessionStart session_start session.start session.created \
             experimental.chat.system.transform TaskStart TaskResume",
        ),
        (
            Self::Prompt,
            "UserPromptSubmit userPromptSubmitted user_prompt_submit PromptSubmit BeforeAgent beforeSubmitPrompt \
             chat.message before_agent_start agent.start",
        ),
        (Self::Compacting, "PreCompact preCompact experimental.session.compacting session_before_compact"),
        (Self::Compacted, "PostCompact session.compacted session_compact"),
        (Self::SettingsChanged, "ConfigChange"),
        (Self::Answered, "AfterModel message.updated"),
    ];

    fn of_event(name: &str) -> Self {
        let has = |(_, names): &&(Self, &str)| names.split(' ').any(|known| known == name);
        Self::EVENTS.iter().find(has).map_or(Self::Aside, |(moment, _)| *moment)
    }
}

/// All that is known of one client.
#[derive(Debug)]
pub struct ClientSpec {
    pub client: Client,
    /// The name on the command line, in the journal and in records.
    pub name: &'static str,
    pub title: &'static str,
    /// The program that people start, where it is one.
    pub program: Option<&'static str>,
    /// Variables that its shell carries, each with the only value that counts where there is one.
    pub markers: &'static [(&'static str, Option<&'static str>)],
    /// A variable with the id of the session.
    pub session: Option<&'static str>,
    /// Parts of the addresses under which it commits, in small letters.
    pub addresses: &'static [&'static str],
    /// Its events by its own names, one space between two.
    pub events: &'static str,
    pub dialect: Dialect,
    /// The format of its transcript, where that is read.
    pub transcript: Option<Transcript>,
    /// Tokens in the context window of its usual model, where that is not the default of the rule and nothing else says so.
    pub window: Option<u64>,
    /// A variable, with its value, that its hooks have where a person sits before it.
    pub attended: Option<(&'static str, &'static str)>,
    pub habits: Habits,
    pub settings: Settings,
    /// The file in a repository whose text its model is given with every session.
    pub memory: &'static str,
    pub trust: TrustBy,
    /// The step that a person has to take before it runs the hooks of a project, as a sentence.
    pub step_in_project: Option<&'static str>,
    /// The same of the hooks of a user.
    pub step_of_user: Option<&'static str>,
}

impl ClientSpec {
    /// The ways to end its session, where it is of the common shape.
    pub fn ends(&self) -> Option<Ends> {
        match &self.dialect {
            Dialect::Shaped(shape) => Some(shape.ends),
            Dialect::Own => None,
        }
    }

    /// Its events with what they mean, in the order of the row.
    pub fn events(&self) -> impl Iterator<Item = (&'static str, HookMoment)> + use<> {
        self.events.split(' ').map(|name| (name, HookMoment::of_event(name)))
    }
}

/// The form of payloads and of the answers to them.
#[derive(Debug)]
pub enum Dialect {
    /// In the shape of Claude Code, which most clients share.
    Shaped(Shape),
    /// By a reader of its own in `andon-agents`.
    Own,
}

/// The differences of a client of the common shape from the others.
#[derive(Debug)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// A hook that blocks a prompt: nothing is sent to the model.
    pub at_prompts: bool,
    /// `continue: false` before a tool.
    pub before_tools: bool,
    /// `continue: false` at the end of a turn; another client takes it for a hold, and ends by itself.
    pub at_turn_ends: bool,
}

/// The form in which an answer gives a call other arguments.
#[derive(Debug, Clone, Copy)]
pub struct Rewrites {
    /// Their member.
    pub member: &'static str,
    /// The `permissionDecision` without which the client ignores them.
    pub decision: Option<&'static str>,
}

/// The answer of a tool: its text, and the end of the call, by the first of these that tells it.
#[derive(Debug)]
pub struct Answer {
    pub text: AnswerText,
    /// The member that says that the call was interrupted: how it ended is unknown.
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
#[derive(Debug)]
pub enum AnswerText {
    /// The answer as it is.
    Whole,
    /// These members, one after the other; the answer as it is where it has none of them.
    Joined(&'static [&'static str]),
    /// This member, without lines that differ in every answer.
    Lasting(&'static str),
    /// The `text` of each part in this list.
    Parts(&'static str),
}

/// The place of the exit code in an answer.
#[derive(Debug)]
pub enum ExitCode {
    /// A member; a negative number is a command that still runs.
    Member(&'static str),
    /// A line of the text, for these tools; for any where the list is empty.
    Line(&'static [&'static str]),
}

/// The tokens that a payload has.
#[derive(Debug, Clone, Copy)]
pub enum Tokens {
    /// `context_tokens`: the fill of the window.
    Context,
    /// `input_tokens`: what was sent, which is the fill.
    Input,
    /// The model's answer in `llm_response`.
    Response,
}

/// A format of transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Habits {
    /// Of most clients.
    pub const USUAL: Self = Self {
        prompts_itself: false,
        ends_regardless: false,
        subagent_sessions: false,
        compacts_in_silence: false,
        hears_at_compaction: false,
        shell_without_hooks: false,
        deaf_at_prompts: false,
        deaf_before_tools: false,
    };
}

/// The place of installed hooks.
#[derive(Debug)]
pub struct Settings {
    /// The file, or the folder of several, from the top of a repository.
    pub project: &'static str,
    /// The same from `home`.
    pub user: &'static str,
    pub home: Home,
    /// Whose the file is.
    pub owner: FileOwner,
    /// The files that are put there: one nameless file, or those of a folder.
    pub files: &'static [Piece],
    pub start: CommandStart,
}

/// One file that is installed.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// Its place in the folder; empty where there is no folder.
    pub name: &'static str,
    /// Our file below `hooks/agents/`.
    pub template: &'static str,
    /// The text that takes the place of `@EVENT@`.
    pub event: &'static str,
}

/// The folder of a user's settings.
#[derive(Debug, Clone, Copy)]
pub enum Home {
    /// In the home directory.
    Home,
    /// In the directory that this variable names, where it is set; else in the home directory.
    Variable(&'static str),
    /// In `$XDG_CONFIG_HOME`.
    Config,
}

/// Whose a file is, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOwner {
    /// Ours are merged into settings that hold other things too.
    Shared,
    /// The whole file is ours.
    Whole,
    /// The whole file is ours, and it is started.
    Program,
}

/// The way in which a client starts a command of its settings.
#[derive(Debug, Clone, Copy)]
pub enum CommandStart {
    /// By `sh`.
    Sh,
    /// By `bash`.
    Bash,
    /// By the login shell of the person.
    Login,
    /// From a plugin, which names the program in its second line.
    Plugin,
}

/// Who decides whether hooks that were installed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustBy {
    /// No one: they run.
    NoOne,
    /// The client is asked: Codex keeps what it trusts by a hash that only it knows to make.
    Codex,
    /// A person trusts folders, which are listed in this file of the home directory.
    Folders(&'static str),
    /// A person trusts folders, of which there is no list.
    Unlisted,
}

/// Settings that hold other things too, at the same path in a repository and in the home directory.
pub(super) const fn merged(path: &'static str, files: &'static [Piece]) -> Settings {
    Settings {
        project: path,
        user: path,
        home: Home::Home,
        owner: FileOwner::Shared,
        files,
        start: CommandStart::Sh,
    }
}

/// A plugin, at the same path in a repository and in the home directory.
pub(super) const fn plugin(path: &'static str, files: &'static [Piece]) -> Settings {
    Settings { owner: FileOwner::Whole, start: CommandStart::Plugin, ..merged(path, files) }
}

/// The only file of a client.
pub(super) const fn only(template: &'static str) -> Piece {
    Piece { name: "", template, event: "" }
}

/// A program that is started at an event.
pub(super) const fn program(event: &'static str, template: &'static str) -> Piece {
    Piece { name: event, template, event }
}
