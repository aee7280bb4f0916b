//! The nature of the changed lines of one hunk.
//!
//! Only lines are read, never the language's grammar. Lines that do not show their nature are [`Nature::Work`], so that
//! no loop is called stuck on a guess. A comment inside a string or a heredoc is taken for a comment; changing it three
//! times in a row with nothing else is weak all the same.

use crate::domain::Nature;
use testreport::WordList;

/// The syntax of a language: the beginnings of comments, and the meaning of indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language {
    /// With commas between them.
    comments: &'static str,
    indented: Indentation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indentation {
    Means,
    Free,
}

/// The comments of markup, which end on their own line.
const MARKUP: &str = "<!--";

/// A language a row; in a file of another extension nothing is a comment.
const LANGUAGES: WordList = WordList::section(include_str!("languages.txt"), "languages");

/// Comments that tools obey: changing one changes what happens.
const DIRECTIVES: [&[u8]; 9] =
    [b"noqa", b"type:", b"pragma", b"lint", b"@ts-", b"go:", b"+build", b"coverage", b"fmt:"];

/// The language of a path, by its extension.
pub(super) fn language(path: &[u8]) -> Option<Language> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let extension = std::str::from_utf8(name.rsplit(|byte| *byte == b'.').next()?).ok()?;
    LANGUAGES.iter().find_map(|row| {
        let (indented, rest) = row.split_once(" | ")?;
        let (comments, extensions) = rest.split_once(" | ")?;
        let is_there = extensions.split(' ').any(|one| one.eq_ignore_ascii_case(extension));
        let indented = if indented == "means" { Indentation::Means } else { Indentation::Free };
        is_there.then_some(Language { comments, indented })
    })
}

/// Returns whether a file is written in a language that is known.
pub fn is_source(path: &[u8]) -> bool {
    language(path).is_some()
}

/// Returns whether a path is that of a log: work is not done in it.
pub(super) fn is_log(path: &[u8]) -> bool {
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let text = [&b"txt"[..], b"md", b"log", b"out", b"json", b"jsonl", b"csv"].contains(&extension);
    let named = text && [&b"log"[..], b"logs", b"worklog", b"activity", b"heartbeat"].contains(&stem);
    let logs = |part: &[u8]| part == b"logs" || part == b"log";
    named
        || (text && name.contains(&b'.') && parts.any(logs))
        || matches!(extension, b"log" if name.len() > 4)
}

/// A file by its path.
pub(super) struct FileText<'p> {
    path: &'p [u8],
    is_log: bool,
    pub(super) language: Option<Language>,
}

impl<'p> FileText<'p> {
    pub(super) fn of(path: &'p [u8]) -> Self {
        Self { path, is_log: is_log(path), language: language(path) }
    }

    /// The nature of one hunk, from its lines after normalization.
    pub(super) fn of_hunk<L: AsRef<[u8]>>(&self, removed: &[L], added: &[L]) -> Nature {
        if self.is_log {
            return Nature::Log;
        }
        let indented = self.language.map_or(Indentation::Means, |language| language.indented);
        if same_but_for_space(removed, added, indented) {
            return Nature::Space;
        }
        let mut lines = removed.iter().chain(added).map(|line| line.as_ref().trim_ascii());
        if let Some(language) = self.language
            && lines.all(|line| line.is_empty() || is_comment(language, line))
        {
            return Nature::Comments;
        }
        if is_version(self.path, removed, added) { Nature::Version } else { Nature::Work }
    }
}

fn is_comment(language: Language, line: &[u8]) -> bool {
    let begins = language
        .comments
        .split(',')
        .any(|begin| line.starts_with(begin.as_bytes()) || line == begin.trim_end().as_bytes());
    // `#!` starts a script, `<!-- .. --> text` ends in text.
    let markup_ends = language.comments != MARKUP || line.ends_with(b"-->");
    // `/* .. */ code` is code.
    let ends = line.windows(2).position(|two| two == b"*/").is_none_or(|at| at + 2 == line.len());
    let obeyed = line.starts_with(b"#!") || DIRECTIVES.iter().any(|one| contains(line, one));
    begins && markup_ends && ends && !obeyed
}

fn contains(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|at| at == part)
}

