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
    /// Kilo, before opencode, whose marker it sets too.
    Kilo = KILO,
    /// opencode.
    Opencode = OPENCODE,
    /// Cline.
    Cline = CLINE,
    /// `OpenHands`.
    Openhands = OPENHANDS,
    /// goose.
    Goose = GOOSE,
    /// pi.
    Pi = PI,
    /// Crush.
    Crush = CRUSH,
    /// Droid.
    Droid = DROID,
    /// Auggie.
    Auggie = AUGGIE,
    /// Amp.
    Amp = AMP,
    /// Kiro.
    Kiro = KIRO,
    /// Kimi Code.
    Kimi = KIMI,
    /// Any client with hooks that has no row of its own.
    Generic = GENERIC,
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
    session: Some("CLAUDE_CODE_SESSION_ID"),
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
    session: Some("GEMINI_SESSION_ID"),
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
    session: Some("QWEN_CODE_SESSION_ID"),
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
    transcript: Some(Transcript::Qwen),
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
    session: Some("COPILOT_AGENT_SESSION_ID"),
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
    transcript: Some(Transcript::Copilot),
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

/// The events of opencode's plugins, and of Kilo's, which is made from it.
const OF_OPENCODE: &[(&str, super::client_spec::HookMoment)] = &[
    ("tool.execute.before", BeforeTool),
    ("tool.execute.after", AfterTool),
    ("chat.message", Prompt),
    ("experimental.session.compacting", Compacting),
    // Our plugin asks once, in a session that was there before it.
    ("experimental.chat.system.transform", SessionStart),
    ("session.created", SessionStart),
    ("session.idle", TurnEnd),
    ("session.compacted", Compacted),
    ("message.updated", Answered),
    ("message.part.updated", AfterTool),
    ("shell.env", Aside),
    ("permission.ask", Aside),
    ("event", Aside),
];

const HABITS_OF_OPENCODE: Habits = Habits {
    ends_regardless: true,
    subagent_sessions: true,
    deaf_before_tools: true,
    hears_at_compaction: true,
    ..Habits::USUAL
};

