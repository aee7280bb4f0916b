//! Each hint that changes something is walked: the state is made, the hint is run word for word, and nothing is lost by it: no
//! content, no ref, nothing staged, no merge under way, no setting. The trouble is gone, or another hint leads on, within two
//! rounds. Which hints there are is read from the source of the program: one that no state here brings about fails the last test,
//! unless it is named with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt::Write as _, fs, path::Path};

use crate::reference::{cell, compare};

use super::{Out, ROUNDS, Stage, contents, ground, sh, staged};

/// A state, as lines of a shell: what makes it, and what shows the trouble.
struct State {
    name: &'static str,
    make: &'static str,
    trigger: &'static str,
}

const fn state(name: &'static str, make: &'static str, trigger: &'static str) -> State {
    State { name, make, trigger }
}

/// A writer's ref in `$R`, after a halt.
const HALTED: &str = "andon stop --reason 'look at it' && rm .andon/STOP; \
    R=$(git for-each-ref --format='%(refname)' refs/andon/ledger | head -1);";

static STATES: &[State] = &[
    state("a commit that no test ran on", "echo 9 >> one.c && git add one.c", "git commit -qm Work"),
    state(
        "a file beside it",
        "echo 9 >> one.c; echo 1 > two2.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "assume-unchanged",
        "git update-index --assume-unchanged two.c; echo 9 >> two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "skip-worktree",
        "git update-index --skip-worktree two.c; echo 9 >> two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a new repository inside",
        "git init -q nested; echo 1 > nested/in.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a clone inside",
        "git clone -q . nested; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a hook that formats",
        "andon uninstall; printf '#!/bin/sh\\necho \"// $(wc -l < one.c)\" >> one.c; git add one.c\\n' > .git/hooks/pre-commit; \
         chmod +x .git/hooks/pre-commit; andon install; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state("a hook is gone", "rm .git/hooks/post-commit", "andon status"),
    state("a hook is not executable", "chmod -x .git/hooks/post-commit", "andon doctor"),
    state("an edited shim", "echo 'echo mine' >> .git/hooks/pre-commit", "andon install"),
    state(
        "two hooks of others",
        "andon uninstall; echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; andon install; \
         printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit",
        "andon install",
    ),
    state(
        "a chained shim",
        "cp .git/hooks/pre-commit .git/hooks/pre-commit.andon-chained; echo '#!/bin/sh' > .git/hooks/pre-commit",
        "andon install",
    ),
    state("hooks switched off", "git config core.hooksPath /dev/null", "andon install"),
    state(
        "a lock that was left",
        "ANDON=0 git commit -q --allow-empty -m Unseen; : > .git/refs/notes/andon.lock",
        "andon backfill HEAD",
    ),
    state("a damaged id", "andon stop; rm .andon/STOP; echo junk > .git/andon/writer", "andon stop"),
    state(
        "an entry that nobody can read",
        "@HALTED T=$(printf '100644 blob %s\\tentry.json\\n' $(echo junk | git hash-object -w --stdin) | git mktree); \
         git update-ref $R $(echo x | git commit-tree $T -p $R)",
        "andon check HEAD",
    ),
    state(
        "an object of the ledger that is gone",
        "@HALTED O=$(git rev-parse $R); rm -f .git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-)",
        "andon status",
    ),
    state(
        "a replaced commit",
        "git replace HEAD $(git commit-tree HEAD^{tree} -m Other)",
        "andon check HEAD",
    ),
    state("a graft", "mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts", "andon check HEAD"),
    state("notes that are copied", "git config notes.rewriteRef 'refs/notes/*'", "andon doctor"),
    state(
        "fetches that overwrite",
        "git remote add origin .; git config --add remote.origin.fetch '+refs/notes/*:refs/notes/*'",
        "andon doctor",
    ),
    state(
        "a test program that is not executable",
        "cp check.sh run.sh; printf '[test]\\ncommand = \"./run.sh\"\\n' > andon.toml",
        "andon doctor",
    ),
    state("a journal of junk", "echo junk >> .git/andon/journal.jsonl", "andon doctor"),
    state("a folder that is a file", "rm -rf .andon; echo mine > .andon", "andon stop"),
    state("no record", "ANDON=0 git commit -q --allow-empty -m Unseen", "andon check HEAD~1..HEAD"),
    state(
        "records that were fetched under another name",
        "git update-ref refs/notes/remotes/origin/andon refs/notes/andon; git update-ref -d refs/notes/andon",
        "andon doctor",
    ),
    state(
        "hooks for all repositories, and others here",
        "mkdir -p ../hooks; git config --global core.hooksPath \"$(cd ../hooks && pwd)\"; git config core.hooksPath .git/hooks",
        "andon doctor",
    ),
    state("a lock on the configuration", ": > .git/config.lock", "andon uninstall"),
    state(
        "a folder in the place of the id",
        "rm -f .git/andon/writer; mkdir .git/andon/writer",
        "andon stop",
    ),
    state(
        "a folder in the place of a report",
        "mkdir -p .andon/CHECKPOINT.md; echo mine > .andon/CHECKPOINT.md/note",
        "andon stop",
    ),
    state(
        "an untested commit past the gate",
        "git tag base; echo 9 >> one.c; git commit -qam Work --no-verify",
        "andon check base..HEAD",
    ),
    state(
        "a ledger that is a file",
        "git update-ref refs/andon/ledger/x $(git hash-object -w one.c)",
        "andon doctor",
    ),
    state(
        "records that are a file",
        "git update-ref refs/notes/andon $(git hash-object -w one.c)",
        "andon status",
    ),
    state(
        "a record of junk",
        "git notes --ref=andon add -f -m junk HEAD; git config core.editor 'truncate -s 0'",
        "andon status",
    ),
    state(
        "a shallow clone",
        "git clone -q --bare . ../hub; git remote add origin \"file://$(cd ../hub && pwd)\"; git rev-parse HEAD > .git/shallow; \
         git commit -q --allow-empty -m More",
        "andon check HEAD~2..HEAD",
    ),
    state(
        "tests that failed at the commit and pass now",
        "echo '[ ! -e ../broken ] || { echo 1..1; echo not ok 1 - a; exit 1; }; echo 1..1; echo ok 1 - a' > check.sh; \
         git add check.sh; : > ../broken; andon test; git commit -qm Red; rm ../broken; andon test",
        "andon complete",
    ),
    state(
        "the configuration was removed",
        "git tag base; git rm -q andon.toml; git commit -qm Leave",
        "andon check base..HEAD",
    ),
];

/// Commands of hints that no state here brings about, each with the reason; by their beginnings.
const NOT_WALKED: &[(&str, &str)] = &[
    ("git config --global --add safe.directory", "needs the repository of another user"),
    ("git config --global core.editor", "a choice of the person"),
    ("git config --global gpg.format", "a choice of the person"),
    ("git config --global user.signingKey", "a choice of the person"),
    ("git update-ref {0} {1}", "needs a note beyond the bound; the tests of andon-git's notes run it"),
    ("git push", "needs another clone that is forced; tamper runs it"),
    ("git commit -m", "the person's own commit"),
    ("git worktree", "changes nothing that is there"),
    ("git clone", "changes nothing here"),
    ("git fetch", "fetches; range_trust and kinds run it"),
    (
        "git merge --",
        "ends what is under way, offered with its opposite while the loop is halted; moved_attempts runs it",
    ),
    ("git rebase --", "ends what is under way, offered with its opposite while the loop is halted"),
    ("git config andon.push", "a choice of the person"),
    ("git config {KEY}", "a choice of the person"),
    ("chmod -R u+w", "needs a disk without permission; full_and_read_only_disks runs it"),
    ("chmod +x .husky", "needs husky 8; install_modes runs it"),
    ("mv {0} {0}.own", "a file of the person is put aside"),
    ("git config --unset core.hooksPath", "hooks that are set for one command"),
];

/// The programs with which a hint that changes something begins.
const CHANGING: [&str; 19] = [
    "git update-ref",
    "git config",
    "git replace -d",
    "git rebase",
    "git push",
    "git notes",
    "git update-index",
    "git checkout",
    "git add",
    "git commit",
    "git worktree",
    "git fetch",
    "git clone",
    "git init",
    "git refs",
    "git merge",
    "rm ",
    "mv ",
    "chmod ",
];

/// Only shows something.
const SHOWING: [&str; 5] = [
    "git notes --ref=andon show",
    "git notes --ref={} show",
    "git config --show",
    "git config --get",
    "git fetch brings",
];

/// The commands of the hints in what was said.
fn commands(out: &Out) -> Vec<String> {
    let said = out.all();
    let helps = said.lines().filter_map(|line| line.trim_start().strip_prefix("help: "));
    let mut found: Vec<String> = helps.filter_map(command).map(str::to_owned).collect();
    found.dedup();
    found
}

/// The command of a hint: all of it, or what follows a colon.
fn command(help: &str) -> Option<&str> {
    let begins = |text: &str| {
        let own = ["andon install", "andon test", "andon sync", "at=$("];
        let is_exact = !text.contains("REASON") && !text.contains('<') && !text.contains(", ");
        is_exact && CHANGING.iter().chain(&own).any(|one| text.starts_with(one))
    };
    if help.contains("in andon.toml:  [") {
        return Some(help);
    }
    let mut ends = help.match_indices(": ").map(|(at, _)| &help[at + 2..]);
    Some(help).filter(|help| begins(help)).or_else(|| ends.find(|text| begins(text)))
}

/// What no hint may take away.
struct Kept {
    contents: BTreeMap<String, Vec<u8>>,
    staged: BTreeMap<String, String>,
    refs: BTreeMap<String, String>,
    settings: BTreeSet<String>,
}

fn lines(out: &Out) -> BTreeSet<String> {
    out.stdout.lines().map(str::to_owned).collect()
}

fn refs(stage: &Stage) -> BTreeMap<String, String> {
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
fn files(stage: &Stage) -> BTreeMap<String, Vec<u8>> {
    let mut found = contents(stage.dir());
    found.extend(
        contents(&stage.path(".git/hooks"))
            .into_iter()
            .map(|(name, content)| (format!("hooks/{name}"), content)),
    );
    found
}

impl Kept {
    fn new(stage: &Stage) -> Self {
        let settings = lines(&sh(stage, "git config --local --list --name-only"));
        Self { contents: files(stage), staged: staged(stage), refs: refs(stage), settings }
    }

    #[track_caller]
    fn is_still_there(&self, stage: &Stage, told: &str) {
        let now = files(stage);
        let all: BTreeSet<&Vec<u8>> = now.values().collect();
        for (path, content) in &self.contents {
            // A shim of ours is written anew, and a hint may name a line of the configuration.
            let is_ours = path == "andon.toml"
                || content.windows(16).any(|at| at == b"andon hook shim (")
                || content.starts_with(b"#!/bin/sh\n# andon hook");
            assert!(all.contains(content) || is_ours, "{told}: the content of {path} is lost");
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

/// The first line that tells of trouble.
fn trouble(out: &Out) -> Option<String> {
    let said = out.all();
    let marks = ["error", "warning", "fail ", "warn ", "Loop 1/100  hooks are gone"];
    said.lines().find(|line| marks.iter().any(|mark| line.starts_with(mark))).map(str::to_owned)
}

/// Runs a hint: a command, or a line that belongs into `andon.toml`.
fn follow(stage: &Stage, hint: &str) -> Out {
    let edit = hint.split_once("in andon.toml:  ").and_then(|(_, edit)| edit.split_once("  "));
    let Some((section, line)) = edit else { return sh(stage, hint) };
    let config = stage.read("andon.toml");
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
    /// The commands that were run.
    ran: Vec<String>,
}

/// What was seen, and what leads out of it, without the names of this run.
fn told(stage: &Stage, row: &State, first: &str, hints: &[String]) -> String {
    let masks = [
        (r"(?-u:\b)(?:[0-9a-f]{32,64}|[0-9a-f]{12}|[0-9a-f]{7})(?-u:\b)", "ID"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC", "TIME"),
        (r"at byte [0-9]+", "at byte N"),
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
    let hints: Vec<String> = hints.iter().map(|hint| format!("`{}`", plain(hint))).collect();
    format!("| {} | `{}` | {} |\n", row.name, plain(first), hints.join(", or "))
}

/// Walks every hint of a state.
fn walk(row: &State) -> Walked {
    let stage = ground();
    // A person who is asked to take out what is damaged.
    stage.set("GIT_EDITOR", "truncate -s 0");
    sh(&stage, &row.make.replace("@HALTED", HALTED));
    let keep = stage.root().join("keep");
    copy(&stage, stage.dir(), &keep);
    let shown = sh(&stage, row.trigger);
    let first = trouble(&shown).unwrap_or_else(|| panic!("{}: no trouble\n{shown}", row.name));
    let hints = commands(&shown);
    let line = told(&stage, row, &first, &hints);
    let mut ran = Vec::new();
    for hint in hints {
        copy(&stage, &keep, stage.dir());
        sh(&stage, row.trigger);
        let mut next = hint.clone();
        let mut told = format!("{}: {hint}", row.name);
        for round in 1.. {
            let kept = Kept::new(&stage);
            let out = follow(&stage, &next);
            ran.push(next.clone());
            assert_eq!(out.code, 0, "{told}\n{out}");
            kept.is_still_there(&stage, &told);
            let gone = kept.settings_gone(&stage);
            let own = ["core.hookspath", "notes.rewriteref"];
            assert!(gone.iter().all(|key| own.contains(&key.as_str())), "{told}: took {gone:?} out");
            let again = sh(&stage, row.trigger);
            if trouble(&again).as_ref() != Some(&first) && (again.code == 0 || commands(&again).is_empty()) {
                break;
            }
            assert!(round < ROUNDS, "{told}: still\n{again}");
            let others = commands(&again);
            next = others
                .into_iter()
                .find(|one| !ran.contains(one))
                .unwrap_or_else(|| panic!("{told}: no way on\n{again}"));
            told = format!("{told}, then {next}");
        }
    }
    Walked { line, ran }
}

#[test]
fn every_hint_leads_out_as_the_reference_says_and_loses_nothing() {
    let (mut faults, mut ran) = (Vec::new(), Vec::new());
    let mut page = "\n| state | what is said | what leads out |\n|---|---|---|\n".to_owned();
    for state in STATES {
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
    let unwalked: Vec<String> = hints_in_source()
        .into_iter()
        .filter(|hint| {
            !ran.iter().any(|ran| matches(hint, ran))
                && !NOT_WALKED.iter().any(|(one, _)| hint.starts_with(one))
        })
        .collect();
    assert!(unwalked.is_empty(), "no state brings these hints about:\n{}", unwalked.join("\n"));
    let hints = hints_in_source();
    let needed = |row: &str| {
        hints.iter().any(|hint| hint.starts_with(row) && !ran.iter().any(|ran| matches(hint, ran)))
    };
    let spare: Vec<&str> = NOT_WALKED.iter().map(|(row, _)| *row).filter(|row| !needed(row)).collect();
    assert!(spare.is_empty(), "these need no reason any more:\n{}", spare.join("\n"));
    compare("docs/troubleshooting.md", &page);
    println!("{} hints were run in {} states", ran.len(), STATES.len());
}

/// Whether a command is what a literal with `{}` in it says.
fn matches(literal: &str, ran: &str) -> bool {
    let mut parts = literal.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    let Some(first) = parts.next() else { return false };
    let Some(mut rest) = ran.strip_prefix(first) else { return false };
    parts.all(|part| rest.find(part).map(|at| rest = &rest[at + part.len()..]).is_some())
}

/// The commands in the texts of the program that change something.
fn hints_in_source() -> BTreeSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting = vec![top.join("src")];
    let crates = fs::read_dir(top.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    waiting.extend(crates.filter(|path| !path.to_string_lossy().contains("testkit")));
    let mut found = BTreeSet::new();
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() && !["tests", "demo"].contains(&name.as_str()) {
                waiting.push(path);
            } else if path.extension() == Some("rs".as_ref()) && name != "tests.rs" {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                found.extend(literals(code).iter().filter_map(|one| command(one)).map(str::to_owned));
            }
        }
    }
    found.retain(|one| {
        !one.starts_with("andon ")
            && !one.contains("in andon.toml:  [")
            && !SHOWING.iter().any(|shows| one.starts_with(shows))
    });
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
                    Some(escaped) => text.push(escaped),
                    None => {}
                },
                letter => text.push(letter),
            }
        }
        found.push(text);
    }
    found
}
