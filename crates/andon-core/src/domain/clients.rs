//! The clients of coding agents, a row each. A new one is a row, a line of the registry, and its folder below `hooks/agents/`;
//! where its payloads have a shape of their own, a reader in `andon-agents` as well.

use super::client_spec::HookMoment::{
    AfterTool, Answered, Aside, BeforeTool, Compacted, Compacting, Prompt, SessionStart, SettingsChanged,
    TurnEnd,
};
use super::client_spec::{
    Answer, AnswerText, ClientSpec, CommandStart, Dialect, ExitCode, FileOwner, Habits, Home, Piece,
    Rewrites, Settings, Shape, Tokens, Transcript, TrustBy,
};
use super::codec::named;
use super::events::CallEnd;

macro_rules! registry {
    ($($(#[$doc:meta])* $client:ident = $row:ident,)*) => {
        /// A client by the name that its hooks give on the command line: client and event are given, never guessed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Client {
            $($(#[$doc])* $client,)*
        }

        impl Client {
            /// Every client with its name on the command line, in the journal and in records.
            pub const ALL: [(Self, &'static str); [$($row.name),*].len()] = [$((Self::$client, $row.name)),*];

            /// What is known of it.
            pub fn spec(self) -> &'static ClientSpec {
                match self {
                    $(Self::$client => const { &$row },)*
                }
            }
        }
    };
}

registry! {
    /// Claude Code.
    Claude = CLAUDE,
    /// Codex.
    Codex = CODEX,
    /// Gemini CLI.
    Gemini = GEMINI,
    /// Qwen Code.
    Qwen = QWEN,
    /// GitHub Copilot CLI.
    Copilot = COPILOT,
    /// Cursor.
    Cursor = CURSOR,
    /// opencode.
    Opencode = OPENCODE,
    /// Cline.
    Cline = CLINE,
    /// `OpenHands`.
    Openhands = OPENHANDS,
    /// goose.
    Goose = GOOSE,
}

named!(Client, "the name of an agent's client");

/// Settings that hold other things too, at the same path in a repository and in the home directory.
const fn merged(path: &'static str, files: &'static [Piece]) -> Settings {
    Settings {
        project: path,
        user: path,
        home: Home::Home,
        owner: FileOwner::Shared,
        files,
        start: CommandStart::Sh,
    }
}

/// The only file of a client.
const fn only(template: &'static str) -> Piece {
    Piece { name: "", template, event: "" }
}

/// A program that is started at an event.
const fn program(event: &'static str, template: &'static str) -> Piece {
    Piece { name: event, template, event }
}

const CLAUDE: ClientSpec = ClientSpec {
    name: "claude",
    title: "Claude Code",
    program: Some("claude"),
    markers: &[("CLAUDECODE", None), ("CLAUDE_CODE_SESSION_ID", None)],
    session: None,
    addresses: &["noreply@anthropic.com"],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("PostToolBatch", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("PreCompact", Compacting),
        ("PostCompact", Compacted),
        ("ConfigChange", SettingsChanged),
        ("SubagentStart", Aside),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
        ("Notification", Aside),
        ("StopFailure", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Bash",
        answer: Answer {
            text: AnswerText::Joined(&["stdout", "stderr"]),
            interrupted: Some("interrupted"),
            failed: None,
            exit: None,
            answered: CallEnd::Done,
            unanswered: CallEnd::Done,
        },
        tokens: Some((SessionStart, Tokens::Context)),
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: Some(Transcript::Claude),
    window: None,
    attended: Some(("CLAUDE_CODE_ENTRYPOINT", "cli")),
    habits: Habits::USUAL,
    settings: Settings {
        home: Home::Variable("CLAUDE_CONFIG_DIR"),
        ..merged(".claude/settings.json", &[only("claude/settings.json")])
    },
    memory: "CLAUDE.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const CODEX: ClientSpec = ClientSpec {
    name: "codex",
    title: "Codex",
    program: Some("codex"),
    markers: &[
        ("CODEX_THREAD_ID", None),
        ("CODEX_SESSION_ID", None),
        ("CODEX_SANDBOX", None),
        ("CODEX_CI", None),
    ],
    session: Some("CODEX_THREAD_ID"),
    addresses: &["noreply@openai.com"],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("PreCompact", Compacting),
        ("PostCompact", Compacted),
        ("PermissionRequest", Aside),
        ("SubagentStart", Aside),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
        ("Interrupt", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Bash",
        answer: Answer {
            text: AnswerText::Whole,
            interrupted: None,
            failed: None,
            // The exit code of a command is looked up in the rollout file.
            exit: Some(ExitCode::Line(&["apply_patch"])),
            answered: CallEnd::Unknown,
            unanswered: CallEnd::Unknown,
        },
        tokens: None,
        // Without a decision it ignores them, by its own error text. What else the decision grants was not seen.
        rewrites: Some(Rewrites { member: "updatedInput", decision: Some("allow") }),
        flat: false,
    }),
    transcript: Some(Transcript::Codex),
    window: Some(258_400),
    attended: None,
    habits: Habits::USUAL,
    settings: Settings {
        home: Home::Variable("CODEX_HOME"),
        start: CommandStart::Login,
        ..merged(".codex/hooks.json", &[only("codex/hooks.json")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::Codex,
    step_in_project: Some(
        "Codex runs the hooks of a project only once you trust both: start `codex` in this repository, accept the \
         folder, and trust the hooks under `/hooks`; again whenever they change",
    ),
    step_of_user: Some(
        "Codex runs hooks only once you trust them: start `codex`, and trust them under `/hooks`; again \
         whenever they change",
    ),
};

/// What the tools of Gemini CLI answer, and those of Qwen Code: the shell has a line `Exit Code: N` only where that is not 0.
const OF_GEMINI: Answer = Answer {
    text: AnswerText::Lasting("llmContent"),
    interrupted: None,
    failed: Some("error"),
    exit: Some(ExitCode::Line(&[])),
    answered: CallEnd::Done,
    unanswered: CallEnd::Unknown,
};

const GEMINI: ClientSpec = ClientSpec {
    name: "gemini",
    title: "Gemini CLI",
    program: Some("gemini"),
    markers: &[("GEMINI_CLI", None)],
    session: None,
    addresses: &[],
    events: &[
        ("BeforeTool", BeforeTool),
        ("AfterTool", AfterTool),
        ("BeforeAgent", Prompt),
        ("AfterAgent", TurnEnd),
        ("SessionStart", SessionStart),
        ("AfterModel", Answered),
        // It comes before every request to the model: no sign of a compaction.
        ("PreCompress", Aside),
        ("BeforeModel", Aside),
        ("BeforeToolSelection", Aside),
        ("SessionEnd", Aside),
        ("Notification", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "run_shell_command",
        answer: OF_GEMINI,
        tokens: Some((Answered, Tokens::Response)),
        rewrites: Some(Rewrites { member: "tool_input", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: Some(1_000_000),
    attended: None,
    habits: Habits { shell_without_hooks: true, deaf_before_tools: true, ..Habits::USUAL },
    settings: merged(".gemini/settings.json", &[only("gemini/settings.json")]),
    memory: "GEMINI.md",
    trust: TrustBy::Folders(".gemini/trustedFolders.json"),
    step_in_project: Some(
        "Gemini CLI runs the hooks of a project only in a trusted folder: start `gemini` in this repository and \
         trust it (--skip-trust alone runs none)",
    ),
    step_of_user: None,
};

const QWEN: ClientSpec = ClientSpec {
    name: "qwen",
    title: "Qwen Code",
    program: Some("qwen"),
    markers: &[("QWEN_CODE", None)],
    session: None,
    addresses: &[],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("PreCompact", Compacting),
        ("PostCompact", Compacted),
        ("SubagentStart", Aside),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
        ("Notification", Aside),
        ("PermissionRequest", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "run_shell_command",
        answer: OF_GEMINI,
        tokens: Some((TurnEnd, Tokens::Input)),
        // Seen in 0.24.4: it reads a decision and context, and no other arguments.
        rewrites: None,
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { prompts_itself: true, compacts_in_silence: true, ..Habits::USUAL },
    settings: merged(".qwen/settings.json", &[only("qwen/settings.json")]),
    memory: "QWEN.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const COPILOT: ClientSpec = ClientSpec {
    name: "copilot",
    title: "Copilot CLI",
    program: Some("copilot"),
    markers: &[("COPILOT_CLI", None)],
    session: None,
    addresses: &["copilot@users.noreply.github.com"],
    events: &[
        ("preToolUse", BeforeTool),
        ("postToolUse", AfterTool),
        ("postToolUseFailure", AfterTool),
        ("userPromptSubmitted", Prompt),
        ("agentStop", TurnEnd),
        ("sessionStart", SessionStart),
        ("preCompact", Compacting),
        ("subagentStart", Aside),
        ("subagentStop", Aside),
        ("sessionEnd", Aside),
        ("permissionRequest", Aside),
        ("errorOccurred", Aside),
        ("notification", Aside),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("PreCompact", Compacting),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
    ],
    dialect: Dialect::Own,
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { compacts_in_silence: true, ..Habits::USUAL },
    settings: Settings {
        user: ".copilot/hooks/andon.json",
        owner: FileOwner::Whole,
        start: CommandStart::Bash,
        ..merged(".github/hooks/andon.json", &[only("copilot/andon.json")])
    },
    memory: ".github/copilot-instructions.md",
    trust: TrustBy::Unlisted,
    step_in_project: Some(
        "Copilot CLI runs the hooks of a repository only in a trusted folder: trust it when `copilot` asks, or \
         pass --trust-folder",
    ),
    step_of_user: None,
};

const CURSOR_STEP: Option<&str> = Some("Cursor's cloud agents run no hook at the end of a turn");

const CURSOR: ClientSpec = ClientSpec {
    name: "cursor",
    title: "Cursor",
    program: Some("cursor-agent"),
    markers: &[("CURSOR_AGENT", None)],
    session: None,
    addresses: &["cursoragent@cursor.com"],
    events: &[
        ("preToolUse", BeforeTool),
        ("beforeShellExecution", BeforeTool),
        ("beforeMCPExecution", BeforeTool),
        ("beforeReadFile", Aside),
        ("postToolUse", AfterTool),
        ("postToolUseFailure", AfterTool),
        ("afterShellExecution", AfterTool),
        ("afterMCPExecution", AfterTool),
        ("afterFileEdit", AfterTool),
        ("beforeSubmitPrompt", Prompt),
        ("stop", TurnEnd),
        ("sessionStart", SessionStart),
        ("preCompact", Compacting),
        ("subagentStart", Aside),
        ("subagentStop", Aside),
        ("sessionEnd", Aside),
        ("afterAgentResponse", Aside),
        ("afterAgentThought", Aside),
    ],
    dialect: Dialect::Own,
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { compacts_in_silence: true, deaf_at_prompts: true, ..Habits::USUAL },
    settings: merged(".cursor/hooks.json", &[only("cursor/hooks.json")]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: CURSOR_STEP,
    step_of_user: CURSOR_STEP,
};

const OPENCODE: ClientSpec = ClientSpec {
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    markers: &[("OPENCODE", None)],
    session: None,
    addresses: &["@opencode.ai"],
    events: &[
        ("tool.execute.before", BeforeTool),
        ("tool.execute.after", AfterTool),
        ("chat.message", Prompt),
        ("experimental.session.compacting", Compacting),
        // It comes with every request to the model.
        ("experimental.chat.system.transform", Aside),
        ("session.created", SessionStart),
        ("session.idle", TurnEnd),
        ("session.compacted", Compacted),
        ("message.updated", Answered),
        ("message.part.updated", AfterTool),
        ("shell.env", Aside),
        ("permission.ask", Aside),
        ("event", Aside),
    ],
    dialect: Dialect::Own,
    transcript: None,
    window: None,
    attended: None,
    habits: Habits {
        ends_regardless: true,
        subagent_sessions: true,
        deaf_before_tools: true,
        hears_at_compaction: true,
        ..Habits::USUAL
    },
    settings: Settings {
        user: "opencode/plugin/andon.js",
        home: Home::Config,
        owner: FileOwner::Whole,
        start: CommandStart::Plugin,
        ..merged(".opencode/plugin/andon.js", &[only("opencode/andon.js")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const CLINE_STEP: Option<&str> =
    Some("Cline runs hooks where they are enabled in its settings; its CLI runs none with --yolo");

const CLINE: ClientSpec = ClientSpec {
    name: "cline",
    title: "Cline",
    // An extension of an editor, for most.
    program: None,
    markers: &[("CLINE_ACTIVE", None), ("CLINE_CONNECTOR_CLI_LAUNCH", None)],
    session: None,
    addresses: &[],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("TaskStart", SessionStart),
        ("TaskResume", SessionStart),
        ("UserPromptSubmit", Prompt),
        ("TaskComplete", TurnEnd),
        ("TaskCancel", Aside),
        ("PreCompact", Compacting),
        ("SessionShutdown", Aside),
    ],
    dialect: Dialect::Own,
    transcript: None,
    window: None,
    attended: None,
    habits: Habits {
        ends_regardless: true,
        compacts_in_silence: true,
        hears_at_compaction: true,
        ..Habits::USUAL
    },
    settings: Settings {
        user: ".cline/hooks",
        owner: FileOwner::Program,
        ..merged(
            ".clinerules/hooks",
            &[
                program("TaskStart", "cline/hook.sh"),
                program("TaskResume", "cline/hook.sh"),
                program("UserPromptSubmit", "cline/hook.sh"),
                program("PreToolUse", "cline/hook.sh"),
                program("PostToolUse", "cline/hook.sh"),
                program("PreCompact", "cline/hook.sh"),
                program("TaskComplete", "cline/hook.sh"),
            ],
        )
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: CLINE_STEP,
    step_of_user: CLINE_STEP,
};

const OPENHANDS: ClientSpec = ClientSpec {
    name: "openhands",
    title: "OpenHands",
    program: Some("openhands"),
    markers: &[("OR_APP_NAME", Some("OpenHands"))],
    session: None,
    addresses: &["openhands@all-hands.dev"],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("SessionEnd", Aside),
        ("pre_tool_use", BeforeTool),
        ("post_tool_use", AfterTool),
        ("user_prompt_submit", Prompt),
        ("stop", TurnEnd),
        ("session_start", SessionStart),
        ("session_end", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "terminal",
        answer: Answer {
            text: AnswerText::Parts("content"),
            interrupted: None,
            failed: Some("is_error"),
            exit: Some(ExitCode::Member("exit_code")),
            answered: CallEnd::Unknown,
            unanswered: CallEnd::Unknown,
        },
        tokens: None,
        rewrites: None,
        flat: true,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits::USUAL,
    settings: merged(".openhands/hooks.json", &[only("openhands/hooks.json")]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

/// By its documentation: it has not been run here.
const GOOSE: ClientSpec = ClientSpec {
    name: "goose",
    title: "goose",
    program: Some("goose"),
    markers: &[],
    session: None,
    addresses: &[],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("SessionEnd", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Bash",
        answer: Answer {
            text: AnswerText::Whole,
            interrupted: None,
            failed: Some("is_error"),
            exit: None,
            answered: CallEnd::Unknown,
            unanswered: CallEnd::Unknown,
        },
        tokens: None,
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits::USUAL,
    settings: Settings {
        owner: FileOwner::Whole,
        ..merged(
            ".agents/plugins/andon",
            &[
                Piece { name: "plugin.json", template: "goose/plugin.json", event: "" },
                Piece { name: "hooks/hooks.json", template: "goose/hooks/hooks.json", event: "" },
            ],
        )
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};
