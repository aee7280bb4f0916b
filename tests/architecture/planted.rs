//! Plants each fault in memory and expects to see it found, at its line, and nothing else.

use crate::house::{self, Violation};
use crate::sizes;

fn found_in(files: &[(&str, &str)]) -> Vec<Violation> {
    let files: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    house::check(&files)
}

/// Expects exactly one kind of violation in one file: `rule` at `line`.
fn assert_found(path: &str, text: &str, rule: &str, line: usize) {
    let found = found_in(&[(path, text)]);
    assert!(
        found.iter().any(|v| v.rule == rule && v.line == line),
        "{rule} not found in {path}: {text}\n{found:#?}"
    );
    assert!(found.iter().all(|v| v.rule == rule), "more than {rule} found in {path}: {text}\n{found:#?}");
}

fn assert_clean(path: &str, text: &str) {
    let found = found_in(&[(path, text)]);
    assert!(found.is_empty(), "{path}: {text}\n{found:#?}");
}

#[test]
fn impure_std_and_crates_are_found_in_every_pure_module() {
    for text in [
        "use std::fs;",
        "use std::{collections::BTreeMap, fs::File};",
        "use std::net::TcpStream;",
        "use std::process::ExitCode;",
        "use std::time::Instant;",
        "use std::time::{Duration, SystemTime};",
        "use std::thread;fn f() { thread::sleep(D); }",
        "use std::io::{self, Write};fn f() { io::stdin(); }",
        "use std::*;",
        "fn f() { std::fs::read(P); }",
        "fn f() { ::std::fs::read(P); }",
        "use nix::unistd;",
        "use rustix::process;",
        "use tempfile::tempdir;",
        "fn f(path: &Path) -> bool { path.exists() }",
        "fn f() -> jiff::tz::TimeZone { jiff::tz::TimeZone::system() }",
    ] {
        for place in house::PURE {
            let path = format!("{place}part.rs");
            let found = found_in(&[(&path, text)]);
            assert!(found.iter().any(|v| v.rule == "impure" && v.line == 1), "{path}: {text}\n{found:#?}");
        }
    }
}

#[test]
fn a_verb_that_imports_another_is_found() {
    for (path, text) in [
        ("src/verbs/tick/run.rs", "use crate::verbs::observe::watch;"),
        ("src/verbs/tick/run.rs", "use super::super::observe;"),
        ("src/verbs/tick/text.rs", "fn f() { super::super::observe::watch(); }"),
        ("src/verbs/check/run/mod.rs", "use super::super::{error, replay::settings};"),
        ("src/verbs/check/run/chain.rs", "use super::super::super::replay::settings;"),
        ("src/verbs/check/run/chain.rs", "fn f(_: &crate::verbs::replay::Asked) {}"),
    ] {
        assert_found(path, text, "verb", 1);
    }
    assert_clean(
        "src/verbs/check/run/chain.rs",
        "use super::records; use crate::verbs::check::run::range::source;",
    );
    assert_clean("src/verbs/check/run/chain.rs", "use crate::engine::timeline;");
    assert_clean("src/verbs/check/run/tests.rs", "#[cfg(test)]\nmod tests { use crate::verbs::install; }");
    assert_clean("src/verbs/check/mod.rs", "use crate::verbs::{check::run, replay};");
    assert_clean("src/verbs/attest.rs", "use crate::verbs::check::run;");
}

#[test]
fn each_door_is_closed_elsewhere_and_open_at_its_place() {
    let program = "crates/andon-engine/src/effect/program";
    for (text, elsewhere, door) in [
        (
            "use nix::spawn::posix_spawnp;",
            "crates/andon-engine/src/effect/hook_program.rs".to_owned(),
            format!("{program}/unix/start.rs"),
        ),
        (
            "use std::os::unix::fs::MetadataExt;",
            "crates/andon-git/src/open/mod.rs".to_owned(),
            "crates/andon-git/src/platform/unix/files.rs".to_owned(),
        ),
        (
            "fn f() { nix::unistd::getpid(); }",
            "crates/andon-store/src/process.rs".to_owned(),
            format!("{program}/unix/signals.rs"),
        ),
        ("use rustix as r;", "src/verbs/mod.rs".to_owned(), format!("{program}/unix/terminal.rs")),
        (
            "extern crate nix as n;",
            "src/verbs/mod.rs".to_owned(),
            "crates/andon-git/src/platform/mod.rs".to_owned(),
        ),
        (
            "fn f() { let _ = regex::Regex::new(\"a\"); }",
            "crates/andon-engine/src/adapter/events/answer.rs".to_owned(),
            "crates/testreport/src/pattern.rs".to_owned(),
        ),
        ("use ratatui::Frame;", "src/cli/mod.rs".to_owned(), "src/cli/screen/mod.rs".to_owned()),
    ] {
        assert_found(&elsewhere, text, "door", 1);
        assert_clean(&door, text);
    }
}

