//! Which paths are code. Documentation and ignored paths are not, nor is Andon's own configuration and that of its hooks in
//! the clients of agents.

use std::sync::Arc;

use super::agent::is_settings;
use super::scopes::ScopeView;

/// What a path counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// Part of the code fingerprint and of the diff hash.
    Code,
    /// `paths.docs`: part of the diff hash, not of the fingerprint.
    Docs,
    /// `paths.ignore`: part of neither.
    Ignored,
}

/// `andon.toml` is never code: it proves nothing about the program, and `check` judges it on its own.
pub const CONFIG_FILE: &str = "andon.toml";

/// The kind of a file: its extension, in lower case and with its dot. Without one, executable files are of one kind,
/// and each other name is a kind of its own.
pub fn kind_of(path: &[u8], mode: u32) -> Vec<u8> {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) if dot + 1 < name.len() => name[dot..].to_ascii_lowercase(),
        Some(_) | None if mode & 0o111 != 0 => b"/".to_vec(),
        Some(_) | None => name.to_vec(),
    }
}

/// Classifies paths by `paths.docs` and `paths.ignore`. `ignore` wins over `docs`.
#[derive(Debug, Clone)]
pub struct PathRules {
    docs: Patterns,
    /// `!PATTERN` of the same list: no documentation all the same.
    not_docs: Patterns,
    ignore: Patterns,
    digest: [u8; 32],
    /// Other code counts as ignored.
    only: Option<Arc<ScopeView>>,
}

impl PathRules {
    /// Builds the rules. Fails on the first pattern that is no glob, and names it.
    pub fn new(docs: &[String], ignore: &[String]) -> Result<Self, globset::Error> {
        use sha2::Digest as _;
        let mut hasher = sha2::Sha256::new();
        // What counts as configuration of the clients is part of the rules, too.
        hasher.update("settings of clients");
        for (tag, patterns) in [("docs", docs), ("ignore", ignore)] {
            hasher.update(tag);
            for pattern in patterns {
                hasher.update((pattern.len() as u64).to_be_bytes());
                hasher.update(pattern);
            }
        }
        let (negated, plain): (Vec<&str>, Vec<&str>) =
            docs.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
        let negated: Vec<&str> = negated.iter().map(|pattern| &pattern[1..]).collect();
        Ok(Self {
            docs: Patterns::new(&plain)?,
            not_docs: Patterns::new(&negated)?,
            ignore: Patterns::new(&ignore.iter().map(String::as_str).collect::<Vec<_>>())?,
            digest: hasher.finalize().into(),
            only: None,
        })
    }

    /// The same rules, with the code that the tests of a scope read as all the code that there is.
    #[must_use]
    pub fn of_scope(&self, scope: ScopeView) -> Self {
        Self { only: Some(Arc::new(scope)), ..self.clone() }
    }

    /// The scope that these rules are for.
    pub fn scope(&self) -> Option<&ScopeView> {
        self.only.as_deref()
    }

    /// What `path` (from the repository root, slashes) counts as.
    pub fn class(&self, path: &[u8]) -> PathClass {
        if path == CONFIG_FILE.as_bytes() || is_settings(path) {
            return PathClass::Ignored;
        }
        if self.ignore.matches(path) {
            PathClass::Ignored
        } else if self.docs.matches(path) && !self.not_docs.matches(path) {
            PathClass::Docs
        } else if self.only.as_ref().is_some_and(|scope| !scope.reads(path)) {
            PathClass::Ignored
        } else {
            PathClass::Code
        }
    }

    /// Whether the first of the two lists of patterns matches `path`; `andon.toml` never does.
    pub fn is_named(&self, path: &[u8]) -> bool {
        path != CONFIG_FILE.as_bytes() && self.docs.matches(path) && !self.not_docs.matches(path)
    }

    /// Changes whenever the patterns do: part of the key of every cached fingerprint.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Some patterns. `NAME/**` is compared by its first bytes, `**/NAME/**` by the directories of the path, `**/*.EXT` by its
/// last bytes, `**/NAME`, `**/NAME*`, `**/*NAME` and `**/*NAME*.EXT` by its last part: the automatons that globset builds for them took longer than everything else a hook does with the
/// configuration.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    under: Vec<Vec<u8>>,
    /// Names of directories at any depth.
    within: Vec<Vec<u8>>,
    endings: Vec<Vec<u8>>,
    names: Vec<Name>,
    /// All others, if there are any.
    globs: Option<globset::GlobSet>,
}

