//! Which paths are code. Documentation and ignored paths are not, nor is Andon's own configuration and that of its hooks in
//! the clients of agents.

use std::sync::Arc;

use super::{ScopeView, agent::is_settings, patterns::Patterns};

/// The class that a path counts as.
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

/// The verdict of a pattern of `paths.docs` on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Docs,
    /// `!PATTERN`: no documentation all the same.
    NotDocs,
}

/// Classifies paths by `paths.docs` and `paths.ignore`. `ignore` wins over `docs`.
#[derive(Debug, Clone)]
pub struct PathRules {
    /// In their order, each with what it says; the last one that matches decides.
    docs: Vec<(Says, Patterns)>,
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
        // The files that count as configuration of clients are part of the rules, too.
        hasher.update("settings of clients, the last pattern wins");
        for (tag, patterns) in [("docs", docs), ("ignore", ignore)] {
            hasher.update(tag);
            for pattern in patterns {
                hasher.update((pattern.len() as u64).to_be_bytes());
                hasher.update(pattern);
            }
        }
        let says = |pattern: &String| if pattern.starts_with('!') { Says::NotDocs } else { Says::Docs };
        let in_order = docs.chunk_by(|one, next| says(one) == says(next)).map(|alike| {
            let patterns: Vec<&str> =
                alike.iter().map(|pattern| pattern.strip_prefix('!').unwrap_or(pattern)).collect();
            Ok((alike.first().map_or(Says::Docs, says), Patterns::new(&patterns)?))
        });
        Ok(Self {
            docs: in_order.collect::<Result<_, globset::Error>>()?,
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

    /// Returns the class that `path` (from the repository root, slashes) counts as.
    pub fn class(&self, path: &[u8]) -> PathClass {
        if path == CONFIG_FILE.as_bytes() || is_settings(path) {
            return PathClass::Ignored;
        }
        if self.ignore.matches(path) {
            PathClass::Ignored
        } else if self.is_docs(path) {
            PathClass::Docs
        } else if self.only.as_ref().is_some_and(|scope| !scope.reads(path)) {
            PathClass::Ignored
        } else {
            PathClass::Code
        }
    }

    /// Returns whether the first of the two lists of patterns matches `path`; `andon.toml` never does.
    pub fn is_named(&self, path: &[u8]) -> bool {
        path != CONFIG_FILE.as_bytes() && self.is_docs(path)
    }

    fn is_docs(&self, path: &[u8]) -> bool {
        let last = self.docs.iter().rev().find(|(_, patterns)| patterns.matches(path));
        last.is_some_and(|(says, _)| *says == Says::Docs)
    }

    /// Changes whenever the patterns do: part of the key of every cached fingerprint.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
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
