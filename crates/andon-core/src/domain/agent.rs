//! Recognition of the clients of coding agents: by their shells, their settings and their commits.
//!
//! Traces in a commit show that an agent made it, where no record says so: its author, its trailers, its closing lines.
//!
//! Only what a tool writes about itself counts. A word of a subject proves nothing: half of the commits of a repository that
//! is named after an agent have it.

use super::Home;
pub use super::client_spec::Client;
use crate::WordList;

impl Client {
    /// Returns the name that people use for the client.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The program that people start, where it is one.
    pub fn program(self) -> Option<&'static str> {
        self.spec().program
    }

    /// Every client.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(client, _)| client)
    }
}

/// Returns whether `path`, from the top of the repository, is a file into which `andon agent install` puts hooks: configuration, as
/// `andon.toml` is.
pub fn is_settings(path: &[u8]) -> bool {
    let is_of = |client: Client| {
        let settings = &client.spec().settings;
        let below = path.strip_prefix(settings.project.as_bytes());
        // Several files lie in a folder.
        below.is_some_and(|rest| {
            if settings.files.len() == 1 { rest.is_empty() } else { rest.first() == Some(&b'/') }
        })
    };
    path.first() == Some(&b'.') && Client::every().any(is_of)
}

/// A variable that an agent's shell carries, and whose shell that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// The variable's name.
    pub name: &'static str,
    /// The only value that counts. Where there is none, any value counts but an empty one and `0`.
    pub value: Option<&'static str>,
    /// The client; `None` where several set it.
    pub client: Option<Client>,
}

/// Markers that name no client.
const OF_ANY: [Marker; 3] = [
    Marker { name: "OR_APP_NAME", value: Some("Aider"), client: None },
    Marker { name: "AI_AGENT", value: None, client: None },
    Marker { name: "AGENT", value: None, client: None },
];

/// The markers of one client.
pub fn markers_of(client: Client) -> impl Iterator<Item = Marker> {
    client.signs().markers.iter().map(move |(name, value)| Marker {
        name,
        value: *value,
        client: Some(client),
    })
}

/// Every marker, those that name a client first.
pub fn markers() -> impl Iterator<Item = Marker> {
    Client::every().flat_map(markers_of).chain(OF_ANY)
}

/// Every variable that says something of a client.
pub fn variables() -> impl Iterator<Item = &'static str> {
    let own = Client::every().map(Client::signs).flat_map(|signs| match signs.home {
        Home::Variable(name) => [signs.session, Some(name)],
        Home::Home | Home::Config => [signs.session, None],
    });
    let own = own.flatten();
    markers().map(|marker| marker.name).chain(own)
}

/// The place of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentMark {
    /// The marker's name; empty of a client that is known by its process.
    pub name: &'static str,
    /// The process above this one that was started with it; `None` for this one's own environment.
    pub above: Option<u32>,
}

impl std::fmt::Display for AgentMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.above {
            Some(id) if self.name.is_empty() => write!(f, "process {id} above starts a client's hooks"),
            None => write!(f, "{} is set", self.name),
            Some(id) => write!(f, "{} is set for process {id} above", self.name),
        }
    }
}

/// The client that the trailers of a commit name as an author.
pub fn of_trailers(trailers: &[(String, String)]) -> Option<Client> {
    let authors = trailers.iter().filter(|(key, _)| key.eq_ignore_ascii_case("co-authored-by"));
    authors.into_iter().find_map(|(_, value)| of_address(value))
}

/// The client whose address an author or committer has.
fn of_address(address: &str) -> Option<Client> {
    let address = address.to_ascii_lowercase();
    Client::every().find(|client| client.signs().addresses.iter().any(|known| names_in(&address, known)))
}

/// Returns whether `person` has `part` in it, and not as the end of a longer word: `ann.amp@ampcode.com` is not `amp@ampcode.com`.
fn names_in(person: &str, part: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let begins = part.starts_with(|letter: char| letter.is_alphanumeric());
    person.match_indices(part).any(|(at, _)| !begins || !person[..at].ends_with(is_word))
}

/// Agents without a client's row, and words of agents.
const AGENTS: &str = include_str!("agents.txt");

/// Trailers that only agents write: the key, and how the value begins. `Assisted-by` is what people write of their own
/// commits, so that of one agent alone counts.
const TRAILERS: WordList = WordList::section(AGENTS, "trailers");

/// Names in closing lines beside those of the tables.
const NAMES: WordList = WordList::section(AGENTS, "names");

/// The agents that are no clients of Andon's, hosted or without hooks: the name that people use, and parts of a `Name <address>`,
/// in small letters.
fn hosted() -> impl Iterator<Item = (&'static str, &'static str)> {
    WordList::section(AGENTS, "hosted").iter().filter_map(|row| row.split_once(" | "))
}

/// The trailer that names a further author.
const AUTHOR: &str = "Co-authored-by";

/// The beginning of subjects in which Aider names itself.
const SUBJECT: &str = "aider: ";

