//! Clients whose hooks are plugins or scripts of a folder.

use crate::domain::client_spec::HookMoment::{
    AfterTool, Answered, Aside, BeforeTool, Compacted, Compacting, Prompt, SessionStart, TurnEnd,
};
use crate::domain::client_spec::{
    Answer, AnswerText, ClientSpec, CommandStart, Dialect, ExitCode, FileOwner, Habits, Home, HookMoment,
    Piece, Rewrites, Settings, Shape, Tokens, TrustBy, merged, only, program,
};
use crate::domain::events::CallEnd;

/// The events of opencode's plugins, and of Kilo's, which is made from it.
const OF_OPENCODE: &[(&str, HookMoment)] = &[
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

pub(super) const OPENCODE: ClientSpec = ClientSpec {
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    markers: &[("OPENCODE", None)],
    session: None,
    addresses: &["@opencode.ai", "opencode-agent[bot]"],
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

pub(super) const KILO: ClientSpec = ClientSpec {
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

pub(super) const CLINE: ClientSpec = ClientSpec {
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

pub(super) const OPENHANDS: ClientSpec = ClientSpec {
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
pub(super) const GOOSE: ClientSpec = ClientSpec {
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
pub(super) const PI: ClientSpec = ClientSpec {
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