const OPENCODE: ClientSpec = ClientSpec {
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    markers: &[("OPENCODE", None)],
    session: None,
    addresses: &["@opencode.ai"],
    events: OF_OPENCODE,
    dialect: Dialect::Own,
    transcript: None,
    window: None,
    attended: None,
    habits: HABITS_OF_OPENCODE,
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

const KILO: ClientSpec = ClientSpec {
    name: "kilo",
    title: "Kilo",
    program: Some("kilo"),
    markers: &[("KILO", None)],
    session: None,
    addresses: &[],
    settings: Settings {
        user: "kilo/plugin/andon.js",
        home: Home::Config,
        owner: FileOwner::Whole,
        start: CommandStart::Plugin,
        ..merged(".kilo/plugin/andon.js", &[only("opencode/andon.js")])
    },
    ..OPENCODE
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

const PI_STEP: Option<&str> = Some(
    "pi loads the extensions of a project only once it is trusted: start `pi` in this repository and trust it",
);

/// What our extension hands over has the common shape, and pi's names.
const PI: ClientSpec = ClientSpec {
    name: "pi",
    title: "pi",
    program: Some("pi"),
    markers: &[("PI_CODING_AGENT", None)],
    session: Some("PI_SESSION_ID"),
    addresses: &[],
    events: &[
        ("tool_call", BeforeTool),
        ("tool_result", AfterTool),
        ("session_start", SessionStart),
        ("before_agent_start", Prompt),
        ("agent_before_settle", TurnEnd),
        ("session_before_compact", Compacting),
        ("session_compact", Compacted),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "bash",
        answer: Answer {
            text: AnswerText::Parts("content"),
            interrupted: None,
            failed: Some("isError"),
            exit: None,
            answered: CallEnd::Unknown,
            unanswered: CallEnd::Unknown,
        },
        tokens: Some((TurnEnd, Tokens::Context)),
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { deaf_before_tools: true, ..Habits::USUAL },
    settings: Settings {
        user: ".pi/agent/extensions/andon.js",
        owner: FileOwner::Whole,
        start: CommandStart::Plugin,
        ..merged(".pi/extensions/andon.js", &[only("pi/andon.js")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::Unlisted,
    step_in_project: PI_STEP,
    step_of_user: None,
};

/// What is known of a client that answers nothing after a tool, or whose answer says nothing of how a call ended.
const SILENT: Answer = Answer {
    text: AnswerText::Whole,
    interrupted: None,
    failed: None,
    exit: None,
    answered: CallEnd::Unknown,
    unanswered: CallEnd::Unknown,
};

/// It has one event, and answers as Claude Code does.
const CRUSH: ClientSpec = ClientSpec {
    name: "crush",
    title: "Crush",
    program: Some("crush"),
    markers: &[("CRUSH", None)],
    session: None,
    addresses: &["crush@charm.land"],
    events: &[("PreToolUse", BeforeTool)],
    dialect: Dialect::Shaped(Shape {
        shell: "bash",
        answer: SILENT,
        tokens: None,
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits::USUAL,
    settings: Settings {
        user: "crush/crush.json",
        home: Home::Config,
        ..merged(".crush.json", &[only("crush/crush.json")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const DROID_STEP: Option<&str> =
    Some("Droid reads the hooks of settings.json only where there is no hooks.json beside it");

const DROID: ClientSpec = ClientSpec {
    name: "droid",
    title: "Droid",
    program: Some("droid"),
    markers: &[],
    session: None,
    addresses: &["factory-droid[bot]@users.noreply.github.com"],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("PreCompact", Compacting),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
        ("Notification", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Execute",
        // The text of a command ends with its exit code.
        answer: Answer { exit: Some(ExitCode::Line(&["Execute"])), ..SILENT },
        tokens: None,
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { compacts_in_silence: true, ..Habits::USUAL },
    settings: merged(".factory/settings.json", &[only("droid/settings.json")]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: DROID_STEP,
    step_of_user: DROID_STEP,
};

const AUGGIE: ClientSpec = ClientSpec {
    name: "auggie",
    title: "Auggie",
    program: Some("auggie"),
    markers: &[("AUGMENT_AGENT", None)],
    session: None,
    addresses: &[],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
        ("SessionEnd", Aside),
        ("Notification", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "launch-process",
        answer: Answer { exit: Some(ExitCode::Line(&["launch-process"])), ..SILENT },
        tokens: None,
        rewrites: Some(Rewrites { member: "updatedInput", decision: None }),
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    // Exit code 2 keeps no turn going.
    habits: Habits { ends_regardless: true, deaf_before_tools: true, ..Habits::USUAL },
    settings: merged(".augment/settings.json", &[only("auggie/settings.json")]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const AMP_STEP: Option<&str> = Some(
    "Amp's interface of plugins is experimental: look into `andon agent list` whether its hooks are heard",
);

/// What our plugin hands over has the common shape, and Amp's names.
const AMP: ClientSpec = ClientSpec {
    name: "amp",
    title: "Amp",
    program: Some("amp"),
    markers: &[],
    session: None,
    addresses: &["amp@ampcode.com"],
    events: &[
        ("tool.call", BeforeTool),
        ("tool.result", AfterTool),
        ("session.start", SessionStart),
        ("agent.start", Prompt),
        ("agent.end", TurnEnd),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Bash",
        answer: Answer {
            text: AnswerText::Lasting("output"),
            interrupted: Some("interrupted"),
            failed: Some("is_error"),
            exit: None,
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
    habits: Habits { ends_regardless: true, deaf_at_prompts: true, deaf_before_tools: true, ..Habits::USUAL },
    settings: Settings {
        user: "amp/plugins/andon.js",
        home: Home::Config,
        owner: FileOwner::Whole,
        start: CommandStart::Plugin,
        ..merged(".amp/plugins/andon.js", &[only("amp/andon.js")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: AMP_STEP,
    step_of_user: AMP_STEP,
};

/// By the hooks of its third version, a file in a repository.
const KIRO: ClientSpec = ClientSpec {
    name: "kiro",
    title: "Kiro",
    program: Some("kiro-cli"),
    markers: &[],
    session: None,
    addresses: &[],
    events: &[
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("UserPromptSubmit", Prompt),
        ("Stop", TurnEnd),
        ("SessionStart", SessionStart),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "execute_bash",
        // `success` is there for a command that failed, too.
        answer: SILENT,
        tokens: None,
        rewrites: None,
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits { ends_regardless: true, ..Habits::USUAL },
    settings: Settings {
        user: "",
        owner: FileOwner::Whole,
        ..merged(".kiro/hooks/andon.json", &[only("kiro/andon.json")])
    },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

const KIMI: ClientSpec = ClientSpec {
    name: "kimi",
    title: "Kimi Code",
    program: Some("kimi"),
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
        ("PreCompact", Compacting),
        ("PostCompact", Compacted),
        ("SubagentStart", Aside),
        ("SubagentStop", Aside),
        ("SessionEnd", Aside),
        ("Notification", Aside),
        ("PermissionRequest", Aside),
        ("PermissionResult", Aside),
        ("StopFailure", Aside),
        ("Interrupt", Aside),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "Bash",
        // What failed has an event of its own.
        answer: Answer { answered: CallEnd::Done, unanswered: CallEnd::Done, ..SILENT },
        tokens: None,
        rewrites: None,
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits::USUAL,
    settings: Settings { user: ".kimi-code/config.toml", ..merged("", &[only("kimi/config.toml")]) },
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};

/// Its payload is documented for people who write hooks: `hooks/agents/generic/payload.schema.json`.
const GENERIC: ClientSpec = ClientSpec {
    name: "generic",
    title: "a client without a row of its own",
    program: None,
    markers: &[],
    session: None,
    addresses: &[],
    events: &[
        ("SessionStart", SessionStart),
        ("UserPromptSubmit", Prompt),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("PreCompact", Compacting),
        ("PostCompact", Compacted),
        ("Stop", TurnEnd),
    ],
    dialect: Dialect::Shaped(Shape {
        shell: "bash",
        answer: Answer {
            text: AnswerText::Joined(&["stdout", "stderr"]),
            interrupted: Some("interrupted"),
            failed: Some("is_error"),
            exit: Some(ExitCode::Member("exit_code")),
            answered: CallEnd::Unknown,
            unanswered: CallEnd::Unknown,
        },
        tokens: Some((TurnEnd, Tokens::Context)),
        // Whether it would run other arguments is not known.
        rewrites: None,
        flat: false,
    }),
    transcript: None,
    window: None,
    attended: None,
    habits: Habits::USUAL,
    settings: merged("", &[]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: None,
    step_of_user: None,
};
