//! Each hint that changes something is walked: the state is made, the hint is run word for word, and nothing is lost by it: no
//! content, no ref, nothing staged, no merge under way, no setting. The trouble is gone, or another hint leads on, within two
//! rounds. The hints are the list of the program: one that no state here brings about fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt::Write as _, fs, path::Path, sync::LazyLock};

use crate::reference::{cell, compare};

use super::shown::commands;
use super::states::{GIVEN_AWAY, HALTED, Maker, PARTIAL, STATES, State};
use super::{Out, ROUNDS, Stage, andon_path, contents, ground, sh, staged};

/// The faults of a ledger, with what helps.
const FAULTS: &str = include_str!("../../../crates/andon-engine/src/asking/faults.txt");
/// The list of the program.
const LIST: &str = include_str!("../../../crates/andon-core/src/domain/hints.txt");

/// A hint of the program.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) effect: &'static str,
    pub(super) text: &'static str,
    /// The text with any facts; its group is the command.
    pattern: regex::Regex,
}

pub(super) fn list() -> Vec<Row> {
    let facts = regex::Regex::new(r"\\\{[a-z_]+\\\}").unwrap();
    let any = |text: &str| facts.replace_all(&regex::escape(text), "(?:.+?)").into_owned();
    let row = |line: &'static str| {
        let [name, effect, text] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (lead, command) = text.rsplit_once(": ").map_or(("", text), |(lead, command)| (lead, command));
        let lead = if lead.is_empty() { String::new() } else { any(lead) + ": " };
        let pattern = regex::Regex::new(&format!("^(?:.+: )?{lead}({})$", any(command))).unwrap();
        Row { name, effect, text, pattern }
    };
    LIST.lines().map(row).collect()
}

impl Row {
    /// The letters of the text that are not facts.
    fn fixed(&self) -> usize {
        self.text.split(['{', '}']).step_by(2).map(str::len).sum()
    }

    /// One of the commands of another hint.
    fn is_part(&self) -> bool {
        ["delete-ref", "put-aside", "put-ref-aside"].contains(&self.name)
    }

    fn is_in(&self, text: &str) -> bool {
        self.found_in(text).is_some()
    }

    /// The row within a text, with its facts: a fact at the end is a word.
    pub(super) fn found_in(&self, text: &str) -> Option<String> {
        let pattern = self.pattern.as_str().trim_start_matches("^(?:.+: )?").trim_end_matches('$');
        let pattern = pattern.replace("(?:.+?))", r"\S+)").replace("  ", " ").replace(": ( ", ": (");
        Some(regex::Regex::new(&pattern).unwrap().find(text)?.as_str().to_owned())
    }
}

/// A hint as it was shown.
#[derive(Clone)]
struct Shown {
    row: &'static Row,
    text: String,
}

impl Shown {
    /// The command to run.
    fn command(&self) -> &str {
        self.row.pattern.captures(&self.text).unwrap().get(1).unwrap().as_str()
    }
}

/// The hints in what was said, each by the row that says most of it.
fn hints(out: &Out) -> Vec<Shown> {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(list);
    let said = out.all();
    let helps = said.lines().map(str::trim_start).filter_map(|line| {
        let then = || Some(line.strip_prefix("then ")?.rsplit_once(": ")?.1);
        line.strip_prefix("help: ").or_else(then)
    });
    let mut found: Vec<Shown> = helps
        .filter_map(|help| {
            let row = ROWS.iter().filter(|row| row.pattern.is_match(help)).max_by_key(|row| row.fixed())?;
            Some(Shown { row, text: help.to_owned() })
        })
        .collect();
    found.dedup_by(|one, other| one.text == other.text);
    found
}

/// Those that change something.
fn changing(out: &Out) -> Vec<Shown> {
    hints(out).into_iter().filter(|hint| ["changes", "edits"].contains(&hint.row.effect)).collect()
}

/// Hints that do elsewhere, or in another way, what was asked for: that they end well is all.
const INSTEAD: [&str; 4] = ["go-back", "install-beside", "install-by-shims", "test-at-tip"];

/// Hints about files of two users, which only the superuser can make.
const OF_TWO_USERS: [&str; 3] = ["allow-directory", "grant-access", "make-writable"];