#[test]
fn a_door_is_not_handed_on() {
    assert_found("crates/andon-git/src/platform/mod.rs", "pub use nix::unistd;", "door", 1);
    assert_found(
        "crates/andon-git/src/platform/mod.rs",
        "pub(crate) use std::os::unix::fs::MetadataExt;",
        "door",
        1,
    );
    assert_found("src/cli/screen/mod.rs", "pub use ratatui::Frame;", "door", 1);
}

#[test]
fn the_root_hides_nothing() {
    assert_found("src/verbs/mod.rs", "use crate as root;", "root", 1);
    assert_found("src/verbs/mod.rs", "use crate::*;", "root", 1);
    assert_clean("crates/andon-git/src/refs/mod.rs", "use crate::*;");
}

#[test]
fn a_circle_of_imports_is_found() {
    let found = found_in(&[
        ("crates/andon-store/src/store/mod.rs", "mod a; mod b; mod c;"),
        ("crates/andon-store/src/store/a.rs", "use super::b::B; struct A;"),
        ("crates/andon-store/src/store/b.rs", "use super::c::C; struct B;"),
        ("crates/andon-store/src/store/c.rs", "use crate::store::a::A; struct C;"),
    ]);
    let files: Vec<&str> = found.iter().filter(|v| v.rule == "cycle").map(|v| &v.path[..]).collect();
    assert_eq!(
        files,
        [
            "crates/andon-store/src/store/a.rs",
            "crates/andon-store/src/store/b.rs",
            "crates/andon-store/src/store/c.rs"
        ]
    );
    assert_eq!(found.len(), 3);
    let found = found_in(&[
        ("crates/testreport/src/a.rs", "use crate::b::B; struct A;"),
        ("crates/testreport/src/b.rs", "use crate::a::A; struct B;"),
    ]);
    assert!(found.len() == 2 && found.iter().all(|v| v.rule == "cycle"), "{found:#?}");
    let found = found_in(&[
        ("crates/andon-store/src/store/mod.rs", "mod a; pub use self::a::A;"),
        ("crates/andon-store/src/store/a.rs", "use crate::wire::B; pub struct A;"),
        ("crates/andon-store/src/wire/mod.rs", "mod b; pub use self::b::B;"),
        ("crates/andon-store/src/wire/b.rs", "use crate::store::A; pub struct B;"),
    ]);
    assert!(found.len() == 2 && found.iter().all(|v| v.rule == "cycle"), "{found:#?}");
    let found = found_in(&[
        ("crates/andon-store/src/store/mod.rs", "mod a; mod b; pub use self::{a::A, b::B};"),
        ("crates/andon-store/src/store/a.rs", "use super::B; pub struct A;"),
        ("crates/andon-store/src/store/b.rs", "use super::A; pub struct B;"),
    ]);
    assert!(found.len() == 2 && found.iter().all(|v| v.rule == "cycle"), "{found:#?}");
    let tree = [
        ("crates/andon-store/src/store/mod.rs", "mod a; use a::A;"),
        ("crates/andon-store/src/store/a.rs", "use super::B; struct A;"),
    ];
    assert!(found_in(&tree).is_empty(), "a parent and its child are no circle");
}

#[test]
fn a_rule_outside_the_registry_is_found() {
    let registry = "pub static REGISTRY: &[&dyn Rule] = &[&rules::cap::RULE, &Swing];\nuse rules::swing::Swing;\nfn f() { REGISTRY.get(lost); }";
    let rule = "pub(super) struct Swing;";
    let files = [
        ("crates/andon-core/src/detect/mod.rs", registry),
        ("crates/andon-core/src/detect/rules/cap.rs", rule),
        ("crates/andon-core/src/detect/rules/mod.rs", "mod cap; mod swing;"),
        ("crates/andon-core/src/detect/rules/swing.rs", rule),
    ];
    assert_eq!(found_in(&files), []);
    let mut more = files.to_vec();
    more.push(("crates/andon-core/src/detect/rules/lost.rs", rule));
    let found = found_in(&more);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].rule, &found[0].path[..]),
        ("unregistered", "crates/andon-core/src/detect/rules/lost.rs")
    );
}

