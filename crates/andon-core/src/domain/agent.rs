//! How the clients of coding agents that Andon supports are recognised: by their shells, their settings and their commits.

pub use super::client_spec::Client;
use super::client_spec::{ClientSpec, Home};

impl Client {
    /// What people call it.
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

/// Whether `path`, from the top of the repository, is a file into which `andon agent install` puts hooks: configuration, as
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
    client.spec().markers.iter().map(move |(name, value)| Marker {
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
    let of_spec = |spec: &'static ClientSpec| match spec.settings.home {
        Home::Variable(name) => [spec.session, Some(name)],
        Home::Home | Home::Config => [spec.session, None],
    };
    let own = Client::every().flat_map(move |client| of_spec(client.spec())).flatten();
    markers().map(|marker| marker.name).chain(own)
}

/// Where a marker was found.
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
pub fn of_address(address: &str) -> Option<Client> {
    let address = address.to_ascii_lowercase();
    Client::every().find(|client| client.spec().addresses.iter().any(|known| names(&address, known)))
}

/// Whether `person` has `part` in it, and not as the end of a longer word: `ann.amp@ampcode.com` is not `amp@ampcode.com`.
pub(super) fn names(person: &str, part: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let begins = part.starts_with(|letter: char| letter.is_alphanumeric());
    person.match_indices(part).any(|(at, _)| !begins || !person[..at].ends_with(is_word))
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
