//! Kinds of repositories, each by the real git: the main job goes through (install, run the tests, be refused without
//! them, commit, check), or every command says what it cannot read and how to repair it, and nothing half-works.

mod clones;
mod files;
mod formats;
mod indexes;
mod replaced;
mod stores;

use std::path::{Path, PathBuf};

use crate::support::{Out, Stage, image::built};

/// Passes, one test for each line of `tests.txt`.
const CHECK: &str = "echo \"1..$(grep -c . tests.txt)\"\nn=0\nwhile read -r line; do n=$((n+1)); echo \"ok $n - $line\"; done < tests.txt\n";

/// A repository of some kind.
struct Kind {
    stage: Stage,
    /// Where the work is done.
    dir: PathBuf,
}

impl Kind {
    /// What `git init` makes of these arguments, with files to work on and one commit without Andon.
    fn init(args: &[&str]) -> Self {
        if args.is_empty() {
            let stage = built!(Kind::made(&[]).stage);
            let kind = Self { dir: stage.dir().to_owned(), stage };
            // To git the files of a copy are other files: it would not take them away.
            kind.git(&["update-index", "-q", "--refresh"]).ok();
            return kind;
        }
        Self::made(args)
    }

    fn made(args: &[&str]) -> Self {
        let kind = Self::empty(args);
        kind.steps("git add .; git commit -qm Before");
        kind
    }

    /// The same before the first commit.
    fn empty(args: &[&str]) -> Self {
        let stage = Stage::bare_ground();
        let dir = stage.dir().to_owned();
        let kind = Self { stage, dir };
        kind.git(&[&["init", "-q", "-b", "main", "."], args].concat()).ok();
        kind.files();
        kind
    }

    /// A clone of a plain repository with some history, made by `git clone ARGS file://...`.
    fn clone(args: &[&str]) -> Self {
        let mut kind = Self::init(&[]);
        for n in 1..5 {
            kind.write("code.txt", &format!("{n}\n"));
            kind.git(&["commit", "-qam", &format!("Before, {n}")]).ok();
        }
        for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
            kind.git(&["config", key, "true"]).ok();
        }
        let url = format!("file://{}", kind.dir.display());
        let dir = kind.beside("clone");
        let args = [&["clone", "-q"], args, &[&url, dir.to_str().unwrap()]].concat();
        kind.git(&args).ok();
        kind.dir = dir;
        kind
    }

    fn files(&self) {
        self.write("check.sh", CHECK);
        self.write(
            "andon.toml",
            "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = [\"**/*.md\", \"docs/**\"]\n",
        );
        self.write("tests.txt", "a\nb\n");
        self.write("code.txt", "start\n");
        for n in 0..20 {
            self.write(&format!("d{}/f{n}", n % 4), &format!("file {n}\n"));
        }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.stage.root().canonicalize().unwrap().join(name)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn git(&self, args: &[&str]) -> Out {
        self.stage.git_in(&self.dir, args)
    }

    fn andon(&self, args: &[&str]) -> Out {
        self.stage.andon_in(&self.dir, args)
    }

    fn steps(&self, script: &str) {
        self.stage.steps_in(&self.dir, script);
    }

    fn sh(&self, script: &str) -> Out {
        self.stage.run_in(&self.dir, "sh", &["-c", script], None)
    }

    /// Installs and records a first commit.
    fn adopt(&self) {
        self.steps("andon install; git add andon.toml check.sh code.txt tests.txt");
        self.andon(&["test"]).ok().lacks("warning");
        self.git(&["commit", "-q", "--allow-empty", "-am", "Adopt"]).ok().lacks("warning[").lacks("error");
    }

    /// The main job, by an edit of `code.txt`.
    fn job(&self) {
        self.adopt();
        self.work(|| self.write("code.txt", "edited\n"));
    }

    /// From an edit to its checked record.
    fn work(&self, edit: impl Fn()) {
        edit();
        self.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
        self.andon(&["test"]).ok().lacks("warning");
        self.git(&["commit", "-qam", "Tested"]).ok().lacks("andon").lacks("warning[");
        self.git(&["notes", "--ref=andon", "show", "HEAD"])
            .ok()
            .says("\"gate\":\"passed\"")
            .says("\"status\":\"passed\"");
        self.andon(&["check", "HEAD~1..HEAD"]).ok().says("ok");
        self.andon(&["status"]).ok().lacks("warning").says("HEAD: 2 passed");
        for command in ["log", "show", "replay", "doctor"] {
            self.andon(&[command]).ok().lacks("warning[").lacks("error");
        }
        self.git(&["fsck", "--strict"]).ok();
    }
}

/// Every command that looks at a repository.
const COMMANDS: [&[&str]; 19] = [
    &["status"],
    &["status", "--format", "json"],
    &["log"],
    &["show"],
    &["check", "HEAD~1..HEAD"],
    &["replay"],
    &["complete"],
    &["test"],
    &["stop", "--reason", "enough"],
    &["pause"],
    &["resume", "--reason", "seen"],
    &["sync"],
    &["observe", "output"],
    &["tick"],
    &["config", "show"],
    &["doctor"],
    &["advise"],
    &["install"],
    &["uninstall"],
];

/// Hooks that go before the fact, and those after it.
const HOOKS: [(&[&str], bool); 7] = [
    (&["hook", "pre-commit"], true),
    (&["hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG"], true),
    (&["hook", "pre-merge-commit"], true),
    (&["hook", "pre-push", "origin", "../nowhere"], true),
    (&["hook", "post-commit"], false),
    (&["hook", "post-merge", "0"], false),
    (&["hook", "post-rewrite", "amend"], false),
];

/// Every command says `what` and names the remedy `mend`, and leaves nothing behind; hooks let git go on, unless the
/// project wants it otherwise.
#[track_caller]
fn refused_everywhere(kind: &Kind, what: &str, hint: &str) {
    let before = listing(&kind.dir);
    for args in COMMANDS {
        let out = kind.stage.run_in(&kind.dir, crate::support::andon_path(), args, Some(b"{}\n"));
        assert_ne!(out.code, 0, "{args:?}: {out}");
        assert!(out.code != 101 && out.code < 128, "{args:?}: {out}");
        let out = out.says(what);
        if *args != ["config", "show"] {
            out.says("help: ").says(hint);
        }
    }
    for (args, _) in HOOKS {
        let out = kind.andon(args).ok();
        out.says(what).says(hint).says("git goes on without it");
    }
    let config = std::fs::read_to_string(kind.dir.join("andon.toml")).unwrap();
    kind.write("andon.toml", &format!("{config}[guard]\non_internal_error = \"block\"\n"));
    for (args, before_the_fact) in HOOKS {
        let out = kind.andon(args).exits(1).says(what).says(hint);
        assert_eq!(out.all().contains("refused: "), before_the_fact, "{args:?}: {out}");
    }
    kind.write("andon.toml", &config);
    assert_eq!(listing(&kind.dir), before, "something was left behind");
}

/// Every file below, but for those of git's own house-keeping.
fn listing(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() && !entry.is_symlink() {
                open.push(entry.clone());
            }
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// Whether this git can do `args` at all: said, so that a test which is left out is seen.
fn git_knows(kind: &Kind, args: &[&str]) -> bool {
    let knows = kind.stage.git_in(kind.stage.root(), args).code == 0;
    if !knows {
        println!("left out: this git does not know {args:?}");
    }
    knows
}
