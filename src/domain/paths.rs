//! Which paths are code. Documentation and ignored paths are not, nor is Andon's own configuration.

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
    docs: globset::GlobSet,
    ignore: globset::GlobSet,
    digest: [u8; 32],
}

impl PathRules {
    /// Builds the rules. Fails on the first pattern that is no glob, and names it.
    pub fn new(docs: &[String], ignore: &[String]) -> Result<Self, globset::Error> {
        use sha2::Digest as _;
        let mut hasher = sha2::Sha256::new();
        for (tag, patterns) in [("docs", docs), ("ignore", ignore)] {
            hasher.update(tag);
            for pattern in patterns {
                hasher.update((pattern.len() as u64).to_be_bytes());
                hasher.update(pattern);
            }
        }
        Ok(Self { docs: build(docs)?, ignore: build(ignore)?, digest: hasher.finalize().into() })
    }

    /// What `path` (from the repository root, slashes) counts as.
    pub fn class(&self, path: &[u8]) -> PathClass {
        if path == CONFIG_FILE.as_bytes() {
            return PathClass::Ignored;
        }
        let candidate = globset::Candidate::from_bytes(path);
        if self.ignore.is_match_candidate(&candidate) {
            PathClass::Ignored
        } else if self.docs.is_match_candidate(&candidate) {
            PathClass::Docs
        } else {
            PathClass::Code
        }
    }

    /// Changes whenever the patterns do: part of the key of every cached fingerprint.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

fn build(patterns: &[String]) -> Result<globset::GlobSet, globset::Error> {
    let mut set = globset::GlobSetBuilder::new();
    for pattern in patterns {
        set.add(globset::GlobBuilder::new(pattern).literal_separator(true).build()?);
    }
    set.build()
}
