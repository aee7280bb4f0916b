//! Globs of paths, the usual ones without an automaton.

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

    /// Returns whether a path below `directory` may match.
    pub(super) fn may_match_below(&self, directory: &[u8]) -> bool {
        let anywhere = !self.within.is_empty() || !self.endings.is_empty() || !self.names.is_empty();
        let leads = |under: &Vec<u8>| {
            is_at_or_below(directory, under)
                || under.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
        };
        anywhere || self.globs.is_some() || self.under.iter().any(leads)
    }

    /// Returns whether every path below `directory` matches, as far as that is seen from the pattern.
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

/// Returns whether `directory` is `under`, which ends in a slash, or below it.
fn is_at_or_below(directory: &[u8], under: &[u8]) -> bool {
    directory.starts_with(under) || under.strip_suffix(b"/") == Some(directory)
}

/// The required form of the last part of a path.
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
