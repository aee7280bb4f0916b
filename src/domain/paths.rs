//! Which paths are code. Documentation and ignored paths are not, nor is Andon's own configuration and that of its hooks in
//! the clients of agents.

use super::agent::is_settings;

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

/// Classifies paths by `paths.docs` and `paths.ignore`. `ignore` wins over `docs`.
#[derive(Debug, Clone)]
pub struct PathRules {
    docs: Patterns,
    ignore: Patterns,
    digest: [u8; 32],
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
        Ok(Self {
            docs: Patterns::new(docs)?,
            ignore: Patterns::new(ignore)?,
            digest: hasher.finalize().into(),
        })
    }

    /// What `path` (from the repository root, slashes) counts as.
    pub fn class(&self, path: &[u8]) -> PathClass {
        if path == CONFIG_FILE.as_bytes() || is_settings(path) {
            return PathClass::Ignored;
        }
        if self.ignore.matches(path) {
            PathClass::Ignored
        } else if self.docs.matches(path) {
            PathClass::Docs
        } else {
            PathClass::Code
        }
    }

    /// Whether the first of the two lists of patterns matches `path`; `andon.toml` never does.
    pub fn is_named(&self, path: &[u8]) -> bool {
        path != CONFIG_FILE.as_bytes() && self.docs.matches(path)
    }

    /// Changes whenever the patterns do: part of the key of every cached fingerprint.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Some patterns. `NAME/**` is compared by its first bytes, `**/*.EXT` by its last, `**/NAME` and `**/NAME*` by the last
/// part of the path: the automatons that globset builds for them took longer than everything else a hook does with the
/// configuration.
#[derive(Debug, Clone, Default)]
struct Patterns {
    under: Vec<Vec<u8>>,
    endings: Vec<Vec<u8>>,
    names: Vec<Name>,
    /// All others, if there are any.
    globs: Option<globset::GlobSet>,
}

impl Patterns {
    fn new(patterns: &[String]) -> Result<Self, globset::Error> {
        let mut found = Self::default();
        let mut globs = globset::GlobSetBuilder::new();
        for pattern in patterns {
            if let Some(directory) = directory(pattern) {
                found.under.push(directory.as_bytes().to_vec());
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

    fn matches(&self, path: &[u8]) -> bool {
        self.under.iter().any(|directory| path.starts_with(directory))
            || self.endings.iter().any(|ending| path.ends_with(ending))
            || self.names_match(path)
            || self
                .globs
                .as_ref()
                .is_some_and(|globs| globs.is_match_candidate(&globset::Candidate::from_bytes(path)))
    }

    fn names_match(&self, path: &[u8]) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let last = path.iter().rposition(|byte| *byte == b'/').map_or(path, |slash| &path[slash + 1..]);
        self.names.iter().any(|name| match name {
            Name::Whole(name) => last == name,
            Name::Beginning(name) => last.starts_with(name),
        })
    }
}

/// What the last part of a path has to be.
#[derive(Debug, Clone)]
enum Name {
    Whole(Vec<u8>),
    Beginning(Vec<u8>),
}

/// A character that stands for itself.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// `NAME/` of `NAME/**` when every character of it stands for itself.
fn directory(pattern: &str) -> Option<&str> {
    let directory = pattern.strip_suffix("**")?;
    let name = directory.strip_suffix('/')?;
    let plain = name.bytes().all(|byte| is_plain(byte) || byte == b'/');
    (!name.is_empty() && !name.starts_with('/') && plain).then_some(directory)
}

/// `NAME` of `**/NAME` and `**/NAME*` when every character of it stands for itself.
fn name(pattern: &str) -> Option<Name> {
    let pattern = pattern.strip_prefix("**/")?;
    let name = pattern.strip_suffix('*').unwrap_or(pattern);
    if name.is_empty() || !name.bytes().all(is_plain) {
        return None;
    }
    let bytes = name.as_bytes().to_vec();
    Some(if name == pattern { Name::Whole(bytes) } else { Name::Beginning(bytes) })
}

/// `.EXT` of `**/*.EXT` when every character of it stands for itself.
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
