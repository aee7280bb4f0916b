//! The clients of coding agents, a row each. A new one is a variant of [`Client`], a row at the same place, and its folder
//! below `hooks/agents/`; where its payloads have a shape of their own, a reader in `andon-agents` as well.
//!
//! The table is a constant of the program: each hook looks into it, and has no time to read it from a text.

use super::client_spec::{
    Answer, AnswerText, Client, ClientSpec, CommandStart, Dialect, Ends, ExitCode, FileOwner, Habits, Home,
    HookMoment, Piece, Rewrites, Settings, Shape, Tokens, Transcript, TrustBy, merged, only, plugin, program,
};
use super::events::CallEnd;

crate::named!(Client, "the name of an agent's client");

impl Client {
    /// Every client with its name on the command line, in the journal and in records.
    pub const ALL: [(Self, &'static str); ROWS.len()] = {
        let mut all = [(Self::Generic, ""); ROWS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = (ROWS[at].client, ROWS[at].name);
            at += 1;
        }
        all
    };

    /// The row of the table.
    pub fn spec(self) -> &'static ClientSpec {
        &ROWS[self as usize]
    }
}

/// A client of the common shape without anything special.
const PLAIN: ClientSpec = ClientSpec {
    client: Client::Generic,
    name: "",
    title: "",
    program: None,
    markers: &[],
    session: None,
    addresses: &[],
    events: "",
    dialect: Dialect::Own,
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

const SHAPE: Shape =
    Shape { shell: "Bash", answer: SILENT, tokens: None, rewrites: None, flat: false, ends: AT_TURN_ENDS };

/// Of most clients.
const AT_TURN_ENDS: Ends = Ends { at_prompts: false, before_tools: false, at_turn_ends: true };

/// The member with which clients of the shape of Claude Code replace the arguments of a call.
const UPDATED_INPUT: Option<Rewrites> = Some(Rewrites { member: "updatedInput", decision: None });

/// A client that answers nothing after a tool, or whose answer does not say how a call ended.
const SILENT: Answer = Answer {
    text: AnswerText::Whole,
    interrupted: None,
    failed: None,
    exit: None,
    answered: CallEnd::Unknown,
    unanswered: CallEnd::Unknown,
};

/// The answer of the tools of Gemini CLI and Qwen Code: the shell has a line `Exit Code: N` only where that is not 0.
const OF_GEMINI: Answer = Answer {
    text: AnswerText::Lasting("llmContent"),
    failed: Some("error"),
    exit: Some(ExitCode::Line(&[])),
    answered: CallEnd::Done,
    ..SILENT
};

/// Kilo is made from it.
const OPENCODE: ClientSpec = ClientSpec {
    client: Client::Opencode,
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    markers: &[("OPENCODE", None)],
    addresses: &["@opencode.ai", "opencode-agent[bot]"],
    // Our plugin asks for the system prompt once, in a session that was there before it.
    events: "tool.execute.before tool.execute.after chat.message experimental.session.compacting \
             experimental.chat.system.transform session.created session.idle session.compacted message.updated \
             message.part.updated shell.env permission.ask event",
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
        ..plugin(".opencode/plugin/andon.js", &[only("opencode/andon.js")])
    },
    ..PLAIN
};

const CURSOR_STEP: Option<&str> = Some("Cursor's cloud agents run no hook at the end of a turn");
const CLINE_STEP: Option<&str> =
    Some("Cline runs hooks where they are enabled in its settings; its CLI runs none with --yolo");
const DROID_STEP: Option<&str> =
    Some("Droid reads the hooks of settings.json only where there is no hooks.json beside it");
const AMP_STEP: Option<&str> = Some(
    "Amp's interface of plugins is experimental: look into `andon agent list` whether its hooks are heard",
);

