//! The tests ran on exactly this code: what git is configured to skip, or looks at too briefly, counts as it is on
//! disk.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// A tested repository whose tests pass only where `code.txt` says `good`; what is committed says `evil`.
fn stage() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("andon.toml", "[test]\ncommand = 'grep -q good code.txt && sh check.sh'\n");
        stage.steps("echo evil > code.txt; echo one > other.txt; git add .; git commit -qm Evil --no-verify");
        stage
    })
}

fn sh(stage: &Stage, line: &str) {
    stage.run_in(stage.dir(), "sh", &["-ec", line], None).ok();
}

/// The command between the last pair of parentheses of the first line that says `git does not see`.
fn named_command(text: &str) -> String {
    let line =
        text.lines().find(|line| line.contains("git does not see it")).unwrap_or_else(|| panic!("{text}"));
    let start = line.rfind('(').unwrap();
    line[start + 1..].trim_end().trim_end_matches(')').to_owned()
}

#[test]
fn what_hides_a_change_from_git_is_named_and_lifted_by_the_command() {
    let cases = [
        (
            "assume-unchanged",
            "git update-index --assume-unchanged code.txt; echo good > code.txt",
            "marked assume-unchanged",
        ),
        (
            "skip-worktree",
            "git update-index --skip-worktree code.txt; echo good > code.txt",
            "marked skip-worktree",
        ),
        (
            "both, with a monitor that lies and times put back",
            "git update-index --assume-unchanged --skip-worktree code.txt; printf '#!/bin/sh\\n' > .git/m; chmod +x .git/m; git config core.fsmonitor .git/m; touch -r code.txt .git/t; echo good > code.txt; touch -r .git/t code.txt",
            "marked assume-unchanged",
        ),
        (
            "same size and times within a second",
            "until began=$(date +%s); echo evil > code.txt; touch -d 2020-01-01 code.txt; git add code.txt; sleep 0.05; git update-index --refresh; echo good > code.txt; touch -d 2020-01-01 code.txt; [ \"$began\" = \"$(date +%s)\" ]; do :; done",
            "its size and times are those that git remembers",
        ),
    ];
    for (name, hide, reason) in cases {
        let stage = stage();
        sh(&stage, hide);
        sh(&stage, "test -z \"$(git status --porcelain)\" || { git status; exit 1; }");
        let tested = stage.andon(&["test"]).ok().says("code.txt as it is on disk").says(reason);
        stage.add("other.txt", "two\n");
        let refused = stage.git(&["commit", "-qm", "Washed"]).refused();
        refused.clone().says("error[untested-edit]").says("code.txt").says(reason);
        // The command that both name shows it to git; with it in the commit the tests are those of this code.
        let command = named_command(&tested.stderr);
        assert!(refused.stderr.contains(&command), "{name}: {command}\n{refused}");
        if name.starts_with("both") {
            sh(&stage, "git update-index --no-skip-worktree code.txt; git config --unset core.fsmonitor");
        }
        sh(&stage, &command);
        if name.starts_with("both") {
            sh(&stage, "touch code.txt");
        }
        stage.git(&["add", "--update"]).ok();
        stage.andon(&["test"]).ok().lacks("git does not see");
        stage.git(&["commit", "-qm", "Good"]).ok();
        assert_eq!(stage.git(&["show", "HEAD:code.txt"]).stdout, "good\n", "{name}");
    }
}

#[test]
fn a_staged_change_says_nothing_of_a_file_that_a_bit_hides() {
    for (bit, reason) in
        [("--skip-worktree", "marked skip-worktree"), ("--assume-unchanged", "marked assume-unchanged")]
    {
        let stage = stage();
        let hide = format!(
            "echo worse > code.txt; git add code.txt; git update-index {bit} code.txt; echo good > code.txt"
        );
        sh(&stage, &hide);
        stage.andon(&["test"]).ok().says("code.txt as it is on disk").says(reason);
        stage.git(&["commit", "-qm", "Washed"]).refused().says("error[untested-edit]").says("code.txt");
        stage.git(&["commit", "-qm", "Washed", "--no-verify"]).ok();
        stage.andon(&["check", "HEAD~1..HEAD"]).refused();
    }
}

