//! The clients of coding agents that Andon supports: programs with hooks of their own.

use super::codec::named;

/// A client by the name that its hooks give on the command line: client and event are given, never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// opencode.
    Opencode,
    /// Cline.
    Cline,
    /// `OpenHands`.
    Openhands,
    /// goose.
    Goose,
}

impl Client {
    /// Every client with its name on the command line, in the journal and in records.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Claude, "claude"),
        (Self::Codex, "codex"),
        (Self::Gemini, "gemini"),
        (Self::Qwen, "qwen"),
        (Self::Copilot, "copilot"),
        (Self::Cursor, "cursor"),
        (Self::Opencode, "opencode"),
        (Self::Cline, "cline"),
        (Self::Openhands, "openhands"),
        (Self::Goose, "goose"),
    ];

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Opencode => "opencode",
            Self::Cline => "Cline",
            Self::Openhands => "OpenHands",
            Self::Goose => "goose",
        }
    }

    /// The program that people start, where it is one.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::Cursor => Some("cursor-agent"),
            // An extension of an editor, for most.
            Self::Cline => None,
            Self::Claude
            | Self::Codex
            | Self::Gemini
            | Self::Qwen
            | Self::Copilot
            | Self::Opencode
            | Self::Openhands
            | Self::Goose => Some(self.as_str()),
        }
    }
}

named!(Client, "the name of an agent's client");

/// The settings into which `andon agent install` puts hooks in a repository. A whole folder ends in a slash.
pub const SETTINGS: [&str; 10] = [
    ".agents/plugins/andon/",
    ".claude/settings.json",
    ".clinerules/hooks/",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".github/hooks/andon.json",
    ".opencode/plugin/andon.js",
    ".openhands/hooks.json",
    ".qwen/settings.json",
];

/// Whether `path`, from the top of the repository, is such a file: configuration, as `andon.toml` is.
pub fn is_settings(path: &[u8]) -> bool {
    path.first() == Some(&b'.')
        && SETTINGS.iter().any(|known| match known.strip_suffix('/') {
            Some(_) => path.starts_with(known.as_bytes()),
            None => path == known.as_bytes(),
        })
}

/// A variable that an agent's shell carries, and whose shell that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// The variable's name.
    pub name: &'static str,
    /// The only value that counts; any but an empty one or `0` where there is none.
    pub value: Option<&'static str>,
    /// The client; `None` where several set it.
    pub client: Option<Client>,
}

const fn of(name: &'static str, client: Client) -> Marker {
    Marker { name, value: None, client: Some(client) }
}

/// Every marker, those that name a client first.
pub const MARKERS: [Marker; 17] = [
    of("CLAUDECODE", Client::Claude),
    of("CLAUDE_CODE_SESSION_ID", Client::Claude),
    of("CODEX_THREAD_ID", Client::Codex),
    of("CODEX_SESSION_ID", Client::Codex),
    of("CODEX_SANDBOX", Client::Codex),
    of("CODEX_CI", Client::Codex),
    of("GEMINI_CLI", Client::Gemini),
    of("QWEN_CODE", Client::Qwen),
    of("COPILOT_CLI", Client::Copilot),
    of("OPENCODE", Client::Opencode),
    of("CURSOR_AGENT", Client::Cursor),
    of("CLINE_ACTIVE", Client::Cline),
    of("CLINE_CONNECTOR_CLI_LAUNCH", Client::Cline),
    Marker { name: "OR_APP_NAME", value: Some("OpenHands"), client: Some(Client::Openhands) },
    Marker { name: "OR_APP_NAME", value: Some("Aider"), client: None },
    Marker { name: "AI_AGENT", value: None, client: None },
    Marker { name: "AGENT", value: None, client: None },
];

/// Where a marker was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentMark {
    /// The marker's name.
    pub name: &'static str,
    /// The process above this one that was started with it; `None` for this one's own environment.
    pub above: Option<u32>,
}

impl std::fmt::Display for AgentMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.above {
            None => write!(f, "{} is set", self.name),
            Some(id) => write!(f, "{} is set for process {id} above", self.name),
        }
    }
}

/// The text of the trailers of commits that a client makes, in small letters.
const TRAILERS: [(&str, Client); 6] = [
    ("noreply@anthropic.com", Client::Claude),
    ("noreply@openai.com", Client::Codex),
    ("copilot@users.noreply.github.com", Client::Copilot),
    ("cursoragent@cursor.com", Client::Cursor),
    ("openhands@all-hands.dev", Client::Openhands),
    ("@opencode.ai", Client::Opencode),
];

/// The client that the trailers of a commit name as an author.
pub fn of_trailers(trailers: &[(String, String)]) -> Option<Client> {
    let authors = trailers.iter().filter(|(key, _)| key.eq_ignore_ascii_case("co-authored-by"));
    authors
        .map(|(_, value)| value.to_ascii_lowercase())
        .find_map(|value| TRAILERS.iter().find(|(mark, _)| value.contains(mark)).map(|(_, client)| *client))
}

/// The client whose address an author or committer has.
pub fn of_address(address: &str) -> Option<Client> {
    let address = address.to_ascii_lowercase();
    TRAILERS.iter().find(|(mark, _)| address.contains(mark)).map(|(_, client)| *client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_by_their_whole_path() {
        let settings = [
            ".claude/settings.json",
            ".agents/plugins/andon/hooks/hooks.json",
            ".clinerules/hooks/PreToolUse",
        ];
        assert!(settings.iter().all(|path| is_settings(path.as_bytes())));
        let others = [
            "a/.claude/settings.json",
            ".claude/settings.json5",
            ".claude/settings",
            ".github/hooks/x.json",
            "",
        ];
        assert!(!others.iter().any(|path| is_settings(path.as_bytes())));
    }

    #[test]
    fn names_are_read_back() {
        for (client, name) in Client::ALL {
            assert_eq!((Client::from_name(name), client.as_str()), (Some(client), name));
            assert!(!client.title().is_empty());
        }
        assert_eq!(Client::from_name("Claude"), None);
    }

    #[test]
    fn trailers_name_a_client() {
        let of = |key: &str, value: &str| of_trailers(&[(key.into(), value.into())]);
        assert_eq!(of("Co-Authored-By", "Claude Opus <noreply@anthropic.com>"), Some(Client::Claude));
        assert_eq!(
            of("Co-authored-by", "Copilot <223556219+Copilot@users.noreply.github.com>"),
            Some(Client::Copilot)
        );
        assert_eq!(of("Co-authored-by", "A Person <a@example.org>"), None);
        assert_eq!(of("Reviewed-by", "Claude <noreply@anthropic.com>"), None);
    }
}