/// In the order of [`Client`].
static ROWS: [ClientSpec; 19] = [
    ClientSpec {
        client: Client::Claude,
        name: "claude",
        title: "Claude Code",
        program: Some("claude"),
        markers: &[("CLAUDECODE", None), ("CLAUDE_CODE_SESSION_ID", None)],
        session: Some("CLAUDE_CODE_SESSION_ID"),
        addresses: &["noreply@anthropic.com", "claude@anthropic.com", "claude[bot]@users.noreply.github.com"],
        events: "PreToolUse PostToolUse PostToolUseFailure PostToolBatch UserPromptSubmit Stop SessionStart \
                 PreCompact PostCompact ConfigChange SubagentStart SubagentStop SessionEnd Notification StopFailure",
        dialect: Dialect::Shaped(Shape {
            answer: Answer {
                text: AnswerText::Joined(&["stdout", "stderr"]),
                interrupted: Some("interrupted"),
                answered: CallEnd::Done,
                unanswered: CallEnd::Done,
                ..SILENT
            },
            tokens: Some((HookMoment::SessionStart, Tokens::Context)),
            rewrites: UPDATED_INPUT,
            ends: Ends { at_prompts: true, before_tools: true, ..AT_TURN_ENDS },
            ..SHAPE
        }),
        transcript: Some(Transcript::Claude),
        attended: Some(("CLAUDE_CODE_ENTRYPOINT", "cli")),
        settings: Settings {
            home: Home::Variable("CLAUDE_CONFIG_DIR"),
            ..merged(".claude/settings.json", &[only("claude/settings.json")])
        },
        memory: "CLAUDE.md",
        ..PLAIN
    },
    ClientSpec {
        client: Client::Codex,
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
        events: "PreToolUse PostToolUse UserPromptSubmit Stop SessionStart PreCompact PostCompact PermissionRequest \
                 SubagentStart SubagentStop SessionEnd Interrupt",
        dialect: Dialect::Shaped(Shape {
            // The exit code of a command is looked up in the rollout file.
            answer: Answer { exit: Some(ExitCode::Line(&["apply_patch"])), ..SILENT },
            // Without a decision it ignores them, by its own error text. What else the decision grants was not seen.
            rewrites: Some(Rewrites { member: "updatedInput", decision: Some("allow") }),
            ends: Ends { at_prompts: true, ..AT_TURN_ENDS },
            ..SHAPE
        }),
        transcript: Some(Transcript::Codex),
        window: Some(258_400),
        settings: Settings {
            home: Home::Variable("CODEX_HOME"),
            start: CommandStart::Login,
            ..merged(".codex/hooks.json", &[only("codex/hooks.json")])
        },
        trust: TrustBy::Codex,
        step_in_project: Some(
            "Codex runs the hooks of a project only once you trust both: start `codex` in this repository, accept the \
             folder, and trust the hooks under `/hooks`; again whenever they change",
        ),
        step_of_user: Some(
            "Codex runs hooks only once you trust them: start `codex`, and trust them under `/hooks`; again \
             whenever they change",
        ),
        ..PLAIN
    },
    ClientSpec {
        client: Client::Gemini,
        name: "gemini",
        title: "Gemini CLI",
        program: Some("gemini"),
        markers: &[("GEMINI_CLI", None)],
        session: Some("GEMINI_SESSION_ID"),
        addresses: &["gemini-cli@users.noreply.github.com", "gemini-cli[bot]@users.noreply.github.com"],
        // PreCompress comes before every request to the model: no sign of a compaction.
        events: "BeforeTool AfterTool BeforeAgent AfterAgent SessionStart AfterModel PreCompress BeforeModel \
                 BeforeToolSelection SessionEnd Notification",
        dialect: Dialect::Shaped(Shape {
            shell: "run_shell_command",
            answer: OF_GEMINI,
            tokens: Some((HookMoment::Answered, Tokens::Response)),
            rewrites: Some(Rewrites { member: "tool_input", decision: None }),
            ends: Ends { at_prompts: true, ..AT_TURN_ENDS },
            ..SHAPE
        }),
        window: Some(1_000_000),
        habits: Habits { shell_without_hooks: true, deaf_before_tools: true, ..Habits::USUAL },
        settings: merged(".gemini/settings.json", &[only("gemini/settings.json")]),
        memory: "GEMINI.md",
        trust: TrustBy::Folders(".gemini/trustedFolders.json"),
        step_in_project: Some(
            "Gemini CLI runs the hooks of a project only in a trusted folder: start `gemini` in this repository and \
             trust it (--skip-trust alone runs none)",
        ),
        ..PLAIN
    },
    ClientSpec {
        client: Client::Qwen,
        name: "qwen",
        title: "Qwen Code",
        program: Some("qwen"),
        markers: &[("QWEN_CODE", None)],
        session: Some("QWEN_CODE_SESSION_ID"),
        addresses: &["qwen-coder@alibabacloud.com"],
        events: "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop SessionStart PreCompact PostCompact \
                 SubagentStart SubagentStop SessionEnd Notification PermissionRequest",
        // Seen in 0.24.4: it reads a decision and context, and no other arguments.
        dialect: Dialect::Shaped(Shape {
            shell: "run_shell_command",
            answer: OF_GEMINI,
            tokens: Some((HookMoment::TurnEnd, Tokens::Input)),
            ends: Ends { at_prompts: true, before_tools: false, at_turn_ends: false },
            ..SHAPE
        }),
        transcript: Some(Transcript::Qwen),
        habits: Habits { prompts_itself: true, compacts_in_silence: true, ..Habits::USUAL },
        settings: merged(".qwen/settings.json", &[only("qwen/settings.json")]),
        memory: "QWEN.md",
        ..PLAIN
    },
    ClientSpec {
        client: Client::Copilot,
        name: "copilot",
        title: "Copilot CLI",
        program: Some("copilot"),
        markers: &[("COPILOT_CLI", None)],
        session: Some("COPILOT_AGENT_SESSION_ID"),
        addresses: &["copilot@users.noreply.github.com", "copilot-swe-agent[bot]"],
        events: "preToolUse postToolUse postToolUseFailure userPromptSubmitted agentStop sessionStart preCompact \
                 subagentStart subagentStop sessionEnd permissionRequest errorOccurred notification PreToolUse \
                 PostToolUse PostToolUseFailure UserPromptSubmit Stop SessionStart PreCompact SubagentStop SessionEnd",
        transcript: Some(Transcript::Copilot),
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
        ..PLAIN
    },
    ClientSpec {
        client: Client::Cursor,
        name: "cursor",
        title: "Cursor",
        program: Some("cursor-agent"),
        markers: &[("CURSOR_AGENT", None)],
        addresses: &[
            "cursoragent@cursor.com",
            "agent@cursor.com",
            "ai@cursor.sh",
            "cursor[bot]@users.noreply.github.com",
        ],
        events: "preToolUse beforeShellExecution beforeMCPExecution beforeReadFile postToolUse postToolUseFailure \
                 afterShellExecution afterMCPExecution afterFileEdit beforeSubmitPrompt stop sessionStart preCompact \
                 subagentStart subagentStop sessionEnd afterAgentResponse afterAgentThought",
        habits: Habits { compacts_in_silence: true, deaf_at_prompts: true, ..Habits::USUAL },
        settings: merged(".cursor/hooks.json", &[only("cursor/hooks.json")]),
        step_in_project: CURSOR_STEP,
        step_of_user: CURSOR_STEP,
        ..PLAIN
    },
    ClientSpec {
        client: Client::Kilo,
        name: "kilo",
        title: "Kilo",
        program: Some("kilo"),
        markers: &[("KILO", None)],
        addresses: &[],
        settings: Settings {
            user: "kilo/plugin/andon.js",
            home: Home::Config,
            ..plugin(".kilo/plugin/andon.js", &[only("opencode/andon.js")])
        },
        ..OPENCODE
    },
    OPENCODE,
    ClientSpec {
        client: Client::Cline,
        name: "cline",
        // An extension of an editor, for most: it has no program.
        title: "Cline",
        markers: &[("CLINE_ACTIVE", None), ("CLINE_CONNECTOR_CLI_LAUNCH", None)],
        events: "PreToolUse PostToolUse TaskStart TaskResume UserPromptSubmit TaskComplete TaskCancel PreCompact \
                 SessionShutdown",
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
        step_in_project: CLINE_STEP,
        step_of_user: CLINE_STEP,
        ..PLAIN
    },
    ClientSpec {
        client: Client::Openhands,
        name: "openhands",
        title: "OpenHands",
        program: Some("openhands"),
        markers: &[("OR_APP_NAME", Some("OpenHands"))],
        addresses: &["openhands@all-hands.dev"],
        events: "PreToolUse PostToolUse UserPromptSubmit Stop SessionStart SessionEnd pre_tool_use post_tool_use \
                 user_prompt_submit stop session_start session_end",
        dialect: Dialect::Shaped(Shape {
            shell: "terminal",
            answer: Answer {
                text: AnswerText::Parts("content"),
                failed: Some("is_error"),
                exit: Some(ExitCode::Member("exit_code")),
                ..SILENT
            },
            flat: true,
            ..SHAPE
        }),
        settings: merged(".openhands/hooks.json", &[only("openhands/hooks.json")]),
        ..PLAIN
    },
    // By its documentation: it has not been run here.
    ClientSpec {
        client: Client::Goose,
        name: "goose",
        title: "goose",
        program: Some("goose"),
        events: "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop SessionStart SessionEnd",
        dialect: Dialect::Shaped(Shape {
            answer: Answer { failed: Some("is_error"), ..SILENT },
            rewrites: UPDATED_INPUT,
            ..SHAPE
        }),
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
        ..PLAIN
    },
    // Our extension hands over the common shape, with pi's names.
    ClientSpec {
        client: Client::Pi,
        name: "pi",
        title: "pi",
        program: Some("pi"),
        markers: &[("PI_CODING_AGENT", None)],
        session: Some("PI_SESSION_ID"),
        events: "tool_call tool_result session_start before_agent_start agent_before_settle session_before_compact \
                 session_compact",
        dialect: Dialect::Shaped(Shape {
            shell: "bash",
            answer: Answer { text: AnswerText::Parts("content"), failed: Some("isError"), ..SILENT },
            tokens: Some((HookMoment::TurnEnd, Tokens::Context)),
            rewrites: UPDATED_INPUT,
            ..SHAPE
        }),
        habits: Habits { deaf_before_tools: true, ..Habits::USUAL },
        settings: Settings {
            user: ".pi/agent/extensions/andon.js",
            ..plugin(".pi/extensions/andon.js", &[only("pi/andon.js")])
        },
        trust: TrustBy::Unlisted,
        step_in_project: Some(
            "pi loads the extensions of a project only once it is trusted: start `pi` in this repository and trust it",
        ),
        ..PLAIN
    },
    // It has one event, and answers as Claude Code does.
    ClientSpec {
        client: Client::Crush,
        name: "crush",
        title: "Crush",
        program: Some("crush"),
        markers: &[("CRUSH", None)],
        addresses: &["crush@charm.land"],
        events: "PreToolUse",
        dialect: Dialect::Shaped(Shape { shell: "bash", rewrites: UPDATED_INPUT, ..SHAPE }),
        settings: Settings {
            user: "crush/crush.json",
            home: Home::Config,
            ..merged(".crush.json", &[only("crush/crush.json")])
        },
        ..PLAIN
    },
    ClientSpec {
        client: Client::Droid,
        name: "droid",
        title: "Droid",
        program: Some("droid"),
        addresses: &["factory-droid[bot]@users.noreply.github.com"],
        events: "PreToolUse PostToolUse UserPromptSubmit Stop SessionStart PreCompact SubagentStop SessionEnd Notification",
        dialect: Dialect::Shaped(Shape {
            shell: "Execute",
            // The text of a command ends with its exit code.
            answer: Answer { exit: Some(ExitCode::Line(&["Execute"])), ..SILENT },
            rewrites: UPDATED_INPUT,
            ends: Ends { before_tools: true, ..AT_TURN_ENDS },
            ..SHAPE
        }),
        habits: Habits { compacts_in_silence: true, deaf_before_tools: true, ..Habits::USUAL },
        settings: merged(".factory/settings.json", &[only("droid/settings.json")]),
        step_in_project: DROID_STEP,
        step_of_user: DROID_STEP,
        ..PLAIN
    },
    ClientSpec {
        client: Client::Auggie,
        name: "auggie",
        title: "Auggie",
        program: Some("auggie"),
        markers: &[("AUGMENT_AGENT", None)],
        events: "PreToolUse PostToolUse PromptSubmit Stop SessionStart SessionEnd Notification",
        dialect: Dialect::Shaped(Shape {
            shell: "launch-process",
            answer: Answer { exit: Some(ExitCode::Line(&["launch-process"])), ..SILENT },
            rewrites: UPDATED_INPUT,
            ..SHAPE
        }),
        // Exit code 2 keeps no turn going.
        habits: Habits { ends_regardless: true, deaf_before_tools: true, ..Habits::USUAL },
        settings: merged(".augment/settings.json", &[only("auggie/settings.json")]),
        ..PLAIN
    },
    // Our plugin hands over the common shape, with Amp's names.
    ClientSpec {
        client: Client::Amp,
        name: "amp",
        title: "Amp",
        program: Some("amp"),
        addresses: &["amp@ampcode.com"],
        events: "tool.call tool.result session.start agent.start agent.end",
        dialect: Dialect::Shaped(Shape {
            answer: Answer {
                text: AnswerText::Lasting("output"),
                interrupted: Some("interrupted"),
                failed: Some("is_error"),
                ..SILENT
            },
            flat: true,
            ..SHAPE
        }),
        habits: Habits {
            ends_regardless: true,
            deaf_at_prompts: true,
            deaf_before_tools: true,
            ..Habits::USUAL
        },
        settings: Settings {
            user: "amp/plugins/andon.js",
            home: Home::Config,
            ..plugin(".amp/plugins/andon.js", &[only("amp/andon.js")])
        },
        step_in_project: AMP_STEP,
        step_of_user: AMP_STEP,
        ..PLAIN
    },
    // By the hooks of its third version, a file in a repository.
    ClientSpec {
        client: Client::Kiro,
        name: "kiro",
        title: "Kiro",
        program: Some("kiro-cli"),
        addresses: &["kiro-agent@users.noreply.github.com", "kiro-agent[bot]"],
        events: "PreToolUse PostToolUse UserPromptSubmit Stop SessionStart",
        // `success` is there for a command that failed, too.
        dialect: Dialect::Shaped(Shape { shell: "execute_bash", ..SHAPE }),
        habits: Habits { ends_regardless: true, ..Habits::USUAL },
        settings: Settings {
            user: "",
            owner: FileOwner::Whole,
            ..merged(".kiro/hooks/andon.json", &[only("kiro/andon.json")])
        },
        ..PLAIN
    },
    ClientSpec {
        client: Client::Kimi,
        name: "kimi",
        title: "Kimi Code",
        program: Some("kimi"),
        events: "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop SessionStart PreCompact PostCompact \
                 SubagentStart SubagentStop SessionEnd Notification PermissionRequest PermissionResult StopFailure Interrupt",
        dialect: Dialect::Shaped(Shape {
            // A call that failed has an event of its own.
            answer: Answer { answered: CallEnd::Done, unanswered: CallEnd::Done, ..SILENT },
            ..SHAPE
        }),
        settings: Settings { user: ".kimi-code/config.toml", ..merged("", &[only("kimi/config.toml")]) },
        ..PLAIN
    },
    // Its payload is documented for people who write hooks: `hooks/agents/generic/payload.schema.json`. No one knows
    // whether it would run other arguments.
    ClientSpec {
        client: Client::Generic,
        name: "generic",
        title: "a client without a row of its own",
        events: "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact PostCompact Stop",
        dialect: Dialect::Shaped(Shape {
            shell: "bash",
            answer: Answer {
                text: AnswerText::Joined(&["stdout", "stderr"]),
                interrupted: Some("interrupted"),
                failed: Some("is_error"),
                exit: Some(ExitCode::Member("exit_code")),
                ..SILENT
            },
            tokens: Some((HookMoment::TurnEnd, Tokens::Context)),
            ..SHAPE
        }),
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_row_and_no_event_is_misspelt() {
        let mut heard: Vec<&str> = Vec::new();
        for (at, (client, name)) in Client::ALL.into_iter().enumerate() {
            assert_eq!((client as usize, client.spec().name), (at, name));
            heard.extend(client.spec().events().map(|(event, _)| event));
        }
        for (_, names) in HookMoment::EVENTS {
            for name in names.split(' ') {
                assert!(heard.contains(&name), "no client has an event {name}");
            }
        }
    }
}