#[test]
fn a_monitor_that_says_nothing_changed_is_not_asked() {
    let stage = stage();
    sh(&stage, "printf '#!/bin/sh\\ntouch .git/asked; printf other.txt\\n' > .git/m; chmod +x .git/m");
    sh(
        &stage,
        "git config core.fsmonitorHookVersion 1; git config core.fsmonitor .git/m; git status; rm -f .git/asked",
    );
    stage.steps("echo good > code.txt; andon test; andon status");
    assert!(!stage.exists(".git/asked"), "the monitor was asked");
    stage.add("other.txt", "two\n");
    assert_snapshot!(stage.git(&["commit", "-qm", "Washed"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed after the tests ran: code.txt, other.txt
      help: andon test --staged
      help: or take these files along: git add -- code.txt
    ");
    stage.git(&["commit", "-qm", "Washed", "--no-verify"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).refused();
}

/// Filters of the kinds that people use: an encryption, one that leaves out outputs, and one that talks a protocol by a plain program.
const FILTERS: [(&str, &str, &str); 3] = [
    ("git-crypt", "base64", "base64 -d"),
    ("nbstripout", "grep -v output", "cat"),
    ("transcrypt", "tr a-z n-za-m", "tr n-za-m a-z"),
];

#[test]
fn a_file_behind_a_filter_is_compared_as_git_does() {
    for (name, clean, smudge) in FILTERS {
        let stage = Stage::installed();
        let secret = |text: &str| stage.write("secret.ipynb", format!("token {text}\noutput\n"));
        sh(
            &stage,
            &format!(
                "git config filter.{name}.clean '{clean}'; git config filter.{name}.smudge '{smudge}'; git config filter.{name}.required true"
            ),
        );
        stage.write(".gitattributes", format!("secret.ipynb filter={name}\n"));
        secret("one");
        stage.tested_commit_of(".", "A secret");
        let commit = |change: &str, staged: &str| {
            sh(&stage, change);
            stage.andon(&["test"]).ok().lacks("filter").lacks("left out");
            sh(&stage, &format!("git add {staged}"));
            stage.git(&["commit", "-qm", change]).ok();
        };
        commit("echo 2 >> code.txt", "code.txt");
        // Its times alone changed, and the index was made anew.
        commit("echo 3 >> code.txt; touch secret.ipynb", "code.txt");
        commit("echo 4 >> code.txt; rm .git/index; git reset -q", "code.txt");
        commit("echo token two > secret.ipynb", "secret.ipynb");
        // Changed and left out of the commit: as with every other file.
        secret("three");
        stage.steps("andon test; echo 5 > code.txt; echo 5 > code.txt; git add code.txt");
        let refused = stage.git(&["commit", "-qm", "Without"]).refused().says("secret.ipynb");
        refused.lacks("filter.").lacks("renormalize");
        stage.steps("andon test --staged; git commit -qm Without");
        stage.git(&["show", "HEAD:secret.ipynb"]).ok().lacks("output");
        assert!(stage.read("secret.ipynb").contains("three"), "{name}");
    }
}

#[test]
fn what_a_filter_does_not_say_is_left_out_in_one_line() {
    let stage = stage();
    for clean in ["exit 1", "date +%N"] {
        sh(
            &stage,
            "git config --remove-section filter.vault || true; echo 'locked.txt filter=vault' > .gitattributes; echo a > locked.txt",
        );
        sh(&stage, "echo good > code.txt; git add .; git commit -qm Vault --no-verify || true; sleep 0.05");
        sh(
            &stage,
            &format!(
                "git config filter.vault.required true; git config filter.vault.clean '{clean}'; echo b >> locked.txt; echo {clean} >> other.txt"
            ),
        );
        stage
            .andon(&["test"])
            .ok()
            .says("locked.txt is left out of the code: the filter vault fails on it, or stores something else each time (name it in paths.ignore)");
        stage.steps("git add other.txt; git commit -qm Other");
    }
    stage.write(
        "andon.toml",
        "[paths]\nignore = [\"locked.txt\"]\n[test]\ncommand = 'grep -q good code.txt && sh check.sh'\n",
    );
    stage.andon(&["test"]).ok().lacks("left out");
}

#[test]
fn what_git_lfs_stores_is_known() {
    let stage = Stage::installed();
    let clean = "{ f=$(mktemp); cat > $f; echo version https://git-lfs.github.com/spec/v1; echo oid sha256:$(sha256sum < $f | cut -c1-64); echo size $(stat -c %s $f); }";
    stage.git(&["config", "filter.lfs.clean", clean]).ok();
    stage.write(".gitattributes", "*.bin filter=lfs\n");
    stage.write("a.bin", "content");
    stage.tested_commit_of(".", "Large files");
    assert!(stage.git(&["show", "HEAD:a.bin"]).stdout.starts_with("version https://git-lfs"));
    stage.write("a.bin", "other");
    stage.write("b.bin", "new");
    stage.andon(&["test"]).ok().lacks("git does not see");
    stage.commit_of(".", "Larger files");
    // A driver by that name which stores something else.
    stage.git(&["config", "filter.lfs.clean", "sed s/good/evil/"]).ok();
    stage.write("a.bin", "good");
    stage.steps("andon test; git add .");
    stage.git(&["commit", "-qm", "Washed"]).refused().says("error[untested-edit]").says("a.bin");
}

#[test]
fn an_executable_bit_that_git_does_not_look_at_counts() {
    let stage = Stage::installed();
    stage.steps("git config core.fileMode false; echo #!/bin/sh > run.sh");
    sh(&stage, "chmod +x run.sh; git add run.sh");
    let tested = stage.andon(&["test"]);
    assert_snapshot!(tested.brief(), @"
    exit 0, stdout: 1..2
    ok 1 - a
    ok 2 - b
    stderr: warning: the tests ran with run.sh as it is on disk, and git does not see it: core.fileMode is false (git -c core.fileMode=true add -- run.sh)
    ");
    let refused = stage.git(&["commit", "-qm", "No tool"]);
    assert_snapshot!(refused.shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran with work that is not part of this commit: run.sh (git does not see it: core.fileMode is false)
      help: andon test --staged
      help: git -c core.fileMode=true add -- run.sh
    ");
    let command = named_command(&tested.stderr);
    assert!(refused.stderr.contains(&command), "{command}\n{refused}");
    sh(&stage, &command);
    stage.git(&["commit", "-qm", "A tool"]).ok();
    assert!(stage.git(&["ls-tree", "HEAD", "run.sh"]).stdout.starts_with("100755"));
}

#[test]
fn a_submodule_is_looked_into() {
    let stage = stage();
    let lib = stage.root().join("lib");
    std::fs::create_dir(&lib).unwrap();
    stage.steps_in(&lib, "git init -q .; echo evil > f; git add .; git commit -qm f");
    stage
        .git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", lib.to_str().unwrap(), "sub"])
        .ok();
    stage.steps("echo good > code.txt; git add .; andon test; git commit -qm 'With a submodule'");
    sh(&stage, "cd sub; git update-index --skip-worktree f; echo good > f");
    sh(&stage, "test -z \"$(git status --porcelain)\"");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stdout: 1..2
    ok 1 - a
    ok 2 - b
    stderr: warning: the tests ran with sub/f as it is on disk, and git does not see it: it is marked skip-worktree (git -C sub update-index --no-skip-worktree -- f)
    ");
    stage.steps("echo two > other.txt; git add .");
    assert_snapshot!(stage.git(&["commit", "-qm", "Washed"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed after the tests ran: other.txt, sub (git does not see it: the submodule has changes of its own)
      help: andon test --staged
      help: git -C sub status
    ");
    sh(&stage, "cd sub; git update-index --no-skip-worktree f; touch f; git checkout -q f");
    stage.andon(&["test"]).ok().lacks("git does not see");
    stage.git(&["commit", "-qm", "As it is"]).ok();
}

#[test]
fn a_sparse_checkout_is_no_change() {
    let stage = stage();
    stage.steps("echo good > code.txt; echo 1 > kept/a; echo 1 > left/b");
    stage.steps("git add .; andon test; git commit -qm 'Two directories'");
    for extra in [&["--no-sparse-index"][..], &["--sparse-index"]] {
        stage.git(&[&["sparse-checkout", "set", "--cone"], extra, &["kept"]].concat()).ok();
        assert!(!stage.exists("left/b"));
        stage.write("kept/a", format!("{extra:?}\n"));
        stage.andon(&["test"]).ok().lacks("git does not see");
        stage.git(&["commit", "-qam", "Kept"]).ok();
    }
    // Outside of a sparse checkout a file that is gone is gone.
    stage.git(&["sparse-checkout", "disable"]).ok();
    sh(&stage, "git update-index --skip-worktree left/b; rm left/b; git update-index --split-index");
    stage.write("kept/a", "2\n");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stdout: 1..2
    ok 1 - a
    ok 2 - b
    stderr: warning: the tests ran with left/b as it is on disk, and git does not see it: it is marked skip-worktree (git update-index --no-skip-worktree -- left/b)
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "Washed"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran without left/b, which is in the commit
      help: andon test --tree HASH
      help: or take these files along: git add -- left/b
    ");
}