impl Patterns {
    pub(super) fn new(patterns: &[&str]) -> Result<Self, globset::Error> {
        let mut found = Self::default();
        let mut globs = globset::GlobSetBuilder::new();
        for pattern in patterns.iter().copied() {
            if let Some(directory) = directory(pattern) {
                found.under.push(directory.as_bytes().to_vec());
            } else if let Some(name) = within(pattern) {
                found.within.push(name.as_bytes().to_vec());
            } else if let Some(ending) = ending(pattern) {
                found.endings.push(ending.as_bytes().to_vec());
            } else if let Some(name) = name(pattern) {
                found.names.push(name);
            } else {
                globs.add(globset::GlobBuilder::new(pattern).literal_separator(true).build()?);
                found.globs = Some(globset::GlobSet::empty());
            }
        }
        found.globs = found.globs.map(|_| globs.build()).transpose()?;
        Ok(found)
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.under.iter().any(|directory| path.starts_with(directory))
            || self.endings.iter().any(|ending| path.ends_with(ending))
            || self.names_match(path)
            || self.is_within(path)
            || self
                .globs
                .as_ref()
                .is_some_and(|globs| globs.is_match_candidate(&globset::Candidate::from_bytes(path)))
    }

    /// Whether a path below `directory` may match.
    pub(super) fn may_match_below(&self, directory: &[u8]) -> bool {
        let anywhere = !self.within.is_empty() || !self.endings.is_empty() || !self.names.is_empty();
        let leads = |under: &Vec<u8>| {
            is_at_or_below(directory, under)
                || under.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
        };
        anywhere || self.globs.is_some() || self.under.iter().any(leads)
    }

    /// Whether every path below `directory` matches, as far as that is seen from the pattern.
    pub(super) fn covers(&self, directory: &[u8]) -> bool {
        self.under.iter().any(|under| is_at_or_below(directory, under))
    }

    fn is_within(&self, path: &[u8]) -> bool {
        if self.within.is_empty() {
            return false;
        }
        let mut parts = path.split(|byte| *byte == b'/');
        // The last part is no directory.
        parts.next_back();
        parts.any(|part| self.within.iter().any(|name| name == part))
    }

    fn names_match(&self, path: &[u8]) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let last = path.iter().rposition(|byte| *byte == b'/').map_or(path, |slash| &path[slash + 1..]);
        self.names.iter().any(|name| match name {
            Name::Whole(name) => last == name,
            Name::Beginning(name) => last.starts_with(name),
            Name::Between { begins, ends } => {
                let rest = last.strip_prefix(begins.as_slice());
                rest.is_some_and(|rest| rest.ends_with(ends))
            }
            Name::Around { has, ends } => {
                let head = last.strip_suffix(ends.as_slice());
                head.is_some_and(|head| memchr::memmem::find(head, has).is_some())
            }
        })
    }
}

/// Whether `directory` is `under`, which ends in a slash, or below it.
fn is_at_or_below(directory: &[u8], under: &[u8]) -> bool {
    directory.starts_with(under) || under.strip_suffix(b"/") == Some(directory)
}

/// What the last part of a path has to be.
#[derive(Debug, Clone)]
enum Name {
    Whole(Vec<u8>),
    Beginning(Vec<u8>),
    /// `BEGINS*ENDS`
    Between {
        begins: Vec<u8>,
        ends: Vec<u8>,
    },
    /// `*HAS*ENDS`
    Around {
        has: Vec<u8>,
        ends: Vec<u8>,
    },
}

/// A literal character.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// `NAME/` of `NAME/**` when every character of it is literal.
fn directory(pattern: &str) -> Option<&str> {
    let directory = pattern.strip_suffix("**")?;
    let name = directory.strip_suffix('/')?;
    let plain = name.bytes().all(|byte| is_plain(byte) || byte == b'/');
    (!name.is_empty() && !name.starts_with('/') && plain).then_some(directory)
}