#[test]
fn the_id_of_a_rule_outside_of_detect_is_found() {
    let rule = ("crates/andon-core/src/detect/rules/tool_loop.rs", "");
    let registry = (
        "crates/andon-core/src/detect/mod.rs",
        "static REGISTRY: &[&Rule] = &[&rules::tool_loop::RULE, &rules::budgets::NODE_TURNS];",
    );
    let found = |text: &str| {
        let found = found_in(&[rule, registry, ("src/verbs/mod.rs", text)]);
        found.into_iter().map(|v| (v.rule, v.line)).collect::<Vec<_>>()
    };
    assert_eq!(found("fn f(rule: &str) -> bool {\n    rule == \"tool-loop\"\n}"), [("rule-id", 2)]);
    assert_eq!(found("fn f() { format_args!(\"{}\", \"tool-loop\"); }"), [("rule-id", 1)]);
    assert_eq!(found("const ROW: &str = \"node-turns\";"), [("rule-id", 1)]);
    for text in [
        "const NAME: &str = \"tool-loops\";",
        "/// Of `tool-loop`.\nfn f() {}",
        "#[cfg(test)]\nmod tests {\n    const ID: &str = \"tool-loop\";\n}",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn sizes_are_found_one_above_the_bound() {
    let comment = |lines: usize| "//\n".repeat(lines);
    // Next to small files, so that the median stays within its bound.
    let beside = |text: &str| {
        let small = [("src/git/a.rs", ""), ("src/git/b.rs", "")];
        let mut files = small.to_vec();
        files.push(("src/git/c.rs", text));
        found_in(&files).into_iter().map(|v| v.rule).collect::<Vec<_>>()
    };
    assert_eq!(beside(&comment(sizes::FILE_LINES)), Vec::<&str>::new());
    assert_eq!(beside(&comment(sizes::FILE_LINES + 1)), ["file-size"]);
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", comment(10), comment(700));
    assert_eq!(beside(&tested), Vec::<&str>::new());
    assert_found("src/git/c.rs", &comment(sizes::MEDIAN_FILE_LINES + 1), "median-file", 0);
    assert_clean("src/git/c.rs", &comment(sizes::MEDIAN_FILE_LINES));

    let function = |lines: usize| format!("fn long() {{\n{}}}\n", comment(lines - 2));
    let among = |lines: usize, others: usize| beside(&("fn f() {}\n".repeat(others) + &function(lines)));
    assert_eq!(among(sizes::FUNCTION_LINES, 19), Vec::<&str>::new());
    assert_eq!(among(sizes::FUNCTION_LINES + 1, 19), ["function-size"]);
    assert_eq!(among(sizes::P95_FUNCTION_LINES + 1, 18), ["p95-function"]);
    assert_eq!(among(sizes::P95_FUNCTION_LINES, 0), Vec::<&str>::new());

    assert_clean("src/git/c.rs", "struct S; impl S { fn f(&self, a: A, b: B, c: C, d: D, e: E, f: F) {} }");
    assert_found(
        "src/git/c.rs",
        "struct S; impl S {\n fn f(&self, a: A, b: B, c: C, d: D, e: E, f: F, g: G) {} }",
        "parameters",
        2,
    );
    for parameter in ["a: bool", "(a, b): &(A, B)", "a: Option<()>"] {
        assert_found("src/git/c.rs", &format!("\nfn f({parameter}) {{}}"), "nameless-parameter", 2);
    }
    assert_clean("src/git/c.rs", "impl Visitor for S { fn visit_bool(self, value: bool) {} }");
}

#[test]
fn docs_that_say_nothing_are_found() {
    for filler in ["The rule.", "It does.", "It does not.", "Why.", "Its name.", "A commit."] {
        let text =
            format!("/// An unanswered halt, with its evidence.\npub struct S {{\n/// {filler}\npub a: A }}");
        assert_found("crates/andon-engine/src/effect/c.rs", &text, "filler", 3);
    }
    for clause in
        ["What it is.", "Whether a halt stands.", "Where the journal is.", "How many. Others are left out."]
    {
        assert_found("src/git/c.rs", &format!("\n/// {clause}\nfn f() {{}}"), "noun-clause", 2);
    }
    for sentence in ["Where the ledger is lost, the journal is asked.", "Returns the number.", "Why not?"] {
        assert_clean("src/git/c.rs", &format!("/// {sentence}\nfn f() {{}}"));
    }
    assert_clean(
        "crates/andon-engine/src/effect/c.rs",
        "/// 1-based.\nfn f() {}\n/// Newest first.\nfn g() {}\n/// The one\n/// that binds.\nfn h() {}",
    );
}

#[test]
fn two_public_types_of_one_name_are_found() {
    let text = "/// The state that a program left behind.\npub struct Left;";
    let found = found_in(&[("src/git/a.rs", text), ("src/verbs/b.rs", text)]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].rule, &found[0].path[..], found[0].line), ("same-name", "src/verbs/b.rs", 2));
    let private = "pub(super) struct Left;";
    assert!(found_in(&[("src/git/a.rs", text), ("src/verbs/b.rs", private)]).is_empty());
    assert!(found_in(&[("src/git/a.rs", text), ("crates/testreport/src/b.rs", text)]).is_empty());
}

