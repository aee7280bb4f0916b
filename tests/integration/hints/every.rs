//! Each hint that changes something is walked: the state is made, the hint is run word for word, and nothing is lost by it: no
//! content, no ref, nothing staged, no merge under way, no setting. The trouble is gone, or another hint leads on, within two
//! rounds. The hints are the list of the program: one that no state here brings about fails the test, unless it is named with the
//! reason.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt::Write as _, fs, path::Path, sync::LazyLock};

use crate::reference::{cell, compare};

use super::{Out, ROUNDS, Stage, contents, ground, sh, staged};

/// A state, as lines of a shell: what makes it, and what shows the trouble.
struct State {
    name: &'static str,
    make: &'static str,
    trigger: &'static str,
    /// What a person does before the hint, where it says so.
    answer: &'static str,
}

const fn state(name: &'static str, make: &'static str, trigger: &'static str) -> State {
    State { name, make, trigger, answer: "true" }
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
    state("a lock that doctor finds", "touch -d 2020-01-01 .git/refs/notes/andon.lock", "andon doctor"),
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
    state("paths are given", "echo 9 >> one.c; echo 9 >> two.c; andon test", "git commit -qm Work one.c"),
    state(
        "a file that was taken away",
        "echo 9 >> one.c; git add one.c; rm two.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "an executable bit that git does not look at",
        "git config core.fileMode false; chmod +x two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "size and times that git remembers",
        "touch -d '1 hour ago' two.c; git config core.trustctime false; git status -s; cp -p two.c ../two; \
         sed s/5/6/ ../two > two.c; touch -r ../two two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    State {
        answer: "andon resume --reason 'go on' --yes 'a test'",
        ..state(
            "a merge that a halt stops",
            "git switch -qc side; echo 1 > one.c; andon test; git commit -qam Side; git switch -q main; echo 9 >> one.c; \
             andon test; git commit -qam Main; git merge -q side; echo 1 > one.c; git add one.c; andon test; \
             andon stop --reason look",
            "git commit -q --no-edit",
        )
    },
    state(
        "a commit without a record, by one whose others have theirs",
        "git tag base; echo 9 >> one.c; ANDON=0 git commit -qam Unseen",
        "andon check --test base..HEAD",
    ),
    state(
        "a merge past the gate",
        "git tag base; git switch -qc side; echo 1 > side.c; git add side.c; andon test; git commit -qm Side; \
         git switch -q main; echo 9 >> one.c; git add one.c; andon test; git commit -qm Main; git merge -q --no-commit side; \
         echo 8 >> two.c; git add two.c; git commit -q --no-verify --no-edit",
        "andon check base..HEAD",
    ),
    state("tests that name none", "echo true > check.sh; git add check.sh", "andon test"),
    state(
        "tests that take too long",
        "echo 'sleep 2; echo 1..1; echo ok 1 - a' > check.sh; git add check.sh; \
         sed -i 's/^.test.$/[test]\\ntimeout = \"1s\"/' andon.toml",
        "andon test; git commit -qm Work",
    ),
    state(
        "a run that was handed in",
        "echo 9 >> one.c; git add one.c; printf '1..1\\nok 1 - a\\n' > ../run.tap",
        "andon observe test_run --report ../run.tap --exit-code 0; git commit -qm Work",
    ),
    state(
        "a test program that the project has elsewhere",
        "mkdir -p .venv/bin; cp check.sh .venv/bin/run-all; chmod +x .venv/bin/run-all; \
         printf '[test]\\ncommand = \"run-all\"\\n' > andon.toml",
        "andon doctor",
    ),
    state(
        "no test command",
        "printf 'test:\\n\\tsh check.sh\\n' > Makefile; printf '[test]\\n' > andon.toml",
        "andon test",
    ),
    state(
        "records that are at the remote alone",
        "git clone -q --bare . ../hub; git remote add origin ../hub; andon sync origin; \
         git for-each-ref --format='delete %(refname)' refs/notes refs/andon | git update-ref --stdin; rm -r .git/andon",
        "andon check HEAD",
    ),
    state(
        "a remote whose records are not fetched",
        "git clone -q --bare . ../hub; git remote add origin ../hub",
        "andon doctor",
    ),
    state(
        "a checkout that is not the tip",
        "git tag base; echo 9 >> one.c; andon test; git commit -qam Work; echo 8 >> one.c",
        "andon check --test base..HEAD",
    ),
    state("a manager that is not there", "true", "andon install --mode lefthook"),
    state(
        "a script of husky that ends early",
        "andon uninstall; mkdir -p .husky/_; printf 'npm test\\nexit 0\\n' > .husky/pre-commit; git config core.hooksPath .husky/_",
        "andon install",
    ),
    state(
        "hooks of husky that are not executable",
        "andon uninstall; mkdir -p .husky/_; : > .husky/_/husky.sh; git config core.hooksPath .husky; \
         printf '#!/bin/sh\\n. \"$(dirname -- \"$0\")/_/husky.sh\"\\ntrue\\n' > .husky/pre-commit; chmod +x .husky/pre-commit; \
         andon install --mode husky; chmod -x .husky/*",
        "andon status",
    ),
    state(
        "a plugin of a person in the place of ours",
        "mkdir -p .opencode/plugin; echo mine > .opencode/plugin/andon.js",
        "andon agent install opencode --project",
    ),
    state("a page into a folder that is not there", "true", "andon report HEAD -o missing/folder/page.html"),
    state(
        "a note beyond the bound",
        "head -c 1100000 /dev/zero | tr '\\0' x > ../big; git notes --ref=andon add -f -F ../big HEAD",
        "andon backfill HEAD",
    ),
    state(
        "a file that the tests saw and the commit has not",
        "echo 1 > data.csv; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
];

/// Rows of the list that no state here brings about, each with the reason. Those that ask a person or only show something need
/// none: what the former choose is no matter of the state, and the latter are run wherever a state shows them.
const NOT_WALKED: &[(&str, &str)] = &[
    ("allow-directory", "needs the repository of another user"),
    (
        "at-commit",
        "the same line as at-commit-or, which is walked, where hooks have their program for themselves",
    ),
    ("backfill", "needs more than 64 MiB on standard input"),
    ("count-handed-in", "the same line as count-handed-in-or, which is walked, beside a note"),
    ("fetch-again", "needs a partial clone; kinds runs its first command"),
    ("fetch-records-again", "needs a partial clone; kinds runs it"),
    ("grant-access", "needs files of another user"),
    ("install-mode", "needs hooks in the configuration (git 2.54); install_modes runs it where git has them"),
    ("make-writable", "needs a folder that may not be written, which a superuser always may"),
    ("prune-worktrees", "watch shows it beside what it is about, not below an error"),
    ("put-no-ref-aside", "broken_state runs it"),
    ("sync", "needs the ledger of another clone"),
    ("sync-remote", "needs a remote that can be reached again"),
];

/// The list of the program.
const LIST: &str = include_str!("../../../crates/andon-core/src/domain/hints.txt");

/// A hint of the program.
struct Row {
    name: &'static str,
    effect: &'static str,
    text: &'static str,
    /// The text with any facts; its group is the command.
    pattern: regex::Regex,
}

fn list() -> Vec<Row> {
    let facts = regex::Regex::new(r"\\\{[a-z_]+\\\}").unwrap();
    let any = |text: &str| facts.replace_all(&regex::escape(text), "(?:.+?)").into_owned();
    let row = |line: &'static str| {
        let [name, effect, text] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (lead, command) = text.rsplit_once(": ").map_or(("", text), |(lead, command)| (lead, command));
        let lead = if lead.is_empty() { String::new() } else { any(lead) + ": " };
        let pattern = regex::Regex::new(&format!("^{lead}({})$", any(command))).unwrap();
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
        regex::Regex::new(self.pattern.as_str().trim_matches(['^', '$'])).unwrap().is_match(text)
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
    let helps = said.lines().filter_map(|line| line.trim_start().strip_prefix("help: "));
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
const INSTEAD: [&str; 3] = ["install-beside", "install-by-shims", "test-at-tip"];

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

/// The line that tells of the trouble: the one above the first hint that changes something, or the first of all.
fn trouble(out: &Out) -> Option<String> {
    let said = out.all();
    let marks = ["error", "warning", "fail ", "warn ", "Loop 1/100  hooks are gone"];
    let is_told = |line: &&str| marks.iter().any(|mark| line.starts_with(mark));
    let hint = changing(out).first().and_then(|hint| said.find(&format!("help: {}", hint.text)));
    let above = hint.and_then(|at| said[..at].lines().rfind(is_told));
    above.or_else(|| said.lines().find(is_told)).map(str::to_owned)
}

/// Runs a hint: a command, or a line that belongs into `andon.toml`, in place of the one of that key.
fn follow(stage: &Stage, hint: &Shown) -> Out {
    let command = hint.command().trim_start();
    if hint.row.effect != "edits" {
        return sh(stage, command);
    }
    let [section, line] = command.splitn(3, "  ").take(2).collect::<Vec<_>>()[..] else {
        panic!("{command}")
    };
    let key = line.split(' ').next().unwrap();
    let config = stage.read("andon.toml");
    let kept = config.lines().filter(|old| !old.starts_with(&format!("{key} = ")));
    let config: String = kept.map(|old| format!("{old}\n")).collect();
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
        assert!(out.code < 2 && !out.all().is_empty(), "{}: {}\n{out}", row.name, hint.text);
    }
    assert!(files(stage) == before && refs(stage) == refs_before, "{}: looking changed something", row.name);
    looks
}

/// Walks every hint of a state.
fn walk(row: &State) -> Walked {
    let stage = ground();
    // A person who takes out what is damaged, and leaves messages as they are.
    stage.set("GIT_EDITOR", "f() { case $1 in *NOTES_EDITMSG) truncate -s 0 \"$1\";; esac; }; f");
    sh(&stage, &row.make.replace("@HALTED", HALTED));
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
            let own = ["core.hookspath", "notes.rewriteref"];
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
    let reason = |row: &Row| NOT_WALKED.iter().find(|(name, _)| *name == row.name).map(|(_, reason)| *reason);
    page.push_str("\nAll hints that change something, with what holds them to that:\n\n| hint | run by the tests |\n|---|---|\n");
    for row in list().iter().filter(|row| ["changes", "edits"].contains(&row.effect)) {
        // A part of another one is run with it.
        let is_run = |ran: &Shown| ran.row.name == row.name || (row.is_part() && row.is_in(&ran.text));
        let is_walked = ran.iter().any(is_run);
        let said = match (is_walked, reason(row)) {
            (true, None) => "in a state above",
            (false, Some(reason)) => reason,
            (true, Some(_)) => "walked, and needs no reason",
            (false, None) => "no state brings it about",
        };
        if is_walked == reason(row).is_some() {
            faults.push(format!("{}: {said}", row.name));
        }
        page.write_fmt(format_args!("| `{}` | {said} |\n", cell(row.text))).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    compare("docs/troubleshooting.md", &page);
    println!("{} hints were run in {} states", ran.len(), STATES.len());
}

/// A command that changes something has its row: nothing else in the program begins as such a command does.
#[test]
fn commands_that_change_something_are_rows_of_the_list() {
    // Messages that begin alike.
    let messages = [
        "git fetch brings",
        "git fetch {remote} does",
        "git config --get-regexp",
        "git config --show-origin",
    ];
    let rows = list();
    let beginnings: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.effect == "changes")
        .map(|row| row.text.rsplit_once(": ").map_or(row.text, |(_, command)| command))
        .filter(|command| !command.starts_with(['{', '(']) && !command.starts_with("andon"))
        .map(|command| {
            let words: Vec<&str> =
                command.split(' ').take(if command.starts_with("git ") { 2 } else { 1 }).collect();
            words.join(" ") + " "
        })
        .collect();
    let begins = |text: &str| {
        beginnings.iter().any(|one| text.starts_with(one.as_str()))
            && !messages.iter().any(|one| text.starts_with(one))
    };
    let is_command =
        |text: &str| begins(text) || text.match_indices(": ").any(|(at, _)| begins(&text[at + 2..]));
    let elsewhere: Vec<String> =
        literals_of_the_program().into_iter().filter(|text| is_command(text)).collect();
    assert!(elsewhere.is_empty(), "these belong into hints.txt:\n{}", elsewhere.join("\n"));
}

/// The texts in the source of the program.
fn literals_of_the_program() -> BTreeSet<String> {
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
                found.extend(literals(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()));
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
