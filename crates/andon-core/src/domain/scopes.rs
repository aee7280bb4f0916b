//! Parts of the code that have tests of their own: `[test.scopes]` (docs/concepts.md).
//!
//! Tests of a scope read its own paths, those of the scopes that it needs, and what belongs to no scope. So the code is
//! cut into *parts*, each path in one of them: one part a scope, and the rest. The fingerprint of a scope is made of those
//! of the parts that it reads; each part is walked once, however many scopes read it.

use crate::domain::hint::Hint;
use std::{collections::BTreeSet, sync::Arc};

use sha2::{Digest as _, Sha256};

use super::patterns::Patterns;

/// The name of the scope for code in no scope. Its tests are those of `test.command`, and no declared scope can have this name.
pub const REST: &str = "(rest)";

/// Returns the name of a scope as messages show it.
pub fn called(name: &str) -> String {
    if name == REST { "code in no scope".to_owned() } else { format!("scope {name}") }
}

/// A scope as it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Globs of its own paths, from the repository root.
    pub paths: Vec<String>,
    /// The scopes whose code its tests read, by name.
    pub needs: Vec<String>,
}

/// A reason why scopes cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScopesError {
    /// A scope needs one that is not declared.
    #[error("scope `{scope}` needs `{need}`, which is not declared")]
    Unknown { scope: String, need: String },
    /// Scopes that need each other: from one of them back to it.
    #[error("scopes need each other: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// A pattern is no glob.
    #[error(transparent)]
    Glob(#[from] globset::Error),
}

/// All scopes of a configuration, by name. Their needs form no cycle.
#[derive(Debug, Clone, Default)]
pub struct Scopes {
    scopes: Vec<ScopeEntry>,
    /// The part that belongs to no scope.
    rest: Arc<Part>,
}

#[derive(Debug, Clone)]
struct ScopeEntry {
    scope: Scope,
    own: Arc<Part>,
    /// The scopes whose code its tests read, itself among them, sorted.
    reads: Vec<usize>,
}

impl Scopes {
    /// Checks and compiles the declared scopes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn new(mut declared: Vec<Scope>) -> Result<Self, ScopesError> {
        declared.sort_by(|a, b| a.name.cmp(&b.name));
        let place = |name: &str| declared.binary_search_by(|scope| scope.name.as_str().cmp(name)).ok();
        let mut needs = Vec::with_capacity(declared.len());
        for scope in &declared {
            let unknown =
                |need: &String| ScopesError::Unknown { scope: scope.name.clone(), need: need.clone() };
            let places = scope.needs.iter().map(|need| place(need).ok_or_else(|| unknown(need)));
            needs.push(places.collect::<Result<Vec<_>, _>>()?);
        }
        if let Some(cycle) = cycle(&needs) {
            return Err(ScopesError::Cycle(cycle.into_iter().map(|at| declared[at].name.clone()).collect()));
        }
        let rest_digest = digest("rest", declared.iter());
        let mut scopes = Vec::with_capacity(declared.len());
        let mut all = Vec::with_capacity(declared.len());
        for (at, scope) in declared.into_iter().enumerate() {
            let globs: Vec<&str> = scope.paths.iter().map(String::as_str).collect();
            let patterns = Arc::new(Patterns::new(&globs)?);
            all.push(Arc::clone(&patterns));
            let digest = digest("scope", std::iter::once(&scope));
            let own = Part { name: scope.name.clone(), holds: PathFilter::Within(patterns), digest };
            scopes.push(ScopeEntry { own: Arc::new(own), reads: reads(&needs, at), scope });
        }
        let rest = Part { name: String::new(), holds: PathFilter::Outside(all), digest: rest_digest };
        Ok(Self { scopes, rest: Arc::new(rest) })
    }

    /// Returns whether any is declared.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// The scopes, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().map(|known| &known.scope)
    }

    /// Returns whether a scope of that name is declared.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// All scopes in an order in which none comes before what it needs.
    pub fn in_order(&self) -> Vec<&str> {
        let mut order: Vec<&ScopeEntry> = self.scopes.iter().collect();
        // A scope reads more than each of those that it needs.
        order.sort_by_key(|known| known.reads.len());
        order.into_iter().map(|known| known.scope.name.as_str()).collect()
    }

    /// The names of what `name` needs, directly or by others.
    pub fn needed_by(&self, name: &str) -> Vec<&str> {
        let reads = self.find(name).map(|known| known.reads.as_slice()).unwrap_or_default();
        let names = reads.iter().map(|&at| self.scopes[at].scope.name.as_str());
        names.filter(|other| *other != name).collect()
    }

    /// The scopes that `path` belongs to. More than one is a mistake in the configuration.
    pub fn owners(&self, path: &[u8]) -> Vec<&str> {
        let owners = self.scopes.iter().filter(|known| known.own.holds(path));
        owners.map(|known| known.scope.name.as_str()).collect()
    }

    /// Of `paths`, the first that belongs to two scopes, with their names.
    pub fn in_two<'a>(&self, paths: impl IntoIterator<Item = &'a [u8]>) -> Option<SharedPath> {
        if self.scopes.len() < 2 {
            return None;
        }
        paths.into_iter().find_map(|path| match self.owners(path).as_slice() {
            [one, other, ..] => {
                Some(SharedPath { path: path.to_vec(), scopes: [(*one).to_owned(), (*other).to_owned()] })
            }
            _ => None,
        })
    }

    /// Returns the code that the tests of scope `name` read; for [`REST`], the code that belongs to no scope. `None` for an
    /// unknown name.
    pub fn view(&self, name: &str) -> Option<ScopeView> {
        let mut parts = vec![Arc::clone(&self.rest)];
        if name != REST {
            parts.extend(self.find(name)?.reads.iter().map(|&at| Arc::clone(&self.scopes[at].own)));
        }
        Some(ScopeView { name: name.to_owned(), parts })
    }

    fn find(&self, name: &str) -> Option<&ScopeEntry> {
        let at = self.scopes.binary_search_by(|known| known.scope.name.as_str().cmp(name)).ok()?;
        self.scopes.get(at)
    }
}