#[test]
fn names_without_meaning_and_silenced_lints_are_found() {
    assert_found("src/git/utils.rs", "", "empty-name", 1);
    assert_found("src/store/common/mod.rs", "", "empty-name", 1);
    assert_found("src/store/mod.rs", "\nmod helpers {}", "empty-name", 2);
    assert_found("src/git/mod.rs", "#[allow(dead_code)]\nfn f() {}", "bare-allow", 1);
    assert_found("src/git/mod.rs", "#![allow(dead_code)]", "bare-allow", 1);
    assert_found("src/git/mod.rs", "\n#[cfg_attr(unix, allow(dead_code))]\nfn f() {}", "bare-allow", 2);
    assert_clean("src/git/mod.rs", "#[allow(dead_code, reason = \"why\")]\nfn f() {}");
}

#[test]
fn a_file_that_is_no_rust_is_found() {
    assert_found("src/git/mod.rs", "fn f( {", "syntax", 1);
}

#[test]
fn test_code_is_free_and_only_that() {
    let inside = "crates/andon-core/src/domain/a.rs";
    let body = "use std::fs; use nix::unistd; fn f(path: &Path) -> bool { path.exists() }";
    assert_clean(inside, &format!("#[cfg(test)]\nmod tests {{ {body} }}"));
    assert_clean(inside, &format!("#[cfg(all(test, unix))]\nmod tests {{ {body} }}"));
    assert_clean(
        inside,
        "#[cfg(test)]\nuse std::fs;\nimpl S {\n#[cfg(test)]\nfn f() { std::env::var(N); }\n}",
    );
    let elsewhere = [
        ("crates/andon-git/src/a.rs", "#[cfg(test)]\nmod proofs;"),
        ("crates/andon-git/src/a/proofs.rs", body),
    ];
    assert!(found_in(&elsewhere).is_empty());
    assert_found(
        "crates/andon-store/src/a.rs",
        "#[cfg(any(test, unix))]\nmod m { use nix::unistd; }",
        "door",
        2,
    );
    assert_found("crates/andon-store/src/a.rs", "#[cfg(test)]\nmod tests {}\nuse nix::unistd;", "door", 3);
    // A file is a test by its `cfg(test)`, never by its name.
    assert_found("crates/andon-core/src/domain/tests.rs", "use std::fs;", "impure", 1);
}

#[test]
fn what_the_rules_allow_is_not_found() {
    let inside = "crates/andon-core/src/domain/a.rs";
    for (path, text) in [
        (inside, "use std::fmt; use super::ids::Oid; use crate::domain::time; fn f(fs: u8) -> u8 { fs }"),
        (inside, "use crate::domain::Fact; use std::io::Write; use std::time::Duration;"),
        ("crates/andon-store/src/a.rs", "use andon_git::Repo; use std::fs; mod a { use super::super::b; }"),
        ("src/cli/mod.rs", "use andon_engine::context; use std::process::ExitCode;"),
        ("src/lib.rs", "pub mod verbs; pub mod cli;"),
        (inside, "pub(crate) fn f() { let a = 0..crate::domain::N; } // nix::unistd std::fs"),
        (inside, "/// See `std::fs` and [`crate::history`].\npub struct S { pub exists: bool }"),
        (inside, "fn f(s: S) -> bool { s.exists }"),
    ] {
        assert_clean(path, text);
    }
}
