//! Clients whose hooks are programs that their settings name.

use crate::domain::client_spec::HookMoment::{
    AfterTool, Answered, Aside, BeforeTool, Compacted, Compacting, Prompt, SessionStart, SettingsChanged,
    TurnEnd,
};
use crate::domain::client_spec::{
    Answer, AnswerText, ClientSpec, CommandStart, Dialect, ExitCode, FileOwner, Habits, Home, Rewrites,
    Settings, Shape, Tokens, Transcript, TrustBy, merged, only,
};
use crate::domain::events::CallEnd;

pub(super) const CLAUDE: ClientSpec = ClientSpec {
    name: "claude",
    title: "Claude Code",
    program: Some("claude"),
    markers: &[("CLAUDECODE", None), ("CLAUDE_CODE_SESSION_ID", None)],
    session: Some("CLAUDE_CODE_SESSION_ID"),
    addresses: &["noreply@anthropic.com", "claude@anthropic.com", "claude[bot]@users.noreply.github.com"],
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

pub(super) const CODEX: ClientSpec = ClientSpec {
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
    addresses: &["noreply@openai.com", "codex@openai.com", "chatgpt-codex-connector[bot]"],
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

pub(super) const GEMINI: ClientSpec = ClientSpec {
    name: "gemini",
    title: "Gemini CLI",
    program: Some("gemini"),
    markers: &[("GEMINI_CLI", None)],
    session: Some("GEMINI_SESSION_ID"),
    addresses: &["gemini-cli@users.noreply.github.com", "gemini-cli[bot]@users.noreply.github.com"],
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

pub(super) const QWEN: ClientSpec = ClientSpec {
    name: "qwen",
    title: "Qwen Code",
    program: Some("qwen"),
    markers: &[("QWEN_CODE", None)],
    session: Some("QWEN_CODE_SESSION_ID"),
    addresses: &["qwen-coder@alibabacloud.com"],
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

pub(super) const COPILOT: ClientSpec = ClientSpec {
    name: "copilot",
    title: "Copilot CLI",
    program: Some("copilot"),
    markers: &[("COPILOT_CLI", None)],
    session: Some("COPILOT_AGENT_SESSION_ID"),
    addresses: &["copilot@users.noreply.github.com", "copilot-swe-agent[bot]"],
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

pub(super) const CURSOR: ClientSpec = ClientSpec {
    name: "cursor",
    title: "Cursor",
    program: Some("cursor-agent"),
    markers: &[("CURSOR_AGENT", None)],
    session: None,
    addresses: &[
        "cursoragent@cursor.com",
        "agent@cursor.com",
        "ai@cursor.sh",
        "cursor[bot]@users.noreply.github.com",
    ],
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
