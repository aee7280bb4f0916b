//! The statements of the requirements in docs/spec-map.md: each names a test that exists, or says why it is otherwise, and the
//! figures above them are those of the lines.

#![allow(clippy::expect_used, reason = "a test that cannot read its sources fails")]

use std::collections::BTreeMap;

use crate::{read_sources, root};

/// The heading below which the statements stand.
const STATEMENTS: &str = "## The statements, one by one";

/// The tests by the names of their functions, each with the module paths of the files that have one.
fn tests() -> BTreeMap<String, Vec<String>> {
    let function = regex::Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))? )?fn ([a-z_0-9]+)\(").expect("compiles");
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for dir in ["src", "crates", "tests"] {
        for (path, text) in read_sources(&root(), dir).expect("its files can be read") {
            let path = path.trim_end_matches(".rs").trim_end_matches("/mod").replace("/src/", "/");
            let module = path.replace('-', "_").replace('/', "::");
            for name in function.captures_iter(&text).filter_map(|found| found.get(1)) {
                found.entry(name.as_str().to_owned()).or_default().push(module.clone());
            }
        }
    }
    found
}

/// What is wrong with a line of the table.
fn fault(line: &str, tests: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let shown = line.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
    let named: Vec<&str> = shown.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
    let is_otherwise = ["**departs:**", "**not yet:**"].iter().any(|word| shown.starts_with(word));
    if named.is_empty() && !is_otherwise {
        return Some(format!("no test is named: {line}"));
    }
    let is_there = |name: &&str| {
        let (module, name) = name.rsplit_once("::").unwrap_or(("", name));
        let ends = |path: &String| module.is_empty() || format!("::{path}").ends_with(&format!("::{module}"));
        tests.get(name).is_some_and(|paths| paths.iter().any(ends))
    };
    named.iter().find(|name| !is_there(name)).map(|name| format!("there is no test {name}"))
}

#[test]
fn each_statement_of_the_requirements_has_its_test_or_its_reason() {
    let Ok(map) = std::fs::read_to_string(root().join("docs/spec-map.md")) else { return };
    let part = map.split_once(STATEMENTS).expect("the statements").1;
    let part = part.split("\n## ").next().unwrap_or_default();
    let is_statement = |line: &&str| {
        line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|at: char| at.is_ascii_digit()))
    };
    let lines: Vec<&str> = part.lines().filter(is_statement).collect();
    let tests = tests();
    let faults: Vec<String> = lines.iter().filter_map(|line| fault(line, &tests)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let begun = |word: &str| lines.iter().filter(|line| line.contains(&format!(" | **{word}:**"))).count();
    let (departs, open) = (begun("departs"), begun("not yet"));
    let figures = format!(
        "**{} statements: {} work, {departs} depart with reason, {open} do not work yet.**",
        lines.len(),
        lines.len() - departs - open
    );
    assert!(part.contains(&figures), "docs/spec-map.md should say: {figures}");
}

#[test]
fn a_statement_without_its_test_is_found() {
    let tests = BTreeMap::from([("halts".to_owned(), vec!["tests::integration::stop".to_owned()])]);
    let table = [
        ("| 1 | it halts | `stop::halts` |", None),
        ("| 1 | it halts | `halts` |", Some("no test is named")),
        ("| 1 | it halts | `top::halts` |", Some("there is no test")),
        ("| 1 | it halts | `stop::goes_on` |", Some("there is no test")),
        ("| 1 | it halts | **departs:** it is wrong |", None),
        ("| 1 | it halts | **departs:** as `stop::goes` says |", Some("there is no test")),
        ("| 1 | it halts | |", Some("no test is named")),
    ];
    for (line, wanted) in table {
        let found = fault(line, &tests);
        assert_eq!(found.is_some(), wanted.is_some(), "{line}: {found:?}");
        assert!(found.unwrap_or_default().starts_with(wanted.unwrap_or_default()), "{line}");
    }
}