/// Beginnings of a closing line that names the tool of the commit.
const FOOTERS: [&str; 2] = ["generated with ", "generated by "];

/// A closing line that is an address of a session.
const SESSION: &str = "https://claude.ai/code/session";

/// The longest line that is taken for a closing one, in bytes.
const MAX_LINE: usize = 300;

/// Returns whether a person of a commit, `Name <address>`, is an agent.
pub fn is_agent(person: &str) -> bool {
    of_address(person).is_some() || {
        let person = person.to_lowercase();
        hosted().flat_map(|(_, people)| people.split(',')).any(|part| names_in(&person, part))
    }
}

/// Returns whether the trailers of a commit name an agent.
pub fn in_trailers(trailers: &[(String, String)]) -> bool {
    trailers.iter().any(|(key, value)| {
        let is_own = |row: &str| {
            row.split_once(':')
                .is_some_and(|(own, begins)| key.eq_ignore_ascii_case(own) && value.starts_with(begins))
        };
        key.eq_ignore_ascii_case(AUTHOR) && is_agent(value) || TRAILERS.iter().any(is_own)
    })
}

/// Returns whether the subject is one that an agent writes.
pub fn in_subject(subject: &str) -> bool {
    subject.starts_with(SUBJECT)
}

/// Returns whether the message closes with a line in which an agent names itself, such as `Generated with [Claude Code](...)`. A line
/// that is indented or quoted, and one with prose below it, is somebody's who writes about such lines.
pub fn in_closing_lines(message: &str) -> bool {
    let below_subject = message.split_once('\n').map_or("", |(_, rest)| rest);
    let closing = below_subject.lines().rev().map(str::trim_end);
    closing.take_while(|line| is_closing(line)).any(is_footer)
}

/// Returns whether a line belongs to the end of a message: nothing but trailers, rules, addresses and footers.
fn is_closing(line: &str) -> bool {
    let is_rule = !line.is_empty() && line.bytes().all(|byte| matches!(byte, b'-' | b'='));
    let is_link = line.starts_with("https://") && !line.contains(' ');
    let key = line.split_once(": ").map(|(key, _)| key);
    let is_key = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    line.is_empty()
        || is_rule
        || is_link
        || key.is_some_and(is_key)
        || line.starts_with("via [")
        || is_footer(line)
}

/// Returns whether an agent names itself in a line of its own.
fn is_footer(line: &str) -> bool {
    if line.len() > MAX_LINE || line.starts_with([' ', '\t']) {
        return false;
    }
    if line.starts_with(SESSION) {
        return true;
    }
    // Pictures before it, and emphasis.
    let text = line.trim_start_matches(|letter: char| !letter.is_ascii() || matches!(letter, ' ' | '_'));
    let text = text.to_lowercase();
    let named = FOOTERS.iter().find_map(|footer| text.strip_prefix(footer));
    let Some(named) = named else { return false };
    let (ends, named): (fn(&str) -> bool, &str) = match named.strip_prefix('[') {
        Some(linked) => (ends_link, linked),
        None => (ends_name, named),
    };
    names().any(|name| named.strip_prefix(&name.to_lowercase()).is_some_and(ends))
}

/// Returns the names that people use for the agents.
fn names() -> impl Iterator<Item = &'static str> {
    let clients = Client::every().map(Client::title);
    clients.chain(hosted().map(|(name, _)| name)).chain(NAMES.iter())
}

/// Returns whether nothing but a link, a version or a full stop follows a name.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || ["](", " (", ".", "_", " - ", " http", " via "].iter().any(|end| rest.starts_with(end))
}

