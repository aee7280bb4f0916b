//! Clients whose rows are written from their code or documentation, and any client that has no row.

use crate::domain::client_spec::HookMoment::{
    AfterTool, Aside, BeforeTool, Compacted, Compacting, Prompt, SessionStart, TurnEnd,
};
use crate::domain::client_spec::{
    Answer, AnswerText, ClientSpec, CommandStart, Dialect, ExitCode, FileOwner, Habits, Home, Rewrites,
    Settings, Shape, Tokens, TrustBy, merged, only,
};
use crate::domain::events::CallEnd;

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
pub(super) const CRUSH: ClientSpec = ClientSpec {
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

pub(super) const DROID: ClientSpec = ClientSpec {
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
    habits: Habits { compacts_in_silence: true, deaf_before_tools: true, ..Habits::USUAL },
    settings: merged(".factory/settings.json", &[only("droid/settings.json")]),
    memory: "AGENTS.md",
    trust: TrustBy::NoOne,
    step_in_project: DROID_STEP,
    step_of_user: DROID_STEP,
};

pub(super) const AUGGIE: ClientSpec = ClientSpec {
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
pub(super) const AMP: ClientSpec = ClientSpec {
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
pub(super) const KIRO: ClientSpec = ClientSpec {
    name: "kiro",
    title: "Kiro",
    program: Some("kiro-cli"),
    markers: &[],
    session: None,
    addresses: &["kiro-agent@users.noreply.github.com", "kiro-agent[bot]"],
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

pub(super) const KIMI: ClientSpec = ClientSpec {
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
pub(super) const GENERIC: ClientSpec = ClientSpec {
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