/// `NAME` of `**/NAME` and `**/NAME*` when every character of it is literal.
fn name(pattern: &str) -> Option<Name> {
    let pattern = pattern.strip_prefix("**/")?;
    if let Some((has, ends)) = pattern.strip_prefix('*').and_then(|rest| rest.split_once('*')) {
        let plain = has.bytes().chain(ends.bytes()).all(is_plain);
        let around = || Name::Around { has: has.as_bytes().to_vec(), ends: ends.as_bytes().to_vec() };
        return (plain && !has.is_empty() && !ends.is_empty()).then(around);
    }
    if let Some((begins, ends)) =
        pattern.split_once('*').filter(|(begins, ends)| !begins.is_empty() && !ends.is_empty())
    {
        let plain = begins.bytes().chain(ends.bytes()).all(is_plain);
        return plain
            .then(|| Name::Between { begins: begins.as_bytes().to_vec(), ends: ends.as_bytes().to_vec() });
    }
    let name = pattern.strip_suffix('*').unwrap_or(pattern);
    if name.is_empty() || !name.bytes().all(is_plain) {
        return None;
    }
    let bytes = name.as_bytes().to_vec();
    Some(if name == pattern { Name::Whole(bytes) } else { Name::Beginning(bytes) })
}

/// `NAME` of `**/NAME/**` when every character of it is literal.
fn within(pattern: &str) -> Option<&str> {
    let name = pattern.strip_prefix("**/")?.strip_suffix("/**")?;
    (!name.is_empty() && name.bytes().all(is_plain)).then_some(name)
}

/// `.EXT` of `**/*.EXT` when every character of it is literal.
fn ending(pattern: &str) -> Option<&str> {
    let ending = pattern.strip_prefix("**/*")?;
    (ending.starts_with('.') && ending.bytes().all(is_plain)).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[&str] = &[
        "docs",
        "docs/",
        "docs/a",
        "docs/a/b.rs",
        "docsa",
        "a/docs/b",
        ".x/y",
        "",
        "/docs/a",
        "d-1/.x/_",
        ".md",
        "a.md",
        "a/.md",
        "a.b/c.md",
        "a.md/",
        "a.md/b",
        "a.mdx",
        "md",
        "a.tar.gz",
        "a\n.md",
        "LICENSE",
        "a/LICENSE-MIT",
        "aLICENSE",
        "LICENSE/a",
        "x/LICENSE/",
        "a/.gitignore",
        "x-requirements-y.txt",
        "requirements.txt",
        "a/requirements.txt",
        "requirements/dev.txt",
        "a/requirements/b/c",
        "requirements.txt.in",
        "constraints.txt",
        "constraints-1.txt",
        "constraints.tx",
        ".gitignore",
        ".gitignore2",
    ];

    const PATTERNS: &[&str] = &[
        "docs/**",
        "docs/a/**",
        ".x/**",
        "d-1/.x/**",
        "/docs/**",
        "do?s/**",
        "docs/**/b.rs",
        "**",
        "**/*.md",
        "**/*.tar.gz",
        "**/*.",
        "**/*.m*",
        "**/*md",
        "*.md",
        "a/**/*.md",
        "**/LICENSE*",
        "**/.gitignore",
        "**/LICENSE*T",
        "**/*requirements*.txt",
        "**/constraints*.txt",
        "**/requirements/**",
        "**/a/**",
        "**/**",
        "**/*a*",
        "**/*a*b*",
        "**/a*b*",
        "**/*",
        "**/",
        "**/a/LICENSE*",
    ];

    #[test]
    fn simple_patterns_match_as_globset_has_it() {
        for pattern in PATTERNS {
            let glob = globset::GlobBuilder::new(pattern).literal_separator(true).build().unwrap();
            let wanted = glob.compile_matcher();
            let rules = PathRules::new(&[(*pattern).to_owned()], &[]).unwrap();
            for path in PATHS {
                let found = rules.class(path.as_bytes()) == PathClass::Docs;
                assert_eq!(found, wanted.is_match(path), "{pattern} on {path:?}");
            }
        }
    }
}
