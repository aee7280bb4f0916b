//! The agent's own configuration as a value: which files it consists of, what was pinned, and how the two differ
//! (docs/spec-map.md, loop rules: agentic identity). An agent that can change its own instructions unseen is not the
//! agent that was admitted.

use std::{collections::BTreeMap, fmt};

use sha2::{Digest as _, Sha256};

use super::{Digest, Oid};

/// Most files that a configuration may consist of.
pub const MAX_FILES: usize = 1024;

/// A file of the configuration: mode and content, the latter by git's id of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// As git has it, such as `0o100644`.
    pub mode: u32,
    /// git's blob id of the content.
    pub id: Oid,
}

impl fmt::Display for FileState {
    /// `100644 <id>`, as written in `andon.toml`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:o} {}", self.mode, self.id)
    }
}

impl std::str::FromStr for FileState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (mode, id) = text.split_once(' ').ok_or(())?;
        let digits = mode.len() <= 6 && mode.bytes().all(|byte| byte.is_ascii_digit());
        let mode = u32::from_str_radix(mode, 8).ok().filter(|_| digits).ok_or(())?;
        Ok(Self { mode, id: id.parse().map_err(|_| ())? })
    }
}

/// Files by path, in git's order.
pub type Files = BTreeMap<Vec<u8>, FileState>;

/// The checksum of a configuration: sha256 over `mode SP path NUL id LF`, path by path.
pub fn checksum(files: &Files) -> Digest {
    let mut hash = Sha256::new();
    for (path, FileState { mode, id }) in files {
        hash.update(format!("{mode:o} "));
        hash.update(path);
        hash.update(format!("\0{id}\n"));
    }
    Digest(hash.finalize().into())
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IdentityRules {
    /// Globs of the configuration's files.
    pub files: Vec<String>,
    /// The pinned checksum; `None` until something is pinned.
    pub checksum: Option<Digest>,
    /// The session that commits must carry.
    pub workflow_binding: Option<String>,
    /// The nodes that may commit; empty for all.
    pub authorized_roles: Vec<String>,
    /// The pinned files, which name a drift; the checksum alone judges it.
    pub pinned: BTreeMap<String, FileState>,
}

impl IdentityRules {
    /// Returns whether there is anything to judge.
    pub fn is_declared(&self) -> bool {
        self.checksum.is_some() || self.workflow_binding.is_some() || !self.authorized_roles.is_empty()
    }
}

/// The claims that a commit carries about who made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims<'a> {
    /// Session or correlation id.
    pub session: Option<&'a str>,
    /// Node of the workflow.
    pub node: &'a str,
}

/// One way in which something is not as it was pinned. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// A file with another content or mode.
    Changed(String),
    /// A file that was not there.
    Added(String),
    /// A file that is gone.
    Removed(String),
    /// The checksum differs, and the pinned files do not say where.
    Unexplained,
    /// Another session than the bound one, or none.
    Session { wanted: String, found: Option<String> },
    /// A node of a commit that may not commit, and those that may.
    Role { found: String, authorized: Vec<String> },
}

impl Mismatch {
    /// The path, of those about a file.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Changed(path) | Self::Added(path) | Self::Removed(path) => Some(path),
            Self::Unexplained | Self::Session { .. } | Self::Role { .. } => None,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(path) => write!(f, "{path} changed"),
            Self::Added(path) => write!(f, "{path} is new"),
            Self::Removed(path) => write!(f, "{path} is gone"),
            Self::Unexplained => f.write_str("the checksum differs from what [identity.pinned] lists"),
            Self::Session { wanted, found: Some(found) } => {
                write!(f, "the session is {found:?}, and the workflow is bound to {wanted:?}")
            }
            Self::Session { wanted, found: None } => {
                write!(f, "there is no session, and the workflow is bound to {wanted:?}")
            }
            Self::Role { found, authorized } => {
                write!(f, "the node {found:?} is none of the authorized roles: {}", authorized.join(", "))
            }
        }
    }
}

