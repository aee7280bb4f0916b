//! The house rules of ARCHITECTURE.md, checked over every file of `src/` and of the crates below `crates/`.
//!
//! `house::check` is a plain function over (path, text) pairs. The first test gives it the sources; the
//! tests in `planted` give it sources with one fault each and expect that fault at its line, so that a
//! check that can no longer fail is itself a failure. `tests/architecture/plant.sh` does the same to a copy
//! of the sources on disk.

#[path = "architecture/doors.rs"]
mod doors;
#[path = "architecture/graph.rs"]
mod graph;
#[path = "architecture/house.rs"]
mod house;
#[path = "architecture/planted.rs"]
mod planted;
#[path = "architecture/scan.rs"]
mod scan;
#[path = "architecture/sizes.rs"]
mod sizes;
#[path = "architecture/source.rs"]
mod source;
#[path = "architecture/statements.rs"]
mod statements;
#[path = "architecture/words.rs"]
mod words;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A copy of the repository to check in place of this one; `plant.sh` sets it.
const ROOT_OVERRIDE: &str = "ANDON_ARCHITECTURE_ROOT";

#[test]
fn the_sources_keep_the_rules_of_the_house() {
    let files = sources().expect("the sources can be read");
    assert!(files.iter().any(|(path, _)| path == "src/lib.rs"), "no src/lib.rs under {}", root().display());
    let violations = house::check(&files);
    let listed: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(listed.is_empty(), "{} violations of the house rules:\n{}", listed.len(), listed.join("\n"));
}

#[test]
fn tests_and_benches_keep_the_bound_of_files_too() {
    // A copy of the sources alone has no other directories.
    let dirs =
        ["src", "crates", "tests", "bench", "benches"].into_iter().filter(|dir| root().join(dir).is_dir());
    let files = dirs.flat_map(|dir| read_sources(&root(), dir).expect("its files can be read"));
    let long = files.filter(|(_, text)| text.lines().count() > sizes::FILE_LINES);
    let long: Vec<String> = long.map(|(path, _)| path).filter(|path| is_test(path)).collect();
    assert!(long.is_empty(), "more than {} lines: {long:?}", sizes::FILE_LINES);
}

/// Whether a file holds tests alone, or measures.
fn is_test(path: &str) -> bool {
    let is_source = path.starts_with("src/") || path.starts_with("crates/") && path.contains("/src/");
    !is_source || path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("-testkit/")
}

/// Tests of the bounds of docs/formats.md by the beginning of their row: each comes to the bound, or goes beyond it.
const BOUNDS: &[(&str, &[&str])] = &[
    ("report files that match", &["as_many_as_the_bound_are_whole_and_one_more_are_not"]),
    ("files and directories where", &["as_many_as_the_bound_are_whole_and_one_more_are_not"]),
    ("directories below the beginning", &["crossing_a_bound_is_told"]),
    ("a report that is a link", &["what_is_no_file_is_named_and_not_opened"]),
    ("bytes of one report", &["as_many_bytes_as_the_bound_are_read_and_one_more_is_not"]),
    ("test cases of one report", &["as_many_cases_as_the_bound_are_counted_and_one_more_is_not"]),
    ("tests of a report that are open", &["as_much_as_the_bound_passes_and_one_more_does_not"]),
    (
        "depth of XML elements",
        &["as_much_as_the_bound_passes_and_one_more_does_not", "as_deep_as_the_bound_counts_for_itself"],
    ),
    ("an entity that XML declares", &["entities_are_not_expanded"]),
    (
        "one tag, name or run",
        &["what_is_too_long_is_left_out", "as_much_as_the_bound_passes_and_one_more_does_not"],
    ),
    ("sources of an output", &["sources_are_bounded_and_what_is_left_out_is_told"]),
    ("names of failing tests", &["endless_reports_stay_bounded"]),
    ("names of all tests", &["too_many_are_none"]),
    ("one event of", &["ten_megabytes_of_arguments_are_one_call_and_more_is_too_long"]),
    ("the payload of a client's hook", &["a_payload_as_large_as_the_bound_is_read_and_one_byte_more_is_not"]),
    ("standard input of a git hook", &["hooks_say_when_standard_input_has_more_than_they_read"]),
    ("one entry of the ledger", &["what_is_written_is_bounded"]),
    ("what a person says", &["as_much_as_the_bound_is_taken_from_the_command_line_and_no_more"]),
    ("a file or standard input", &["as_much_as_the_bound_is_taken_from_the_command_line_and_no_more"]),
    ("the note of one commit", &["a_note_beyond_the_bound_is_an_error_with_its_hint"]),
    ("one line of a record", &["size_is_bounded_before_parsing"]),
    ("`andon.toml`", &["sources_are_read_with_bounds", "lists_scopes_and_numbers_are_bounded"]),
    ("the manifest of the installation", &["what_is_no_manifest_is_refused_by_name"]),
];

#[test]
fn every_bound_of_the_book_has_its_tests() {
    let page = root().join("docs/formats.md");
    // A copy of the sources alone has no book.
    let Ok(page) = fs::read_to_string(page) else { return };
    let (_, table) = page.split_once("\n| input | bound | beyond it |\n|---|---|---|\n").expect("the table");
    let rows: Vec<&str> = table.lines().map_while(|line| line.strip_prefix("| ")).collect();
    let sources = sources().expect("the sources can be read");
    let end_to_end = read_files(&root(), "tests/integration").expect("the tests can be read");
    assert_eq!(rows.len(), BOUNDS.len(), "a bound without a test, or a test without a bound");
    for (row, (begins, tests)) in rows.iter().zip(BOUNDS) {
        assert!(row.starts_with(begins), "no tests are named for: {row}");
        for test in *tests {
            let named = format!("fn {test}()");
            let is_there = sources.iter().any(|(_, text)| text.contains(&named))
                || end_to_end.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(&named));
            assert!(is_there, "{test}, of the bound: {row}");
        }
    }
}

