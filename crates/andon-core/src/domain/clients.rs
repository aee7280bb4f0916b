//! The clients of coding agents, a row each. A new one is a row, a line of the registry, and its folder below `hooks/agents/`;
//! where its payloads have a shape of their own, a reader in `andon-agents` as well.

mod from_documents;
mod with_hooks;
mod with_plugins;

use self::from_documents::{AMP, AUGGIE, CRUSH, DROID, GENERIC, KIMI, KIRO};
use self::with_hooks::{CLAUDE, CODEX, COPILOT, CURSOR, GEMINI, QWEN};
use self::with_plugins::{CLINE, GOOSE, KILO, OPENCODE, OPENHANDS, PI};
use super::client_spec::ClientSpec;
use super::codec::named;

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