/// Changes with whatever decides which paths are in a part; that of the rest depends on all scopes.
fn digest<'a>(kind: &str, scopes: impl Iterator<Item = &'a Scope>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(kind);
    for pattern in scopes.flat_map(|scope| &scope.paths) {
        hasher.update((pattern.len() as u64).to_be_bytes());
        hasher.update(pattern);
    }
    hasher.finalize().into()
}

/// A path that belongs to two scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPath {
    /// The path, as git stores it.
    pub path: Vec<u8>,
    /// Two of the scopes.
    pub scopes: [String; 2],
}

impl std::fmt::Display for SharedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [one, other] = &self.scopes;
        let path = String::from_utf8_lossy(&self.path);
        write!(f, "{path} belongs to two scopes, {one} and {other}: a file must be in one")
    }
}

impl SharedPath {
    /// The way out.
    pub fn help(&self) -> String {
        let name = &self.scopes[0];
        Hint::NarrowScope.with([name])
    }
}

/// The code that the tests of one scope read.
#[derive(Debug, Clone)]
pub struct ScopeView {
    name: String,
    parts: Vec<Arc<Part>>,
}

impl ScopeView {
    /// The scope's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parts that are read, the rest first, then by name.
    pub fn parts(&self) -> &[Arc<Part>] {
        &self.parts
    }

    /// Returns whether `path`, which is code, is among what the tests read.
    pub fn reads(&self, path: &[u8]) -> bool {
        self.parts.iter().any(|part| part.holds(path))
    }
}

/// One part of the code.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// The name of the scope; empty for the rest.
    pub name: String,
    holds: PathFilter,
    digest: [u8; 32],
}

#[derive(Debug, Clone)]
enum PathFilter {
    Within(Arc<Patterns>),
    /// The paths that none of these patterns match.
    Outside(Vec<Arc<Patterns>>),
}

impl Default for PathFilter {
    fn default() -> Self {
        Self::Outside(Vec::new())
    }
}

impl Part {
    /// Returns whether `path` belongs to this part.
    pub fn holds(&self, path: &[u8]) -> bool {
        match &self.holds {
            PathFilter::Within(own) => own.matches(path),
            PathFilter::Outside(all) => !all.iter().any(|own| own.matches(path)),
        }
    }

    /// Returns whether anything below the directory `path` may belong to this part. A walk need not enter another.
    pub fn may_hold_below(&self, path: &[u8]) -> bool {
        match &self.holds {
            PathFilter::Within(own) => own.may_match_below(path),
            PathFilter::Outside(all) => !all.iter().any(|own| own.covers(path)),
        }
    }

    /// Changes whenever other paths may belong to it: part of the key of every cached fingerprint.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Returns the scopes that `at` reads: itself and all that it needs, sorted.
fn reads(needs: &[Vec<usize>], at: usize) -> Vec<usize> {
    let (mut found, mut open) = (BTreeSet::from([at]), vec![at]);
    while let Some(one) = open.pop() {
        open.extend(needs[one].iter().copied().filter(|need| found.insert(*need)));
    }
    found.into_iter().collect()
}

/// A way from a scope back to itself, if there is one.
fn cycle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut done = vec![false; needs.len()];
    (0..needs.len()).find_map(|start| cycle_from(needs, &mut vec![start], &mut done))
}

