//! What the house is: ranks, pure modules, doors and bounds, as tables; and the check over all files.

use std::fmt;

use crate::source::{Source, SourceError};
use crate::{imports, sizes, words};

/// Whether a module may do I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// No I/O, no clock, no environment; imports only pure modules.
    Pure,
    /// Anything its doors allow.
    Impure,
}

/// The top modules with rank and nature (ARCHITECTURE.md). `main.rs` and `lib.rs` are above all ranks.
pub const MODULES: &[(&str, u8, Nature)] = &[
    ("domain", 0, Nature::Pure),
    ("platform", 0, Nature::Impure),
    ("history", 1, Nature::Pure),
    ("wire", 1, Nature::Pure),
    ("change", 1, Nature::Pure),
    ("git", 1, Nature::Impure),
    ("signing", 1, Nature::Impure),
    ("detect", 2, Nature::Pure),
    ("policy", 2, Nature::Pure),
    ("signals", 2, Nature::Pure),
    ("review", 2, Nature::Pure),
    ("report", 2, Nature::Pure),
    ("store", 2, Nature::Impure),
    ("ledger", 2, Nature::Impure),
    ("config", 3, Nature::Impure),
    ("adapter", 3, Nature::Impure),
    ("effect", 3, Nature::Impure),
    ("engine", 4, Nature::Impure),
    ("ops", 5, Nature::Impure),
    ("cli", 6, Nature::Impure),
];

/// The libraries below `crates/`, with their nature. They know nothing of the package that uses them.
pub const LIBRARIES: &[(&str, Nature)] = &[("testreport", Nature::Pure)];

/// The module of the verbs: a file or a folder each, and none imports another.
pub const VERBS: &str = "ops";

/// Something that only a few files may touch.
pub struct Door {
    /// What passes through it, for the message.
    pub name: &'static str,
    /// The paths that are closed elsewhere.
    pub targets: &'static [&'static str],
    /// Files, or directories with a slash at the end, where the door is.
    pub at: &'static [&'static str],
}

const STREAMS: &[&str] = &[
    "std::io::stdout",
    "std::io::stderr",
    "std::io::Stdout",
    "std::io::Stderr",
    "std::io::StdoutLock",
    "std::io::StderrLock",
];

/// Every door.
pub const DOORS: &[Door] = &[
    Door { name: "git2", targets: &["git2", "libgit2_sys"], at: &["src/git/"] },
    Door {
        name: "starting a program",
        targets: &[
            "std::process::Command",
            "nix::unistd::fork",
            "nix::unistd::execv",
            "nix::unistd::execvp",
            "nix::spawn",
        ],
        at: &[
            "src/git/program.rs",
            "src/signing/signer.rs",
            "src/effect/program/unix/start.rs",
            "src/effect/program/windows/start.rs",
            "src/effect/hook_program.rs",
            "src/effect/capture.rs",
            "src/effect/consult.rs",
            "src/effect/editor.rs",
            "src/effect/ask.rs",
            "src/platform/",
        ],
    },
    Door {
        name: "what only some operating systems have",
        targets: &["std::os", "nix", "rustix", "ctrlc", "same_file"],
        at: &["src/platform/", "src/effect/program/", "src/git/watch/"],
    },
    Door { name: "the environment", targets: &["std::env"], at: &["src/engine/context.rs", "src/main.rs"] },
    Door {
        name: "the clock",
        targets: &["std::time::SystemTime::now", "jiff::Timestamp::now", "jiff::Zoned::now"],
        at: &["src/engine/context.rs"],
    },
    Door { name: "the screen of a terminal", targets: &["ratatui"], at: &["src/cli/screen/"] },
    Door { name: "standard output and error", targets: STREAMS, at: &["src/cli/output.rs"] },
];

/// Macros that print: the same door as the streams.
pub const PRINTING_MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Where printing is done.
pub const PRINTING_AT: &[&str] = &["src/cli/output.rs"];

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

/// Names that several public types may have: each stands in for the other where the system lacks something.
pub const SHARED_NAMES: &[&str] = &["Ended", "Screens", "Watch", "Withheld"];

/// The modules in which a doc comment that says nothing is a violation.
pub const PLAIN_DOCS: &[&str] = &["cli", "effect", "policy", "report", "signals"];

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
        violations.extend(imports::check(source));
        violations.extend(sizes::check(source));
        violations.extend(words::check(source));
    }
    let of = |library: Option<&str>| {
        sources.iter().filter(|source| source.library.as_deref() == library).collect::<Vec<_>>()
    };
    violations.extend(imports::cycles(&of(None)));
    violations.extend(LIBRARIES.iter().flat_map(|(library, _)| imports::cycles(&of(Some(library)))));
    violations.extend(imports::unregistered_rules(&sources));
    violations.extend(imports::rule_ids(&sources));
    violations.extend(sizes::check_all(&sources));
    violations.extend(words::check_all(&sources));
    violations.sort();
    violations.dedup();
    violations
}

/// Rank and nature of a top module.
pub fn module(name: &str) -> Option<(u8, Nature)> {
    MODULES.iter().find(|(known, _, _)| *known == name).map(|(_, rank, nature)| (*rank, *nature))
}

/// Nature of a library below `crates/`.
pub fn library(name: &str) -> Option<Nature> {
    LIBRARIES.iter().find(|(known, _)| *known == name).map(|(_, nature)| *nature)
}

/// True when `path` is one of `places`, or lies in one that ends with a slash.
pub fn is_at(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path == *place || (place.ends_with('/') && path.starts_with(place)))
}
