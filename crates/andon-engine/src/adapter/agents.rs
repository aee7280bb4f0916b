//! The signs in a shell's environment that an agent is at work in it, with its node and session.

use std::collections::BTreeMap;

use andon_core::domain::{Client, agent::markers};

/// Variables in which an orchestrator names the node and the session.
pub const NODE_VARIABLE: &str = "ANDON_NODE";
/// See [`NODE_VARIABLE`].
pub const SESSION_VARIABLE: &str = "ANDON_SESSION";

/// The node without a declared workflow (docs/concepts.md).
pub const DEFAULT_NODE: &str = "agent";

const MAX_NAME: usize = 128;

/// The agent or person at work, as far as the environment says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actor {
    /// The marker that gives an agent's shell away.
    pub marker: Option<&'static str>,
    /// Whose shell it is, where the marker says so.
    pub client: Option<Client>,
    /// `ANDON_NODE`.
    pub node: Option<String>,
    /// `ANDON_SESSION`, else the thread id that an agent gives.
    pub session: Option<String>,
}

impl Actor {
    /// Reads the actor from the environment as `context` captured it. An empty value or `0` is no marker.
    pub fn from_environment(vars: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| vars.get(name).filter(|value| !value.is_empty() && *value != "0");
        let marker = markers().find(|marker| {
            set(marker.name).is_some_and(|value| marker.value.is_none_or(|wanted| value == wanted))
        });
        let of_client = || Client::every().find_map(|client| set(client.signs().session?));
        Self {
            marker: marker.map(|marker| marker.name),
            client: marker.and_then(|marker| marker.client),
            node: set(NODE_VARIABLE).map(|node| bounded(node)),
            session: set(SESSION_VARIABLE).or_else(of_client).map(|session| bounded(session)),
        }
    }

    /// The marker in an environment as the system keeps it: `NAME=VALUE`, each ended by a zero byte.
    pub fn marker_in(environment: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(environment);
        let is_marker = |name: &str| markers().any(|marker| marker.name == name);
        let vars =
            text.split('\0').filter_map(|line| line.split_once('=')).filter(|(name, _)| is_marker(name));
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self::from_environment(&vars).marker
    }

    /// True when anything says that an agent is at work.
    pub fn is_agent(&self) -> bool {
        self.marker.is_some() || self.node.is_some()
    }

    /// The node for records.
    pub fn node_name(&self) -> String {
        self.node.clone().unwrap_or_else(|| DEFAULT_NODE.to_owned())
    }
}

fn bounded(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn markers_are_found_and_zero_is_none() {
        assert_eq!(Actor::from_environment(&vars(&[("CLAUDECODE", "1")])).marker, Some("CLAUDECODE"));
        assert_eq!(Actor::from_environment(&vars(&[("CLAUDECODE", "0"), ("GEMINI_CLI", "")])).marker, None);
        let of = |name, value| Actor::from_environment(&vars(&[(name, value)]));
        assert_eq!(of("OR_APP_NAME", "OpenHands").client, Some(Client::Openhands));
        assert_eq!((of("OR_APP_NAME", "Aider").client, of("OR_APP_NAME", "x").marker), (None, None));
        assert_eq!(of("AGENT", "1").marker, Some("AGENT"));
        assert!(!Actor::from_environment(&BTreeMap::new()).is_agent());
    }

    #[test]
    fn an_environment_is_searched_as_it_lies_in_memory() {
        let found = |bytes: &[u8]| Actor::marker_in(bytes);
        assert_eq!(found(b"HOME=/x\0CLAUDECODE=1\0"), Some("CLAUDECODE"));
        assert_eq!(found(b"XCLAUDECODE=1\0CLAUDECODE=0\0odd\0\xff=\xfe\0"), None);
        assert_eq!(found(b""), None);
    }

    #[test]
    fn node_and_session_are_read_and_bounded() {
        let actor = Actor::from_environment(&vars(&[("ANDON_NODE", "coder"), ("CODEX_THREAD_ID", "t1")]));
        assert_eq!(actor.node_name(), "coder");
        assert_eq!(actor.session.as_deref(), Some("t1"));
        let long = "x".repeat(10_000);
        assert_eq!(Actor::from_environment(&vars(&[("ANDON_NODE", &long)])).node_name().len(), MAX_NAME);
    }
}