/// Nouns that messages count.
const COUNTED: &str = "answers|approvals|attempts|branches|calls|changes|clones|commits|days|edits|entries|events|failures|files|\
                       folders|halts|hours|hunks|iterations|keys|lines|minutes|mistakes|outputs|packages|patterns|processes|\
                       records|refs|remarks|repositories|results|reverts|rounds|rules|seats|seconds|sessions|signatures|signs|states|steps|\
                       tests|thresholds|times|turns|warnings|witnesses|worktrees|writers";
/// Where a number is never 1, or is no count.
const NEVER_ONE: &[&str] = &[
    "+{} -{} lines",
    "+{added} -{removed} lines",
    "of the last {} calls",
    "more than {} patterns",
    "{of} commits, {rate}/s",
    "{number} times",
    "has {count} patterns, more than",
    "HEAD {id} refs/heads",
    "{rule} halts here",
];

/// "1 commits": a number before a plural is made by `domain::counted::count`, which knows of 1.
#[test]
fn a_number_agrees_with_its_noun() {
    let plural = regex::Regex::new(&format!(
        r"\{{[a-z_.0-9]*\}} (?:(?:more|failing|older|good|identical|ledger) )?(?:{COUNTED})(?-u:\b)"
    ))
    .expect("a pattern");
    let files = sources().expect("the sources can be read");
    let mut found = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !is_test(path)) {
        let shown = text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in
            shown.filter(|line| plural.is_match(line) && !NEVER_ONE.iter().any(|known| line.contains(known)))
        {
            found.push(format!("{path}: {}", line.trim()));
        }
    }
    assert!(found.is_empty(), "count these with domain::counted::count:\n{}", found.join("\n"));
}

#[test]
fn the_libraries_do_not_name_the_package_that_uses_them() {
    for library in house::STRANGERS {
        let files = read_files(&root(), &format!("crates/{library}")).expect("a library can be read");
        for (path, bytes) in files {
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            assert!(!text.contains("andon"), "{path} names andon");
        }
    }
}

/// clippy closes the doors of environment, clock, output and programs: in every crate, as long as each takes its lints and
/// its configuration from the workspace.
#[test]
fn clippy_closes_its_doors_in_every_crate() {
    const CLOSED: &[&str] = &[
        "std::env::args_os",
        "std::env::var",
        "std::env::var_os",
        "std::env::vars_os",
        "std::io::stderr",
        "std::io::stdout",
        "std::process::Command::new",
        "std::time::SystemTime::now",
        "jiff::Timestamp::now",
        "nix::spawn::posix_spawnp",
    ];
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: PathBuf| fs::read_to_string(&path).expect("a file of the workspace can be read");
    let (clippy, manifest) = (read(repository.join("clippy.toml")), read(repository.join("Cargo.toml")));
    let open = CLOSED.iter().filter(|path| !clippy.contains(&format!("{{ path = \"{path}\"")));
    assert_eq!(open.collect::<Vec<_>>(), Vec::<&&str>::new(), "clippy.toml does not close these");
    for lint in ["disallowed_methods", "print_stdout", "print_stderr", "dbg_macro"] {
        assert!(manifest.contains(&format!("\n{lint} = \"deny\"")), "Cargo.toml does not deny {lint}");
    }
    for entry in fs::read_dir(repository.join("crates")).expect("crates/ can be read") {
        let path = entry.expect("crates/ can be read").path();
        let own = read(path.join("Cargo.toml"));
        assert!(own.contains("[lints]\nworkspace = true"), "{} has lints of its own", path.display());
        assert!(!path.join("clippy.toml").exists(), "{} has a clippy.toml of its own", path.display());
    }
}

#[allow(clippy::disallowed_methods, reason = "the doors are those of src/; plant.sh names another tree here")]
fn root() -> PathBuf {
    env::var_os(ROOT_OVERRIDE).map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

/// The sources of the program and of every crate but the kit, which is test code.
fn sources() -> io::Result<Vec<(String, String)>> {
    let mut files = read_sources(&root(), "src")?;
    let crates = fs::read_dir(root().join("crates"))?;
    let mut names: Vec<_> = crates.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    names.sort();
    for name in names.iter().map(|name| name.to_string_lossy()).filter(|name| name != "andon-testkit") {
        files.extend(read_sources(&root(), &format!("crates/{name}/src"))?);
    }
    Ok(files)
}

/// Every `.rs` file below `dir` with its path from the repository root, in order.
fn read_sources(root: &Path, dir: &str) -> io::Result<Vec<(String, String)>> {
    let files = read_files(root, dir)?;
    let text = |(path, bytes): (String, Vec<u8>)| {
        let text = String::from_utf8(bytes).map_err(|_| io::Error::other(format!("{path} is no UTF-8")))?;
        Ok((path, text))
    };
    let is_rust = |(path, _): &(String, Vec<u8>)| Path::new(path).extension().is_some_and(|ext| ext == "rs");
    files.into_iter().filter(is_rust).map(text).collect()
}

/// Every file below `dir` with its path from the repository root, in order.
fn read_files(root: &Path, dir: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut waiting = vec![(root.join(dir), dir.to_owned())];
    while let Some((dir, name)) = waiting.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let path = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                waiting.push((entry.path(), path));
            } else {
                files.push((path, fs::read(entry.path())?));
            }
        }
    }
    files.sort();
    Ok(files)
}
