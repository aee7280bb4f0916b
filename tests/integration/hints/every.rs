//! Each hint that changes something is walked: the state is made, the hint is run word for word, and nothing is lost by it: no
//! content, no ref, nothing staged, no merge under way, no setting. The trouble is gone, or another hint leads on, within two
//! rounds. Which hints there are is read from the source of the program: one that no state here brings about fails the last test,
//! unless it is named with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path};

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
];

/// Commands of hints that no state here brings about, each with the reason; by their beginnings.
const NOT_WALKED: &[(&str, &str)] = &[
    ("git config --global --add safe.directory", "needs the repository of another user"),
    ("git config --global core.editor", "a choice of the person"),
    ("git config --global gpg.format", "a choice of the person"),
    ("git config --global user.signingKey", "a choice of the person"),
    ("git config user.signingKey", "a choice of the person"),
    ("git update-ref {0} {1}", "needs a note beyond the bound; the tests of andon-git's notes run it"),
    ("git config --add", "adds a setting; signed_refusals and sync run it"),
    ("git push", "needs another clone that is forced; tamper runs it"),
    ("git update-ref refs/andon/ledger/", "needs another clone; tamper runs it"),
    ("git update-ref {NOTES_REF}", "gives an absent ref a value, and fails where it is there"),
    ("git update-ref refs/andon-saved/{0}", "needs a ref that is no commit; keeps it under another name"),
    ("git checkout", "puts back a file that is not there"),
    ("git rebase", "rewrites the range that check refused; rewriting_tools runs it"),
    ("git commit --amend", "the person's own commit; check_tests runs it"),
    ("git commit --allow-empty", "the person's own commit"),
    ("git commit -m", "the person's own commit"),
    (
        "git config --local --unset-all core.hooksPath && andon",
        "needs hooks for all repositories, and ours alone here",
    ),
    ("rm \"$(git -C {dir}", "a lock; walked where libgit2 names it"),
    ("git commit, or", "the person's own commit"),
    ("git add", "walked by the states of hints.rs"),
    ("git worktree", "changes nothing that is there"),
    ("git clone", "changes nothing here"),
    ("git init", "changes nothing here"),
    ("git fetch", "fetches; range_trust and kinds run it"),
    ("git remote add", "adds a remote"),
    ("git refs migrate", "needs git 2.48"),
    ("git notes --ref={} edit", "opens the editor of the person"),
    ("git notes --ref=andon edit", "opens the editor of the person"),
    (
        "git merge --",
        "ends what is under way, offered with its opposite while the loop is halted; moved_attempts runs it",
    ),
    ("git rebase --", "ends what is under way, offered with its opposite while the loop is halted"),
    ("git config andon.push", "a choice of the person"),
    ("git config {KEY}", "a choice of the person"),
    ("chmod u+w", "needs a disk without permission; full_and_read_only_disks runs it"),
    ("chmod +x .husky", "needs husky 8; install_modes runs it"),
    ("rm -r {file}", "an id where no ledger is here"),
    ("rm {}", "a lock; walked where git names it"),
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
    helps.filter_map(command).map(str::to_owned).collect()
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
        for (name, id) in &self.refs {
            let reach = |other: &String| {
                other == id || stage.git(&["merge-base", "--is-ancestor", id, other]).code == 0
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

/// Walks every hint of a state; the commands that were run.
fn walk(row: &State) -> Vec<String> {
    let stage = ground();
    sh(&stage, &row.make.replace("@HALTED", HALTED));
    let keep = stage.root().join("keep");
    copy(&stage, stage.dir(), &keep);
    let shown = sh(&stage, row.trigger);
    let first = trouble(&shown).unwrap_or_else(|| panic!("{}: no trouble\n{shown}", row.name));
    let mut ran = Vec::new();
    for hint in commands(&shown) {
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
    ran
}

#[test]
fn every_hint_of_every_state_leads_out_and_loses_nothing() {
    let (mut faults, mut ran) = (Vec::new(), Vec::new());
    for state in STATES {
        match std::panic::catch_unwind(|| walk(state)) {
            Ok(more) => ran.extend(more),
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
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
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
