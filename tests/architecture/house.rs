//! What the house is: pure places, doors and bounds, as tables; and the check over all files. Which crate may use which
//! is said by their manifests, and Cargo sees to it; clippy's `disallowed_methods` and `print_stdout` close the doors of
//! environment, clock, output and starting programs.

use std::collections::BTreeSet;
use std::fmt;

use crate::source::{Source, SourceError};
use crate::{doors, graph, sizes, words};

/// Where nothing does I/O or reads a clock or the environment.
pub const PURE: &[&str] = &[
    "crates/testreport/src/",
    "crates/andon-core/src/",
    "crates/andon-weakening/src/",
    "crates/andon-review/src/",
    "crates/andon-agents/src/",
    "crates/andon-store/src/wire/",
    "crates/andon-engine/src/guess/",
    "crates/andon-engine/src/json/",
    "crates/andon-engine/src/text/",
    "crates/andon-engine/src/view/",
];

/// Libraries that know nothing of the product: they do not even name it.
pub const STRANGERS: &[&str] = &["testreport"];

/// The folder of the verbs, a file or a folder each. A verb imports no other but where it begins: in its one file, or in the
/// `mod.rs` of its folder.
pub const VERBS: &str = "verbs";

/// Files and folders of a verb that are pure: they show what was found out.
pub const PURE_PARTS: &[&str] = &["ci", "html", "text"];

/// Where the rules are, and their registry.
pub const RULES: &str = "crates/andon-core/src/detect/";

/// Something that only a few files may touch.
pub struct Door {
    /// What passes through it, for the message.
    pub name: &'static str,
    /// The paths that are closed elsewhere.
    pub targets: &'static [&'static str],
    /// Files, or directories with a slash at the end, where the door is.
    pub at: &'static [&'static str],
}

/// Every door that clippy cannot close.
pub const DOORS: &[Door] = &[
    Door {
        name: "what only some operating systems have",
        targets: &["std::os", "nix", "rustix", "ctrlc", "same_file"],
        at: &["crates/andon-git/src/platform/", "crates/andon-engine/src/effect/program/"],
    },
    Door {
        name: "a regular expression over text",
        targets: &["regex::Regex::new", "regex::RegexBuilder", "regex::RegexSet"],
        at: &["crates/testreport/src/pattern.rs"],
    },
    Door { name: "the screen of a terminal", targets: &["ratatui"], at: &["src/cli/screen/"] },
];

/// What a pure module may not name.
pub const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "std::os",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::thread::scope",
    "std::io::stdin",
    "std::io::Stdin",
    "std::io::stdout",
    "std::io::Stdout",
    "std::io::stderr",
    "std::io::Stderr",
    "std::time::SystemTime",
    "std::time::Instant",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "jiff::tz::TimeZone::system",
    "git2",
    "nix",
    "rustix",
    "tempfile",
];

/// Methods of `std::path::Path` that look at the disk: closed to pure modules.
pub const IMPURE_METHODS: &[&str] = &[
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// Names that say nothing about what a module is for.
pub const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "errors", "misc"];

/// Names that several public types may have: each replaces the other where the system lacks something.
pub const SHARED_NAMES: &[&str] = &["Screens", "SignalBlock"];

/// Where a doc comment that says nothing is a violation.
pub const PLAIN_DOCS: &[&str] = &[
    "crates/andon-core/src/policy/",
    "crates/andon-core/src/signals/",
    "crates/andon-engine/src/effect/",
    "crates/andon-engine/src/text/",
    "src/cli/",
    "src/install/",
];

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// From the repository root.
    pub path: String,
    /// 1-based; 0 when the whole tree is meant.
    pub line: usize,
    /// Which rule, a fixed word for the tests.
    pub rule: &'static str,
    /// What is wrong and what holds instead.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// Everything that is wrong with `files` (path from the repository root, text), in order.
pub fn check(files: &[(String, String)]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut sources = Vec::new();
    for (path, text) in files {
        match Source::parse(path, text) {
            Ok(source) => sources.push(source),
            Err(SourceError { line, message }) => {
                violations.push(Violation { path: path.clone(), line, rule: "syntax", message });
            }
        }
    }
    let test_only: Vec<_> = sources.iter().flat_map(Source::test_modules).collect();
    sources.retain(|source| !test_only.iter().any(|module| source.is_below(module)));
    for source in &sources {
        violations.extend(doors::check(source));
        violations.extend(sizes::check(source));
        violations.extend(words::check(source));
    }
    let libraries: BTreeSet<Option<&str>> = sources.iter().map(|source| source.library.as_deref()).collect();
    for library in libraries {
        let own: Vec<&Source> =
            sources.iter().filter(|source| source.library.as_deref() == library).collect();
        violations.extend(graph::cycles(&own));
    }
    violations.extend(graph::unregistered_rules(&sources));
    violations.extend(graph::rule_ids(&sources));
    violations.extend(sizes::check_all(&sources));
    violations.extend(words::check_all(&sources));
    violations.sort();
    violations.dedup();
    violations
}

/// True when `path` is one of `places`, or lies in one that ends with a slash.
pub fn is_at(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path == *place || (place.ends_with('/') && path.starts_with(place)))
}