/// Returns the differences between `files` and what is pinned. There are none when nothing is pinned.
pub fn drift(rules: &IdentityRules, files: &Files) -> Vec<Mismatch> {
    if rules.checksum.is_none_or(|pinned| pinned == checksum(files)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut pinned = rules.pinned.clone();
    for (path, state) in files {
        let name = String::from_utf8_lossy(path).into_owned();
        match pinned.remove(&name) {
            Some(was) if was == *state => {}
            Some(_) => found.push(Mismatch::Changed(name)),
            None => found.push(Mismatch::Added(name)),
        }
    }
    found.extend(pinned.into_keys().map(Mismatch::Removed));
    if found.is_empty() {
        found.push(Mismatch::Unexplained);
    }
    found
}

/// Returns the differences between a commit and the declared binding and roles. A claim that the commit does not carry does not
/// match.
pub fn unbound(rules: &IdentityRules, claims: Claims<'_>) -> Vec<Mismatch> {
    let wanted = rules.workflow_binding.as_ref().filter(|wanted| claims.session != Some(wanted.as_str()));
    let session = wanted
        .map(|wanted| Mismatch::Session { wanted: wanted.clone(), found: claims.session.map(str::to_owned) });
    let authorized = &rules.authorized_roles;
    let barred = !authorized.is_empty() && !authorized.iter().any(|role| role == claims.node);
    let role =
        barred.then(|| Mismatch::Role { found: claims.node.to_owned(), authorized: authorized.clone() });
    session.into_iter().chain(role).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state(byte: u8) -> FileState {
        FileState { mode: 0o100_644, id: Oid::from_bytes(&[byte; 20]).unwrap() }
    }

    fn files(of: &[(&str, u8)]) -> Files {
        of.iter().map(|(path, byte)| (path.as_bytes().to_vec(), state(*byte))).collect()
    }

    fn pinned(of: &[(&str, u8)]) -> IdentityRules {
        let pinned = of.iter().map(|(path, byte)| ((*path).to_owned(), state(*byte))).collect();
        IdentityRules { checksum: Some(checksum(&files(of))), pinned, ..IdentityRules::default() }
    }

    #[test]
    fn a_drift_names_its_files() {
        let rules = pinned(&[("A.md", 1), ("B.md", 2)]);
        let summary = |of: &[(&str, u8)]| {
            drift(&rules, &files(of)).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(summary(&[("A.md", 1), ("B.md", 2)]), "");
        assert_eq!(summary(&[("A.md", 9), ("C.md", 3)]), "A.md changed, C.md is new, B.md is gone");
        let mut executable = files(&[("A.md", 1), ("B.md", 2)]);
        executable.get_mut(&b"A.md"[..]).unwrap().mode = 0o100_755;
        assert_eq!(drift(&rules, &executable), [Mismatch::Changed("A.md".to_owned())]);
        // The list was edited and the checksum was not: the checksum decides.
        let mut edited = pinned(&[("A.md", 1)]);
        edited.pinned.insert("A.md".to_owned(), state(9));
        assert_eq!(drift(&edited, &files(&[("A.md", 9)])), [Mismatch::Unexplained]);
        assert_eq!(drift(&edited, &files(&[("A.md", 1)])), []);
        assert_eq!(drift(&IdentityRules::default(), &files(&[("A.md", 1)])), []);
    }

    #[test]
    fn what_is_bound_must_be_carried() {
        let rules = IdentityRules {
            workflow_binding: Some("flow-1".to_owned()),
            authorized_roles: vec!["coder".to_owned(), "tester".to_owned()],
            ..IdentityRules::default()
        };
        for (session, node, mismatches) in [
            (Some("flow-1"), "coder", 0),
            (Some("flow-1"), "planner", 1),
            (Some("flow-10"), "tester", 1),
            (None, "agent", 2),
        ] {
            assert_eq!(unbound(&rules, Claims { session, node }).len(), mismatches, "{session:?} {node}");
        }
        assert!(unbound(&IdentityRules::default(), Claims { session: None, node: "x" }).is_empty());
    }

    #[test]
    fn a_state_survives_its_text() {
        for text in ["", "100644", "100644 x", "8 aa", "1000000000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
        {
            assert!(text.parse::<FileState>().is_err(), "{text}");
        }
        assert_eq!(state(7).to_string().parse(), Ok(state(7)));
    }

    proptest! {
        #[test]
        fn any_difference_changes_the_checksum(
            one in prop::collection::btree_map("[a-c/ \\n0-9]{1,6}", 0_u8..4, 0..5),
            other in prop::collection::btree_map("[a-c/ \\n0-9]{1,6}", 0_u8..4, 0..5),
        ) {
            let of = |map: &std::collections::BTreeMap<String, u8>| -> Files {
                map.iter().map(|(path, byte)| (path.as_bytes().to_vec(), state(*byte))).collect()
            };
            prop_assert_eq!(checksum(&of(&one)) == checksum(&of(&other)), one == other);
        }
    }
}