/// A way that leads back into `way`, from its end on; `done` are scopes from which none does.
fn cycle_from(needs: &[Vec<usize>], way: &mut Vec<usize>, done: &mut [bool]) -> Option<Vec<usize>> {
    let at = *way.last().filter(|at| !done[**at])?;
    for &need in &needs[at] {
        if let Some(from) = way.iter().position(|open| *open == need) {
            return Some(way[from..].iter().copied().chain([need]).collect());
        }
        way.push(need);
        if let Some(found) = cycle_from(needs, way, done) {
            return Some(found);
        }
        way.pop();
    }
    done[at] = true;
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(name: &str, paths: &[&str], needs: &[&str]) -> Scope {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Scope { name: name.to_owned(), paths: owned(paths), needs: owned(needs) }
    }

    fn scopes() -> Scopes {
        let declared = vec![
            scope("cli", &["crates/cli/**"], &["core"]),
            scope("core", &["crates/core/**"], &[]),
            scope("web", &["web/**", "**/*.css"], &[]),
            scope("all", &["e2e/**"], &["cli", "web"]),
        ];
        Scopes::new(declared).unwrap()
    }

    #[test]
    fn what_a_scope_needs_comes_before_it() {
        let scopes = scopes();
        assert_eq!(scopes.in_order(), ["core", "web", "cli", "all"]);
        assert_eq!(scopes.needed_by("all"), ["cli", "core", "web"]);
        assert_eq!(scopes.needed_by("core"), [""; 0]);
    }

    #[test]
    fn each_scope_reads_its_own_its_needs_and_the_rest() {
        let scopes = scopes();
        let read = |path: &str| {
            let by = |name: &&str| scopes.view(name).unwrap().reads(path.as_bytes());
            ["all", "cli", "core", "web", REST].into_iter().filter(by).collect::<Vec<_>>()
        };
        assert_eq!(read("crates/core/src/a.rs"), ["all", "cli", "core"]);
        assert_eq!(read("crates/cli/src/a.rs"), ["all", "cli"]);
        assert_eq!(read("web/a.ts"), ["all", "web"]);
        assert_eq!(read("theme/a.css"), ["all", "web"]);
        assert_eq!(read("e2e/a.ts"), ["all"]);
        assert_eq!(read("Cargo.toml"), ["all", "cli", "core", "web", REST]);
        assert!(scopes.view("nosuch").is_none());
    }

    #[test]
    fn a_path_of_two_scopes_is_found() {
        let scopes = scopes();
        assert_eq!(scopes.owners(b"crates/core/a.css"), ["core", "web"]);
        let paths: [&[u8]; 3] = [b"README", b"web/x.css", b"crates/core/a.css"];
        let found = scopes.in_two(paths).unwrap();
        assert_eq!(
            (found.path.as_slice(), found.scopes),
            (b"crates/core/a.css".as_slice(), ["core".into(), "web".into()])
        );
        assert_eq!(scopes.in_two([b"crates/core/a".as_slice()]), None);
    }

    #[test]
    fn directories_without_code_of_a_part_are_not_entered() {
        let scopes = scopes();
        let enters = |scope: &str, part: usize, path: &str| {
            scopes.view(scope).unwrap().parts()[part].may_hold_below(path.as_bytes())
        };
        for (path, rest, core) in [
            ("crates", true, true),
            ("crates/core", false, true),
            ("crates/core/src", false, true),
            ("crates/corelib", true, false),
            ("src", true, false),
        ] {
            assert_eq!(enters("core", 0, path), rest, "rest: {path}");
            assert_eq!(enters("core", 1, path), core, "core: {path}");
        }
        assert!(enters("web", 1, "src/theme"), "any directory may hold a *.css");
    }

    #[test]
    fn mistakes_are_named() {
        let said = |declared: Vec<Scope>| Scopes::new(declared).unwrap_err().to_string();
        assert_eq!(said(vec![scope("a", &["a/**"], &["b"])]), "scope `a` needs `b`, which is not declared");
        assert_eq!(said(vec![scope("a", &["a/**"], &["a"])]), "scopes need each other: a -> a");
        let ring = vec![
            scope("a", &[], &["b"]),
            scope("b", &[], &["d", "c"]),
            scope("c", &[], &["b"]),
            scope("d", &[], &[]),
        ];
        assert_eq!(said(ring), "scopes need each other: b -> c -> b");
    }

    #[test]
    fn digests_change_with_the_paths_alone() {
        let before = scopes();
        let mut declared: Vec<Scope> = before.iter().cloned().collect();
        declared[0].needs.clear();
        declared[1].paths = vec!["tools/**".to_owned()];
        let after = Scopes::new(declared).unwrap();
        let digest =
            |scopes: &Scopes, name: &str, part: usize| *scopes.view(name).unwrap().parts()[part].digest();
        assert_eq!(digest(&before, "core", 1), digest(&after, "core", 1));
        assert_ne!(digest(&before, "cli", 1), digest(&after, "cli", 2 - 1));
        assert_ne!(digest(&before, "core", 0), digest(&after, "core", 0), "the rest is another one");
    }
}
