//! A repository to break or to feed with bad input, and what no command may do, whatever it is given.

use std::{fs, path::Path};

use super::{Out, Stage, andon_path, image::built};

/// Seconds after which a command counts as hung.
pub(crate) const HUNG: &str = "20";

/// Runs andon in `dir` with a time limit.
pub(crate) fn attempt(stage: &Stage, dir: &Path, args: &[&str], stdin: Option<&[u8]>) -> Out {
    let program = andon_path();
    let mut words = vec!["-k", "1", HUNG, program.to_str().unwrap()];
    words.extend(args);
    let out = stage.run_in(dir, "timeout", &words, stdin);
    if std::env::var_os("ANDON_TEST_SHOW").is_some() {
        let cut = |text: &str| text.chars().take(1500).collect::<String>();
        println!(
            "$ andon {} -> {}\n{}{}",
            cut(&args.join(" ")),
            out.code,
            cut(&out.stdout),
            cut(&out.stderr)
        );
    }
    out
}

/// Runs andon in `dir` and fails when it panicked, hung, died or let a terminal escape through.
#[track_caller]
pub(crate) fn run(stage: &Stage, dir: &Path, args: &[&str], stdin: Option<&[u8]>) -> Out {
    let out = attempt(stage, dir, args, stdin);
    assert_eq!(fault(&out), None, "{out}");
    out
}

/// What no command may do, whatever it is given.
pub(crate) fn fault(out: &Out) -> Option<&'static str> {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match out {
        _ if out.stderr.contains("panicked at") || out.code == 101 => Some("panicked"),
        Out { code: 124 | 137, .. } => Some("hung"),
        Out { code: 128..=139, .. } => Some("was killed"),
        _ if out.all().contains(obeyed) => Some("let a control character through"),
        _ if out.all().len() > 200_000 => Some("said far too much"),
        _ => None,
    }
}

/// A repository under the hooks, three tested commits, nothing wrong with it.
pub(crate) struct Ground {
    pub(crate) stage: Stage,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self { stage: built!(Ground::running().stage) }
    }

    /// As [`Self::new`], halted.
    pub(crate) fn halted() -> Self {
        Self { stage: built!(Ground::halt().stage) }
    }

    fn running() -> Self {
        let stage = Stage::new();
        let shim = include_str!("../../../hooks/shim.sh");
        let quoted = format!("'{}'", andon_path().display());
        for hook in [
            "pre-commit",
            "prepare-commit-msg",
            "post-commit",
            "post-merge",
            "pre-merge-commit",
            "post-rewrite",
        ] {
            let path = format!(".git/hooks/{hook}");
            stage.write(&path, shim.replace("@PROGRAM@", &quoted).replace("@HOOK@", hook));
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(stage.path(&path), mode).unwrap();
        }
        stage.write("check.sh", "cat report.txt 2>/dev/null || { echo 1..1; cat tests.txt; }\n");
        stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
        stage.write("tests.txt", "ok 1 - a\n");
        stage.write("code.txt", "start\n");
        stage.git(&["add", "."]).ok();
        let ground = Self { stage };
        for text in ["one\n", "two\n", "three\n"] {
            ground.commit(text).ok();
        }
        ground
    }

    pub(crate) fn commit(&self, text: &str) -> Out {
        self.stage.write("code.txt", text);
        self.stage.andon(&["test"]);
        self.stage.git(&["commit", "-qam", text.trim()])
    }

    fn halt() -> Self {
        let ground = Self::new();
        ground.stage.write("tests.txt", "not ok 1 - a\n");
        for text in ["four\n", "five\n", "six\n"] {
            ground.commit(text).ok();
        }
        assert!(ground.stage.exists(".andon/CHECKPOINT.md"));
        ground
    }
}

/// Every command, those that change something last.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["status", "--format", "json"],
    &["log"],
    &["log", "--format", "json"],
    &["show"],
    &["show", "--format", "json", "HEAD~1"],
    &["check", "HEAD~2..HEAD"],
    &["check", "HEAD~2..HEAD", "--format", "json"],
    &["replay"],
    &["replay", "--format", "json"],
    &["complete"],
    &["complete", "--format", "json"],
    &["config", "show"],
    &["config", "check"],
    &["config", "schema"],
    &["hook", "pre-push", "origin", "../nowhere"],
    &["hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG"],
    &["hook", "pre-merge-commit"],
    &["hook", "pre-commit"],
    &["hook", "post-commit"],
    &["hook", "post-merge", "0"],
    &["hook", "post-rewrite", "amend"],
    &["hook", "post-rewrite", "rebase"],
    &["test"],
    &["stop", "--reason", "enough"],
    &["resume", "--reason", "looked at it"],
    &["pause"],
    &["resume"],
];

/// Runs every command that is `wanted` and gives what each said, under its own words.
pub(crate) fn sweep(stage: &Stage, dir: &Path, wanted: impl Fn(&[&str]) -> bool) -> Vec<(String, Out)> {
    let head = stage.git_in(dir, &["rev-parse", "HEAD"]).stdout.trim().to_owned();
    let push = format!("refs/heads/main {head} refs/heads/main {}\n", "0".repeat(40));
    let answers = COMMANDS.iter().filter(|args| wanted(args)).map(|args| {
        let stdin = (args.get(1) == Some(&"pre-push")).then_some(push.as_bytes());
        (args.join(" "), attempt(stage, dir, args, stdin))
    });
    answers.collect()
}