/// Returns whether nothing else follows a name in the text of a link, which has the name of a distribution, too.
fn ends_link(rest: &str) -> bool {
    ends_name(rest) || rest.starts_with(' ') && rest.contains("](")
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

#[cfg(test)]
mod agent_tests {
    use super::*;

    #[test]
    fn people_are_told_from_agents() {
        let agents = [
            "Ann (aider) <ann@example.org>",
            "aider (gpt-4o) <noreply@aider.chat>",
            "aider (anthropic/claude-sonnet-4) <aider@aider.chat>",
            "devin-ai-integration[bot] <158243242+devin-ai-integration[bot]@users.noreply.github.com>",
            "Devin AI <158243242+devin-ai-integration[bot]@users.noreply.github.com>",
            "google-labs-jules[bot] <161369871+google-labs-jules[bot]@users.noreply.github.com>",
            "copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>",
            "Cursor Agent <cursoragent@cursor.com>",
            "Cursor Agent <agent@cursor.com>",
            "Codex <codex@openai.com>",
            "Codex <199175422+chatgpt-codex-connector[bot]@users.noreply.github.com>",
            "claude[bot] <209825114+claude[bot]@users.noreply.github.com>",
            "Qwen-Coder <qwen-coder@alibabacloud.com>",
            "gemini-cli <218195315+gemini-cli@users.noreply.github.com>",
            "factory-droid[bot] <138933559+factory-droid[bot]@users.noreply.github.com>",
            "gpt-engineer-app[bot] <159125892+gpt-engineer-app[bot]@users.noreply.github.com>",
            "amazon-q-developer[bot] <208079219+amazon-q-developer[bot]@users.noreply.github.com>",
            "opencode-agent[bot] <opencode-agent[bot]@users.noreply.github.com>",
            "opencode <noreply@opencode.ai>",
            "Amp <amp@ampcode.com>",
            "Oz <oz-agent@warp.dev>",
            "Kiro Agent <244629292+kiro-agent@users.noreply.github.com>",
        ];
        for agent in agents {
            assert!(is_agent(agent), "{agent}");
        }
        let people = [
            "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
            "renovate[bot] <29139614+renovate[bot]@users.noreply.github.com>",
            "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>",
            "pre-commit-ci[bot] <66853113+pre-commit-ci[bot]@users.noreply.github.com>",
            "GitHub <noreply@github.com>",
            "Jules Pietri <heahdude@example.org>",
            "Devin Nusbaum <dwnusbaum@users.noreply.github.com>",
            "Claude Shannon <claude@example.org>",
            "Kurt <kurt@anthropic.com>",
            "Ann <subamp@ampcode.com>",
            "Ann <notjunie@jetbrains.com>",
            "Aider Fan <aider@example.org>",
        ];
        for person in people {
            assert!(!is_agent(person), "{person}");
        }
    }

    #[test]
    fn trailers_of_agents_are_known() {
        let of = |key: &str, value: &str| in_trailers(&[(key.into(), value.into())]);
        assert!(of("Co-authored-by", "aider (gpt-4o) <noreply@aider.chat>"));
        assert!(of("Assisted-by", "Crush:claude-opus-4-6"));
        assert!(of("Amp-Thread-ID", "https://ampcode.com/threads/T-1"));
        assert!(of("Replit-Commit-Author", "Agent"));
        for (key, value) in [
            ("Replit-Commit-Author", "Deployment"),
            ("Assisted-by", "Claude Opus 4.6"),
            ("Assisted-by", "Claude <noreply@anthropic.com>"),
            ("Assisted-by", "Viktor <viktor@example.org>"),
            ("Reviewed-by", "Claude <noreply@anthropic.com>"),
            ("Signed-off-by", "dependabot[bot] <support@github.com>"),
        ] {
            assert!(!of(key, value), "{key}: {value}");
        }
        assert!(in_subject("aider: Fix the parser") && !in_subject("fix(aider): the parser"));
        assert!(!in_subject("Revert \"aider: Fix the parser\""));
    }

    #[test]
    fn closing_lines_name_an_agent() {
        for closing in [
            "🤖 Generated with [Claude Code](https://claude.ai/code)",
            "🤖 Generated with [Claude Code](https://claude.com/claude-code)\n\nSigned-off-by: Ann <ann@example.org>",
            "🤖 Generated with Claude Code",
            "Generated with Claude Code (Sonnet 4.5)",
            "🤖👥 Generated with [Claude MPM](https://github.com/bobmatnyc/claude-mpm)",
            "Generated with [Claude Code](https://claude.ai/code)\nvia [Happy](https://happy.engineering)",
            "💘 Generated with Crush\n\n\n",
            "Generated by Codex.\r\n",
            "🤖 Generated with Cursor\n-----\nFixes: #12",
            "_Generated with GitHub Copilot_",
            "Why it broke.\n\nhttps://claude.ai/code/session_01abc",
        ] {
            assert!(in_closing_lines(&format!("Fix it\n\nBecause.\n\n{closing}")), "{closing}");
        }
    }

    #[test]
    fn who_writes_about_such_lines_is_a_person() {
        let line = "🤖 Generated with [Claude Code](https://claude.ai/code)";
        for message in [
            line.to_owned(),
            format!("Drop the footer\n\nEvery commit ended with\n\n{line}\n\nwhich is of no use.\n"),
            format!("Drop the footer\n\nIt was:\n\n    {line}\n"),
            format!("Drop the footer\n\n> {line}\n"),
            format!("Drop the footer\n\n\"{line}\" is gone."),
            format!("Drop the footer\n\n`{line}`"),
            "Revert \"Fix it\"\n\nThis reverts commit 96a9febff29ce0b11d6cf9dab79632a8291020c0.\n".to_owned(),
            "Merge pull request #7 from ann/copilot/fix-it\n\nFix it\n".to_owned(),
            "Bump serde from 1.0.1 to 1.0.2\n\nSigned-off-by: dependabot[bot] <support@github.com>"
                .to_owned(),
            "Update the client\n\nGenerated with openapi-generator".to_owned(),
            "Page the list\n\nGenerated with cursor-based paging in mind".to_owned(),
            "Add the grammar\n\nGenerated by Codex tables, see the docs".to_owned(),
            "Tests\n\nGenerated with Amplify".to_owned(),
        ] {
            assert!(!in_closing_lines(&message), "{message}");
        }
    }
}