/// What no hint may take away.
pub(super) struct Kept {
    contents: BTreeMap<String, Vec<u8>>,
    staged: BTreeMap<String, String>,
    refs: BTreeMap<String, String>,
    settings: BTreeSet<String>,
}

fn lines(out: &Out) -> BTreeSet<String> {
    out.stdout.lines().map(str::to_owned).collect()
}

pub(super) fn refs(stage: &Stage) -> BTreeMap<String, String> {
    let all = lines(&sh(
        stage,
        "git for-each-ref --format='%(refname) %(objectname)'; echo HEAD $(git rev-parse HEAD)",
    ));
    all.iter()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// All files, those of git's hooks among them.
pub(super) fn files(stage: &Stage) -> BTreeMap<String, Vec<u8>> {
    let mut found = contents(stage.dir());
    found.extend(
        contents(&stage.path(".git/hooks"))
            .into_iter()
            .map(|(name, content)| (format!("hooks/{name}"), content)),
    );
    found
}

/// True where a commit that a ref leads to holds the content.
fn is_committed(stage: &Stage, content: &[u8]) -> bool {
    let id = stage.run_in(stage.dir(), "git", &["hash-object", "--stdin"], Some(content)).ok().stdout;
    stage.git(&["rev-list", "--objects", "--all"]).ok().stdout.contains(id.trim())
}

impl Kept {
    pub(super) fn new(stage: &Stage) -> Self {
        let settings = lines(&sh(stage, "git config --local --list --name-only"));
        Self { contents: files(stage), staged: staged(stage), refs: refs(stage), settings }
    }

    #[track_caller]
    pub(super) fn is_still_there(&self, stage: &Stage, told: &str) {
        let now = files(stage);
        let all: BTreeSet<&Vec<u8>> = now.values().collect();
        for (path, content) in &self.contents {
            // A shim of ours is written anew, and a hint may name a line of the configuration.
            let is_ours = ["andon.toml", ".claude/settings.json"].contains(&path.as_str())
                || content.windows(16).any(|at| at == b"andon hook shim (")
                || content.starts_with(b"#!/bin/sh\n# andon hook");
            let is_there = || all.contains(content) || is_committed(stage, content);
            assert!(is_ours || is_there(), "{told}: the content of {path} is lost");
        }
        for (path, id) in &self.staged {
            let here = [super::blob(stage, "HEAD", path), super::blob(stage, "", path)];
            assert!(here.contains(id), "{told}: the staged part of {path} is gone");
        }
        let now = refs(stage);
        // A commit that is made again is there with its content and its author.
        let told_again = |id: &str, other: &str| {
            let of = |args: &[&str]| lines(&stage.git(&[&["log", "--format=%T %an"], args].concat()));
            of(&["-1", id]).iter().next().is_some_and(|made| of(&[other]).contains(made))
        };
        for (name, id) in &self.refs {
            let reach = |other: &String| {
                other == id
                    || stage.git(&["merge-base", "--is-ancestor", id, other]).code == 0
                    || told_again(id, other)
            };
            let is_there = stage.git(&["cat-file", "-e", id]).code == 0;
            assert!(!is_there || now.values().any(reach), "{told}: nothing leads to what {name} was, {id}");
        }
        stage.git(&["stash", "list"]).ok().lacks("stash");
    }

    /// Settings that a hint took out: only what the state itself had set to get into trouble.
    fn settings_gone(&self, stage: &Stage) -> BTreeSet<String> {
        let now = lines(&sh(stage, "git config --local --list --name-only"));
        self.settings.difference(&now).cloned().collect()
    }
}

/// The line that tells of the trouble: the one above the first hint that changes something, or the first of all.
fn trouble(out: &Out) -> Option<String> {
    let said = out.all();
    let marks =
        ["error", "warning", "note[", "fail ", "warn ", "Loop 1/100  hooks are gone", "    its directory"];
    let is_told = |line: &&str| marks.iter().any(|mark| line.starts_with(mark));
    let hint = changing(out).first().and_then(|hint| said.find(&format!("help: {}", hint.text)));
    let above = hint.and_then(|at| said[..at].lines().rfind(is_told));
    above.or_else(|| said.lines().find(is_told)).map(str::to_owned)
}

/// Runs a hint: a command, or a line that belongs into `andon.toml`, in place of the one of that key.
fn follow(stage: &Stage, hint: &Shown) -> Out {
    if hint.row.effect == "edits" { edit(stage, hint.command()) } else { sh(stage, hint.command()) }
}

/// Takes a line of a hint into `andon.toml`.
pub(super) fn edit(stage: &Stage, line: &str) -> Out {
    let command = line.trim_start();
    let [section, line] = command.splitn(3, "  ").take(2).collect::<Vec<_>>()[..] else {
        panic!("{command}")
    };
    let key = line.split(' ').next().unwrap();
    let config = stage.read("andon.toml");
    let kept = config.lines().filter(|old| !old.starts_with(&format!("{key} = ")));
    let config: String = kept.map(|old| format!("{old}\n")).collect();
    let config = if config.contains(section) { config } else { format!("{config}{section}\n") };
    let now = config.replacen(section, &format!("{section}\n{line}"), 1);
    assert_ne!(config, now, "no {section} in andon.toml");
    stage.write("andon.toml", now);
    sh(stage, "true")
}

/// Copies a folder with everything in it, over nothing.
fn copy(stage: &Stage, from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let args = ["-a", from.to_str().unwrap(), to.to_str().unwrap()];
    stage.run_in(stage.root(), "cp", &args, None).ok();
}

/// A state that was walked.
struct Walked {
    /// Its line of docs/troubleshooting.md.
    line: String,
    /// The hints that were run.
    ran: Vec<Shown>,
}

/// What was seen, and what leads out of it, without the names of this run.
fn told(stage: &Stage, row: &State, first: &str, hints: &[Shown]) -> String {
    let masks = [
        (r"(?-u:\b)(?:[0-9a-f]{32,64}|[0-9a-f]{12}|[0-9a-f]{7,8})(?-u:\b)", "ID"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC", "TIME"),
        (r"at byte [0-9]+", "at byte N"),
        (r"/\.tmp-[0-9]+-\w+", "/TEMPORARY"),
    ]
    .map(|(pattern, mask)| (regex::Regex::new(pattern).unwrap(), mask));
    let root = stage.root().canonicalize().unwrap();
    let plain = |text: &str| {
        let text = text.replace(stage.dir().to_str().unwrap(), "DIR").replace(root.to_str().unwrap(), "..");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let masked =
            masks.iter().fold(words, |text, (mask, name)| mask.replace_all(&text, *name).into_owned());
        cell(masked.trim_start_matches("or ").replace('`', "'").as_str())
    };
    let led =
        |hint: &Shown| if hint.row.effect == "edits" { plain(&hint.text) } else { plain(hint.command()) };
    let hints: Vec<String> = hints.iter().map(|hint| format!("`{}`", led(hint))).collect();
    format!("| {} | `{}` | {} |\n", row.name, plain(first), hints.join(", or "))
}

/// Runs the hints of a state that only show something: they do, and change nothing at all.
fn looked(stage: &Stage, row: &State, shown: &Out) -> Vec<Shown> {
    let (before, refs_before) = (files(stage), refs(stage));
    let looks: Vec<Shown> = hints(shown).into_iter().filter(|hint| hint.row.effect == "shows").collect();
    for hint in &looks {
        let out = sh(stage, hint.command());
        let leads_on = out.code < 2 || !changing(&out).is_empty();
        assert!(leads_on && !out.all().is_empty(), "{}: {}\n{out}", row.name, hint.text);
    }
    assert!(files(stage) == before && refs(stage) == refs_before, "{}: looking changed something", row.name);
    looks
}

/// Walks every hint of a state.
fn walk(row: &State) -> Walked {
    let stage = ground();
    // A person who takes out what is damaged, and leaves messages as they are.
    stage.set("GIT_EDITOR", "f() { case $1 in *NOTES_EDITMSG) truncate -s 0 \"$1\";; esac; }; f");
    let (own, path) = (stage.root().join("bin"), std::env::var("PATH").unwrap_or_default());
    let program = andon_path();
    let programs = program.parent().unwrap().display();
    stage.set("PATH", &format!("{}:{programs}:{path}", own.display()));
    let parts = [("@HALTED", HALTED), ("@GIVEN_AWAY", GIVEN_AWAY), ("@PARTIAL", PARTIAL)];
    sh(&stage, &parts.iter().fold(row.make.to_owned(), |make, (name, lines)| make.replace(name, lines)));
    let keep = stage.root().join("keep");
    copy(&stage, stage.dir(), &keep);
    let shown = sh(&stage, row.trigger);
    let first = trouble(&shown).unwrap_or_else(|| panic!("{}: no trouble\n{shown}", row.name));
    let hints = changing(&shown);
    let line = told(&stage, row, &first, &hints);
    let mut ran = looked(&stage, row, &shown);
    for hint in hints {
        copy(&stage, &keep, stage.dir());
        sh(&stage, row.trigger);
        let (mut next, mut followed) = (hint.clone(), Vec::new());
        let mut told = format!("{}: {}", row.name, hint.text);
        for round in 1.. {
            sh(&stage, row.answer);
            let kept = Kept::new(&stage);
            let out = follow(&stage, &next);
            ran.push(next.clone());
            followed.push(next.text.clone());
            // Tests end with the code of the tests.
            assert!(out.code == 0 || next.row.name == "test", "{told}\n{out}");
            kept.is_still_there(&stage, &told);
            let gone = kept.settings_gone(&stage);
            let own = ["core.hookspath", "notes.rewriteref", "extensions.partialclone"];
            assert!(gone.iter().all(|key| own.contains(&key.as_str())), "{told}: took {gone:?} out");
            let again = sh(&stage, row.trigger);
            if INSTEAD.contains(&next.row.name) {
                break;
            }
            if trouble(&again).as_ref() != Some(&first) && (again.code == 0 || changing(&again).is_empty()) {
                break;
            }
            assert!(round < ROUNDS, "{told}: still\n{again}");
            let others = changing(&again);
            next = others
                .into_iter()
                .find(|one| !followed.contains(&one.text))
                .unwrap_or_else(|| panic!("{told}: no way on\n{again}"));
            told = format!("{told}, then {}", next.text);
        }
    }
    Walked { line, ran }
}

#[test]
fn every_hint_leads_out_as_the_reference_says_and_loses_nothing() {
    let (mut faults, mut ran) = (Vec::new(), Vec::new());
    let mut page = "\n| state | what is said | what leads out |\n|---|---|---|\n".to_owned();
    let superuser = std::process::Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let can_make = |state: &&State| state.maker == Maker::Anyone || superuser;
    for state in STATES.iter().filter(can_make) {
        match std::panic::catch_unwind(|| walk(state)) {
            Ok(walked) => {
                ran.extend(walked.ran);
                // What has no command is told in words.
                if walked.line.ends_with("` |\n") {
                    page.write_str(&walked.line).unwrap();
                }
            }
            Err(fault) => faults.push(fault.downcast_ref::<String>().cloned().unwrap_or_default()),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n---\n"));
    page.push_str(
        "\nAll hints that change something, and those for which a person chooses or fills in something, each run by the tests in such a \
         state:\n\n| hint |\n|---|\n",
    );
    for row in list().iter().filter(|row| row.effect != "shows") {
        // A part of another one is run with it.
        let is_run = |ran: &Shown| ran.row.name == row.name || (row.is_part() && row.is_in(&ran.text));
        if row.effect != "asks" && !ran.iter().any(is_run) && (superuser || !OF_TWO_USERS.contains(&row.name))
        {
            faults.push(format!("{}: no state brings it about", row.name));
        }
        page.write_fmt(format_args!("| `{}` |\n", cell(row.text))).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    compare("docs/troubleshooting.md", &page);
    println!("{} hints were run in {} states", ran.len(), STATES.len());
}

/// Texts outside of the list that hold a command, each with the reason for which it is no hint: a part of a text, or behind `=` all of it.
const NO_HINTS: &[(&str, &[&str])] = &[
    (
        "a sentence",
        &[
            "git runs",
            "git looks for hooks in",
            "git made",
            "git shows another",
            "git am made",
            "git log shows the records",
            "git fetch brings",
            "git fetch {remote} does",
            "git does not see",
            "git goes on",
            "git ignores",
            "git fast-import named",
            "git is not set up",
            "ssh-keygen says",
            "ssh-keygen could not",
            "andon is not installed",
            "andon watch needs",
            "only `andon test` saw",
            "in events of `andon observe`",
            "`andon {verb}` was called",
            "(the defaults of `git init`)",
            "run it without `git -c",
            "(git -c, GIT_CONFIG_COUNT",
            "(git directory, andon/cache",
        ],
    ),
    (
        "the name of a command, in reports, prompts, titles and errors of git",
        &[
            "=andon check",
            "=andon test",
            "=andon {}",
            "andon {} at {own}",
            "andon {word}",
            "=andon pin",
            "=andon {verb}",
            "=`andon resume`",
            "=git {}",
            "=git -C {}",
            "=git am",
            "=git status",
            "=git hash-object --stdin-paths",
            "=andon hook ",
            "(short: andon {alias})",
        ],
    ),
    (
        "a line of a file that is written",
        &[
            "# >>> andon",
            "<!-- >>> andon",
            "# Written by `andon",
            "ANDON_PROGRAM=",
            "Run the tests with `andon test` before",
            "(git config --get-regexp ^hook)",
            "# Andon stops",
            "# What the manifests say",
        ],
    ),
    (
        "an example of --help",
        &[
            "=andon install",
            "=andon status",
            "andon resume --reason 'keep",
            "=andon check --test origin/main..HEAD",
        ],
    ),
    (
        "the documentation of a key",
        &[
            "What answers a halt:",
            "The ledger whose witnesses",
            "What runs made elsewhere",
            "What the token counts",
            "The next provider when",
            "After how long without",
            "The agent's configuration, session",
            "The checksum of these files",
            "The pinned files,",
        ],
    ),
];

/// A hint is a row of the list: no other text of the program holds a command.
#[test]
fn no_text_outside_of_the_list_holds_a_command() {
    let mut texts = literals_of_the_program();
    texts.extend(FAULTS.lines().map(str::to_owned));
    let is_in = |other: &str, text: &String| {
        other.strip_prefix('=').map_or_else(|| text.contains(other), |whole| text == whole)
    };
    let others = || NO_HINTS.iter().flat_map(|(_, others)| *others);
    let is_hint = |text: &&String| !commands(text).is_empty() && !others().any(|other| is_in(other, text));
    let elsewhere: Vec<&String> = texts.iter().filter(is_hint).collect();
    assert!(elsewhere.is_empty(), "these belong into hints.txt: {elsewhere:#?}");
    let unused: Vec<&&str> = others().filter(|other| !texts.iter().any(|text| is_in(other, text))).collect();
    assert!(unused.is_empty(), "no text holds {unused:?} any more");
}

/// The texts in the source of the program.
fn literals_of_the_program() -> BTreeSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting = vec![top.join("src")];
    let crates = fs::read_dir(top.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    waiting.extend(crates.filter(|path| !path.to_string_lossy().contains("testkit")));
    let mut found = BTreeSet::new();
    let tests = regex::Regex::new(r"#\[cfg\(test\)\]\n(?:pub\(\w+\) )?mod \w+ \{").unwrap();
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() && !["tests", "demo"].contains(&name.as_str()) {
                waiting.push(path);
            } else if path.extension() == Some("rs".as_ref()) && name != "tests.rs" && name != "testkit.rs" {
                let text = fs::read_to_string(&path).unwrap();
                let product = tests.split(&text).next().unwrap_or_default();
                found.extend(literals(product));
            }
        }
    }
    found
}

/// The texts between quotation marks, without the marks of lines that go on.
fn literals(code: &str) -> Vec<String> {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (mut found, mut letters) = (Vec::new(), code.chars().peekable());
    while let Some(letter) = letters.next() {
        if letter == '\'' && letters.next_if_eq(&'"').is_some() {
            letters.next();
            continue;
        }
        if letter != '"' {
            continue;
        }
        let mut text = String::new();
        while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
            match letter {
                '\\' => match letters.next() {
                    Some('\n') => while letters.next_if(|next| next.is_whitespace()).is_some() {},
                    Some(escaped) => text.push(if escaped == 'n' { '\n' } else { escaped }),
                    None => {}
                },
                letter => text.push(letter),
            }
        }
        found.push(text);
    }
    found
}