/// Returns whether both sides are equal without white space and blank lines. Where indentation has a meaning, or may have,
/// it is left where it is.
fn same_but_for_space<L: AsRef<[u8]>>(removed: &[L], added: &[L], indented: Indentation) -> bool {
    let bytes = |lines: &[L]| -> Vec<u8> {
        let mut kept = Vec::new();
        for line in lines.iter().map(AsRef::as_ref).filter(|line| !line.trim_ascii().is_empty()) {
            let blank = line.len() - line.trim_ascii_start().len();
            if indented == Indentation::Means {
                kept.push(b'\n');
                kept.extend(&line[..blank]);
            }
            kept.extend(line[blank..].iter().filter(|byte| !byte.is_ascii_whitespace()));
        }
        kept
    };
    // A string may hold white space that means something.
    let quoted = |lines: &[L]| {
        lines.iter().any(|line| line.as_ref().iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`')))
    };
    let touches_text = quoted(removed) && quoted(added);
    !touches_text && bytes(removed) == bytes(added)
}

/// Returns whether a version number is all that differs: the same lines without digits, each one that differs naming a
/// version before its first `=` or `:`, or in a file of versions.
fn is_version<L: AsRef<[u8]>>(path: &[u8], removed: &[L], added: &[L]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_ascii_lowercase();
    let own_file = name == b"version" || name == b"version.txt";
    !removed.is_empty()
        && removed.len() == added.len()
        && removed.iter().zip(added).all(|(old, new)| {
            let (old, new) = (old.as_ref(), new.as_ref());
            old == new || ((own_file || names_version(old)) && without_version(old) == without_version(new))
        })
}

fn names_version(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let named = line.split(|byte| matches!(byte, b'=' | b':' | b'>')).next().unwrap_or_default();
    contains(named, b"version") && line.iter().any(u8::is_ascii_digit)
}

/// The line with runs of digits, dots and pre-release words made one mark.
fn without_version(line: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(line.len());
    let mut in_number = false;
    for byte in line {
        let number = byte.is_ascii_digit() || (in_number && matches!(byte, b'.' | b'-' | b'+' | b'a'..=b'z'));
        if number && !in_number {
            kept.push(0);
        } else if !number {
            kept.push(*byte);
        }
        in_number = number;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nature(path: &str, removed: &[&str], added: &[&str]) -> Nature {
        FileText::of(path.as_bytes()).of_hunk(removed, added)
    }

    #[test]
    fn comments_are_known_by_the_language() {
        for (path, removed, added) in [
            ("a.rs", &["// one"][..], &["// two"][..]),
            ("a.py", &["    # one"], &["    # two", "", "    # three"]),
            ("a.c", &[" * one", " */"], &[" * two", " *", " */"]),
            ("a.sql", &[], &["-- note"]),
            ("a.html", &[], &["<!-- note -->"]),
        ] {
            assert_eq!(nature(path, removed, added), Nature::Comments, "{path} {added:?}");
        }
        for (path, removed, added) in [
            ("a.py", &[][..], &["// one"][..]),
            ("a.c", &[], &["#include <x>"]),
            ("a.c", &[], &["*p = 1;"]),
            ("a.c", &[], &["/* x */ run();"]),
            ("a.unknown", &[], &["# note"]),
            ("a.py", &["run()"], &["# run()"]),
            ("a.py", &[], &["# type: ignore"]),
            ("a.go", &[], &["//go:build linux"]),
            ("a.sh", &["#!/bin/sh"], &["#!/bin/bash"]),
            ("a.html", &[], &["<!-- x --><b>y</b>"]),
        ] {
            assert_eq!(nature(path, removed, added), Nature::Work, "{path} {added:?}");
        }
    }

    #[test]
    fn white_space_counts_where_indentation_means_nothing() {
        assert_eq!(nature("a.rs", &["  run( x );"], &["    run(x);"]), Nature::Space);
        assert_eq!(nature("a.rs", &["a();", "b();"], &["a(); b();"]), Nature::Space);
        assert_eq!(nature("a.rs", &[], &[""]), Nature::Space);
        assert_eq!(nature("a.py", &["x = [1,2]"], &["x = [1, 2]"]), Nature::Space);
        assert_eq!(nature("a.py", &["  run()"], &["    run()"]), Nature::Work);
        assert_eq!(nature("Makefile", &["  run"], &["\trun"]), Nature::Work);
        assert_eq!(nature("a.rs", &["f(\"a b\")"], &["f(\"ab\")"]), Nature::Work);
    }

    #[test]
    fn versions_are_named_versions() {
        for (path, old, new) in [
            ("Cargo.toml", "version = \"1.2.3\"", "version = \"1.2.4-rc1\""),
            ("package.json", "  \"version\": \"1.2.3\",", "  \"version\": \"2.0.0\","),
            ("a/__init__.py", "__version__ = '1.2'", "__version__ = '1.3'"),
            ("pom.xml", "<version>1.2</version>", "<version>1.3</version>"),
            ("VERSION", "1.2.3", "1.2.4"),
        ] {
            assert_eq!(nature(path, &[old], &[new]), Nature::Version, "{path}");
        }
        for (path, old, new) in [
            ("Cargo.toml", "serde = { version = \"1.0.1\" }", "serde = { version = \"1.0.2\" }"),
            ("a.rs", "let x = 1.5;", "let x = 2.5;"),
            ("requirements.txt", "requests==1.2.3", "requests==1.2.4"),
            ("a.rs", "let version = old();", "let version = new();"),
        ] {
            assert_eq!(nature(path, &[old], &[new]), Nature::Work, "{path} {new}");
        }
    }

    #[test]
    fn logs_are_known_by_name() {
        for path in ["log.txt", "logs/today.txt", "a/b/worklog.md", "run.log", "HEARTBEAT.json"] {
            assert_eq!(nature(path, &[], &["again"]), Nature::Log, "{path}");
        }
        for path in ["src/log.rs", "src/log/mod.rs", "CHANGELOG.md", "blog.txt", "log/Makefile", ".log"] {
            assert_eq!(nature(path, &[], &["again"]), Nature::Work, "{path}");
        }
    }
}
