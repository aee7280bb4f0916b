//! Tools that rewrite commits without running a hook, imitated call by call: git-revise, jj and git-filter-repo. A loop is
//! seen through them, progress is not halted, and `check` accuses no one.

use crate::support::{Out, Stage};

const RED: [&str; 2] = ["ok a", "not ok b"];

/// Makes every commit since `base` anew, with other words and the same author, date and tree; its id is in `$p`.
const ANEW: &str = r#"
p=$(git rev-parse base)
for c in $(git rev-list --reverse base..HEAD); do
  GIT_AUTHOR_NAME=$(git log -1 --format=%an "$c") GIT_AUTHOR_EMAIL=$(git log -1 --format=%ae "$c")
  GIT_AUTHOR_DATE=$(git log -1 --format=%ad --date=raw "$c")
  export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE
  p=$(git log -1 --format=%B "$c" | sed '1s/$/ again/' | git commit-tree "$c^{tree}" -p "$p")
done
"#;

/// Each tool with what it calls. filter-repo also throws away what it replaced.
const TOOLS: [(&str, &str); 3] = [
    ("git-revise", "git update-ref -m 'git-revise rewrite' HEAD $p"),
    (
        "jj",
        "git update-ref -m 'export from jj' refs/heads/main $p; git update-ref --no-deref -m 'update from jj' HEAD $p; git read-tree $p",
    ),
    (
        "git-filter-repo",
        "git fast-export --show-original-ids --reencode=yes main | sed 's/^committer .* </committer Rewritten </' |
         git fast-import --force --quiet --date-format=raw-permissive
         git reset -q --hard; git reflog expire --expire=now --all; git gc -q --prune=now",
    ),
];

fn attempt(stage: &Stage, number: u32, tests: &[&str]) -> Out {
    stage.write("code.txt", format!("{}attempt {number}\n", stage.read("code.txt")));
    stage.tests(tests);
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", &format!("Attempt {number}")])
}

fn rewritten(stage: &Stage, calls: &str) {
    let script = format!("set -e\n{ANEW}{calls}\n");
    let before = stage.head();
    stage.run_in(stage.dir(), "sh", &["-c", &script], None).ok();
    assert_ne!(stage.head(), before, "{calls}");
    assert!(stage.git(&["status", "--porcelain"]).ok().stdout.is_empty());
}

fn stage() -> Stage {
    let stage = Stage::installed();
    stage.git(&["tag", "base"]).ok();
    stage
}

#[test]
fn failures_alike_halt_at_the_third_whatever_rewrites_them() {
    for (tool, calls) in TOOLS {
        let stage = stage();
        for number in 1..=3 {
            let said = attempt(&stage, number, &RED).ok().all();
            assert_eq!(said.contains("error[repeated-failures]"), number == 3, "{tool}: {number}: {said}");
            rewritten(&stage, calls);
        }
        stage.andon(&["status", "--exit-code"]).exits(1);
    }
}

#[test]
fn progress_goes_on_and_no_one_is_accused() {
    for (tool, calls) in TOOLS {
        let stage = stage();
        for (number, failing) in (1..).zip([7, 4, 2, 0, 0, 0]) {
            let line = |test: usize| format!("{} t{test}", if test < failing { "not ok" } else { "ok" });
            let lines: Vec<String> = (0..9).map(line).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            attempt(&stage, number, &lines).ok().lacks("error[").lacks("oscillation");
            rewritten(&stage, calls);
        }
        stage.andon(&["status", "--exit-code"]).exits(0);
        let said = stage.andon(&["check", "HEAD~3..HEAD"]);
        for word in ["edited-record", "copied-record", "bypass", "hooks were off", "forged"] {
            assert!(!said.all().contains(word), "{tool}: {said}");
        }
    }
}
