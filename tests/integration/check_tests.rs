//! `andon check --test`: unrecorded commits are green when the tests of the tip pass and red when they fail; records
//! keep their meaning.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Out, Stage, image::built};

/// A person without the hooks: another clone of the same remote, under another name.
struct Elsewhere<'a> {
    stage: &'a Stage,
    name: &'a str,
    email: &'a str,
    committer: (&'a str, &'a str),
}

/// Name and address.
type Person = (&'static str, &'static str);

const BOT: Person = ("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com");
const FORGE: Person = ("GitHub", "noreply@github.com");

impl<'a> Elsewhere<'a> {
    fn new(stage: &'a Stage, author: (&'a str, &'a str), committer: (&'a str, &'a str)) -> Self {
        Self { stage, name: author.0, email: author.1, committer }
    }

    /// A commit of `code.txt` and `tests.txt` on top of the branch, made where no hooks are.
    fn commits(&self, code: &str, tests: &[&str], message: &str) -> Out {
        let stage = self.stage;
        stage.write("code.txt", code);
        stage.tests(tests);
        let (name, email) = self.committer;
        for (variable, value) in [
            ("GIT_AUTHOR_NAME", self.name),
            ("GIT_AUTHOR_EMAIL", self.email),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", email),
        ] {
            stage.set(variable, value);
        }
        stage.git(&["add", "."]).ok();
        let out = stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", message]).ok();
        for variable in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            let value = if variable.ends_with("NAME") { "A. Author" } else { "author@example.org" };
            stage.set(variable, value);
        }
        out
    }
}

fn check(stage: &Stage, range: &str) -> Out {
    stage.andon(&["check", "--test", range])
}

fn json(stage: &Stage, range: &str) -> Value {
    let out = stage.andon(&["check", "--test", range, "--format", "json"]);
    serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"))
}

/// The codes that a check says of a range, those that are missing evidence too.
fn codes(value: &Value) -> Vec<String> {
    let all = value["violations"].as_array().unwrap().iter().chain(value["undecided"].as_array().unwrap());
    all.map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

/// Each kind of commit that no hook could record, as (name, author, committer, message).
fn strangers() -> [(&'static str, Person, Person, &'static str); 6] {
    let colleague = ("C. Colleague", "colleague@example.org");
    let author = ("A. Author", "author@example.org");
    [
        ("dependabot", BOT, FORGE, "Bump left-pad from 1.0 to 1.1"),
        ("web suggestion", author, FORGE, "Update code.txt\n\nCo-authored-by: R <r@example.org>"),
        (
            "release bot",
            ("release-bot", "release@example.org"),
            ("release-bot", "release@example.org"),
            "Release 1.2.3",
        ),
        ("colleague", colleague, colleague, "Make it faster"),
        ("revert button", author, FORGE, "Revert \"Step 2\" (#12)"),
        ("squash merge", author, FORGE, "Add the thing (#13)"),
    ]
}

#[test]
fn what_nobody_recorded_is_green_with_the_tests_of_the_tip_and_red_without() {
    for (name, author, committer, message) in strangers() {
        let stage = Stage::installed();
        stage.iterate("2\n", &["ok a", "ok b"], "Step 2").ok();
        Elsewhere::new(&stage, author, committer).commits("3\n", &["ok a", "ok b"], message);
        let range = "HEAD~2..HEAD";
        assert_eq!(stage.andon(&["check", range]).code, 3, "{name} without tests");
        let value = json(&stage, range);
        assert_eq!(
            (value["outcome"].as_str(), codes(&value)),
            (Some("ok"), vec!["tip-tested".to_owned()]),
            "{name}"
        );
        assert_eq!(value["tests"]["outcome"], "passed");
        // The tests of the tip fail, whatever was recorded below.
        Elsewhere::new(&stage, author, committer).commits("4\n", &["ok a", "not ok b"], message);
        let value = json(&stage, "HEAD~3..HEAD");
        assert_eq!(value["outcome"], "violated", "{name}: {value}");
        assert!(codes(&value).contains(&"failing-tests".to_owned()), "{name}: {value}");
    }
}

#[test]
fn a_recorded_commit_on_top_changes_nothing_and_the_note_says_which() {
    let stage = Stage::installed();
    // The bot's commit arrives by a pull.
    stage.git(&["clone", "-q", ".", "../bot"]).ok();
    let bot = stage.root().join("bot");
    std::fs::write(bot.join("code.txt"), "2\n").unwrap();
    let author = format!("--author={} <{}>", BOT.0, BOT.1);
    stage.git_in(&bot, &["commit", "-qam", "Bump it", &author]).ok();
    stage.git(&["pull", "-q", "--ff-only", "../bot", "main"]).ok();
    stage.iterate("3\n", &["ok a", "ok b"], "Go on").ok();
    assert_snapshot!(check(&stage, "HEAD~2..HEAD").shown());
    assert_snapshot!(stage.andon(&["check", "--test", "HEAD~2..HEAD", "--format", "markdown"]).shown());
    let files = ["sarif=../a.sarif", "junit=../a.xml", "github=../a.txt", "gitlab=../a.json"];
    let mut args = vec!["check", "--test", "HEAD~2..HEAD"];
    args.extend(files.iter().flat_map(|file| ["--format", file]));
    stage.andon(&args).ok();
    for file in ["a.sarif", "a.xml", "a.txt", "a.json"] {
        assert!(stage.read(&format!("../{file}")).contains("tip-tested"), "{file}");
    }
}

#[test]
fn no_test_ran_is_missing_evidence() {
    let stage = Stage::installed();
    Elsewhere::new(&stage, BOT, FORGE).commits("2\n", &[], "Bump it");
    let value = json(&stage, "HEAD~1..HEAD");
    assert_eq!(value["outcome"], "undecided", "{value}");
    assert_eq!(codes(&value), ["missing-record", "tip-untested"]);
    check(&stage, "HEAD~1..HEAD").exits(3);
}

#[test]
fn an_adopting_branch_and_one_without_any_record() {
    let stage = Stage::new();
    stage.write("code.txt", "1\n");
    stage.commit_of(".", "Start");
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Before"]).ok();
    stage.write("check.sh", crate::support::CHECK);
    stage.tests(&["ok a"]);
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.commit_of(".", "Adopt andon");
    let range = "HEAD~2..HEAD";
    stage.andon(&["check", range]).exits(3);
    let value = json(&stage, range);
    assert_eq!(value["outcome"], "ok", "{value}");
    assert_eq!(codes(&value), ["config-added", "no-records", "tip-tested", "tip-tested"]);
    // Records begin in the middle.
    stage.andon(&["install"]).ok();
    stage.iterate("3\n", &["ok a"], "With the hooks").ok();
    let value = json(&stage, "HEAD~3..HEAD");
    assert_eq!(value["outcome"], "ok", "{value}");
    stage.write("tests.txt", "not ok a\n");
    Elsewhere::new(&stage, BOT, FORGE).commits("4\n", &["not ok a"], "Bump it");
    check(&stage, "HEAD~4..HEAD").exits(1);
}

#[test]
fn a_fork_whose_records_cannot_be_fetched() {
    let stage = Stage::installed();
    let fork = stage.root().join("fork");
    stage.git(&["clone", "-q", ".", "../fork"]).ok();
    stage.andon_in(&fork, &["install"]).ok();
    for n in 2..4 {
        std::fs::write(fork.join("code.txt"), format!("{n}\n")).unwrap();
        stage.andon_in(&fork, &["test"]).ok();
        stage.git_in(&fork, &["commit", "-qam", "In the fork"]).ok();
    }
    stage.git(&["fetch", "-q", "../fork", "main"]).ok();
    stage.git(&["checkout", "-q", "--detach", "FETCH_HEAD"]).ok();
    stage.andon(&["check", "main..HEAD"]).exits(3);
    assert_eq!(codes(&json(&stage, "main..HEAD")), ["tip-tested", "tip-tested"]);
    check(&stage, "main..HEAD").ok();
}

#[test]
fn a_merge_of_main_by_the_forge_and_the_commit_of_a_merge_queue() {
    let stage = Stage::installed();
    stage.git(&["branch", "topic"]).ok();
    Elsewhere::new(&stage, BOT, FORGE).commits("start\n", &["ok a", "ok b", "ok c"], "On main");
    stage.git(&["switch", "-q", "topic"]).ok();
    stage.iterate("topic\n", &["ok a", "ok b"], "On the branch").ok();
    // "Update branch", and what a queue makes: a merge in the name of the forge.
    stage.set("GIT_COMMITTER_NAME", FORGE.0);
    stage.set("GIT_COMMITTER_EMAIL", FORGE.1);
    stage.git(&["-c", "core.hooksPath=/dev/null", "merge", "-q", "--no-ff", "-m", "Merge main", "main"]).ok();
    let value = json(&stage, "main..HEAD");
    assert_eq!(value["outcome"], "ok", "{value}");
    stage.unset("GIT_COMMITTER_NAME");
}

#[test]
fn green_tests_hide_no_bypass_no_edit_and_no_halt() {
    // --no-verify leaves a record that says so.
    let stage = Stage::installed();
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Round it", "--no-verify"]).ok();
    check(&stage, "HEAD~1..HEAD").exits(1).says("bypassed");
    // Without any hook, found by the next one.
    let stage = Stage::installed();
    stage.write("code.txt", "2\n");
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Round it"]).ok();
    let out = check(&stage, "HEAD~1..HEAD").exits(3);
    assert_snapshot!(out.shown());
    stage.iterate("3\n", &["ok a", "ok b"], "Go on").ok();
    check(&stage, "HEAD~2..HEAD").exits(1).says("bypassed");
    // Without any hook, in CI: records of the range tell who has them.
    let stage = Stage::installed();
    stage.iterate("2\n", &["ok a", "ok b"], "With the hooks").ok();
    stage.write("code.txt", "3\n");
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Round it"]).ok();
    let ci = stage.root().join("ci");
    stage.git(&["clone", "-q", ".", "../ci"]).ok();
    stage.git_in(&ci, &["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/andon*"]).ok();
    stage.andon_in(&ci, &["check", "--test", "HEAD~2..HEAD"]).exits(3).says("author@example.org");
    // An edited record.
    let stage = crate::check::clean();
    let mut record = stage.record("HEAD");
    record["diff"]["added"] = 7.into();
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), "HEAD"]).ok();
    check(&stage, "HEAD~2..HEAD").exits(1).says("edited-record");
    // Work that went on in spite of a halt.
    let stage = crate::check::halted();
    Elsewhere::new(&stage, ("A. Author", "author@example.org"), FORGE).commits(
        "9\n",
        &["ok a", "ok b"],
        "On the web",
    );
    check(&stage, "HEAD~4..HEAD").exits(1).says("halted-commit");
}

#[test]
fn a_changed_test_command_is_told_and_judged_by_both() {
    let change = |command: &str, more: &dyn Fn(&Stage)| {
        let stage = Stage::installed();
        let format = if command.contains(".sh") { "" } else { "format = \"exit\"\n" };
        stage.write("andon.toml", format!("[test]\ncommand = \"{command}\"\n{format}"));
        more(&stage);
        stage.git(&["add", "."]).ok();
        stage.andon(&["test"]);
        stage.git(&["commit", "-qm", "Change the command"]).ok();
        stage
    };
    let nothing = |_: &Stage| {};
    let edited = |stage: &Stage| stage.write("code.txt", "2\n");
    let stage = change("sh ./check.sh", &edited);
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("other-test-command");
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown());
    // The script has moved.
    let moved = |stage: &Stage| {
        edited(stage);
        stage.git(&["mv", "check.sh", "run.sh"]).ok();
    };
    check(&change("sh run.sh", &moved), "HEAD~1..HEAD").ok().says("check.sh is gone");
    // A command that tests nothing.
    check(&change("true", &nothing), "HEAD~1..HEAD").exits(1).says("`true` runs no test");
    let broken = |stage: &Stage| stage.tests(&["ok a", "not ok b"]);
    check(&change("sh -c 'exit 0'", &broken), "HEAD~1..HEAD")
        .exits(1)
        .says("`sh check.sh`, the command of the base");
    check(&change("sh ./check.sh", &broken), "HEAD~1..HEAD").exits(1);
}

#[test]
fn the_checkout_has_to_be_the_code_of_the_tip() {
    let stage = crate::check::clean();
    stage.write("code.txt", "dirty\n");
    assert_snapshot!(check(&stage, "HEAD~2..HEAD").exits(2).shown());
    stage.git(&["checkout", "-q", "code.txt"]).ok();
    stage.write("new.txt", "untracked\n");
    check(&stage, "HEAD~2..HEAD").exits(2).says("new.txt");
    std::fs::remove_file(stage.path("new.txt")).unwrap();
    assert_snapshot!(check(&stage, "HEAD~3..HEAD~1").exits(2).shown());
    // What the check itself wrote is no change.
    for _ in 0..2 {
        stage.andon(&["check", "--test", "HEAD~2..HEAD", "--format", "sarif=a.sarif"]).ok();
    }
    // Nothing was recorded of the runs: a check leaves nothing behind.
    assert!(!stage.git(&["status", "--porcelain"]).ok().stdout.contains("code.txt"));
}

#[test]
fn a_report_of_the_ci_stands_in_as_well() {
    let stage = Stage::installed();
    Elsewhere::new(&stage, BOT, FORGE).commits("2\n", &["ok a", "ok b"], "Bump it");
    stage.write("../green.tap", "1..2\nok 1 - a\nok 2 - b\n");
    stage.write("../red.tap", "1..2\nok 1 - a\nnot ok 2 - b\n");
    stage.write("../nothing.txt", "it went well\n");
    let check = |file: &str, code: &str| {
        stage.andon(&["check", "HEAD~1..HEAD", "--test-report", file, "--exit-code", code])
    };
    assert_snapshot!(check("../green.tap", "0").shown());
    check("../green.tap", "1").exits(1);
    check("../red.tap", "1").exits(1).says("first: b");
    check("../red.tap", "0").exits(1);
    check("../nothing.txt", "0").exits(3);
    check("../gone.xml", "0").exits(2).says("gone.xml cannot be read");
    stage.andon(&["check", "HEAD~1..HEAD", "--test-report", "../green.tap"]).exits(2);
    stage.andon(&["check", "HEAD~1..HEAD", "--exit-code", "0"]).exits(2);
}

#[test]
fn without_a_test_command_the_error_says_what_to_do() {
    let stage = Stage::new();
    stage.write("code.txt", "1\n");
    stage.commit_of(".", "Start");
    assert_snapshot!(check(&stage, "HEAD").exits(2).shown());
}

/// A repository where only agents are guarded.
fn agents_alone() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("andon.toml", "[guard]\napplies_to = \"agents\"\n[test]\ncommand = \"sh check.sh\"\n");
        stage.git(&["commit", "-qam", "Guard agents alone"]).ok();
        stage
    })
}

/// A commit without a record.
fn unrecorded(stage: &Stage, code: &str, args: &[&str]) {
    stage.write("code.txt", code);
    stage.git(&[&["-c", "core.hooksPath=/dev/null", "commit", "-qa"], args].concat()).ok();
}

#[test]
fn only_agents_are_judged_where_only_they_are_guarded() {
    // A person: untested, past the hooks, without a record, with failing tests.
    let stage = agents_alone();
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Untested"]).ok();
    stage.write("code.txt", "3\n");
    stage.git(&["commit", "-qam", "Past the hooks", "--no-verify"]).ok();
    stage.iterate("4\n", &["ok a", "not ok b"], "Failing").ok();
    unrecorded(&stage, "5\n", &["-m", "No record"]);
    let out = stage.andon(&["check", "HEAD~4..HEAD"]).ok();
    assert_eq!(out.stdout, "checked 4 commits in HEAD~4..HEAD: ok\n");
    // One whose shell gave it away, past the hooks.
    for (variable, value) in [("CLAUDECODE", "1"), ("ANDON_NODE", "coder")] {
        let stage = agents_alone();
        stage.set(variable, value);
        stage.write("code.txt", "2\n");
        stage.git(&["commit", "-qam", "Past the hooks", "--no-verify"]).ok();
        stage.unset(variable);
        stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("bypassed");
    }
}

#[test]
fn an_agent_without_a_record_is_missing_evidence_by_each_trace() {
    let footer = "Try\n\nWhy.\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)";
    let traces: [(&str, &[&str]); 11] = [
        ("trailer", &["-m", "Try\n\nCo-Authored-By: Claude <noreply@anthropic.com>"]),
        ("author", &["-m", "Try", "--author=Cursor Agent <cursoragent@cursor.com>"]),
        ("codex", &["-m", "Try\n\nCo-authored-by: Codex <noreply@openai.com>"]),
        ("footer", &["-m", footer]),
        ("footer above a trailer", &["-m", footer, "-m", "Signed-off-by: Ann <ann@example.org>"]),
        ("aider's author", &["-m", "Try", "--author=Ann (aider) <ann@example.org>"]),
        ("aider's trailer", &["-m", "Try\n\nCo-authored-by: aider (gpt-4o) <aider@aider.chat>"]),
        ("aider's subject", &["-m", "aider: Try"]),
        (
            "devin",
            &[
                "-m",
                "Try",
                "--author=devin-ai-integration[bot] <1+devin-ai-integration[bot]@users.noreply.github.com>",
            ],
        ),
        ("copilot", &["-m", "Try", "--author=copilot-swe-agent[bot] <1+Copilot@users.noreply.github.com>"]),
        ("replit", &["-m", "Try\n\nReplit-Commit-Author: Agent"]),
    ];
    for (name, args) in traces {
        let stage = agents_alone();
        unrecorded(&stage, "2\n", args);
        let out = stage.andon(&["check", "HEAD~1..HEAD"]);
        assert_eq!(out.code, 3, "{name}: {out}");
        out.says("missing-record");
    }
    // The committer alone.
    let stage = agents_alone();
    stage.set("GIT_COMMITTER_NAME", "Ann (aider)");
    unrecorded(&stage, "2\n", &["-m", "Try"]);
    stage.unset("GIT_COMMITTER_NAME");
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(3).says("missing-record");
}

#[test]
fn people_who_work_with_the_commits_of_agents_are_free() {
    let stage = agents_alone();
    unrecorded(&stage, "2\n", &["-m", "Try\n\nCo-Authored-By: Claude <noreply@anthropic.com>"]);
    let agent = stage.head();
    stage.git(&["-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD"]).ok();
    let quoted = "Drop the footer\n\nIt said\n\n🤖 Generated with Claude Code\n\nwhich was wrong.";
    unrecorded(&stage, "3\n", &["-m", quoted]);
    unrecorded(
        &stage,
        "4\n",
        &["-m", "Bump it", "--author=dependabot[bot] <1+dependabot[bot]@users.noreply.github.com>"],
    );
    unrecorded(
        &stage,
        "5\n",
        &["-m", "Bump it", "--author=renovate[bot] <2+renovate[bot]@users.noreply.github.com>"],
    );
    stage.git(&["branch", "-q", "theirs", &agent]).ok();
    let merge = [
        "-c",
        "core.hooksPath=/dev/null",
        "merge",
        "-q",
        "--no-ff",
        "-s",
        "ours",
        "-m",
        "Merge pull request #7 from x/copilot/try",
    ];
    stage.git(&["checkout", "-q", "theirs"]).ok();
    stage.write("other.md", "x\n");
    stage.git(&["add", "-A"]).ok();
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "Document it"]).ok();
    stage.git(&["checkout", "-q", "-"]).ok();
    stage.git(&[&merge[..], &["theirs"]].concat()).ok();
    let range = format!("{agent}..HEAD");
    let out = stage.andon(&["check", &range]).ok();
    assert!(out.stdout.ends_with(": ok\n"), "{out}");
}

/// A record tells how the tests ended when they ran; a run of the check is newer, and decides either way.
#[test]
fn with_its_own_run_the_check_decides_both_ways() {
    let stage = Stage::installed();
    stage.write("check.sh", "echo 1..1; cat ../verdict; ! grep -q not ../verdict\n");
    let verdict =
        |text: &str| std::fs::write(stage.root().join("verdict"), format!("{text} 1 - a\n")).unwrap();
    verdict("ok");
    stage.tested_commit_of(".", "Another runner");
    for (recorded, now, alone, with_run) in [("ok", "not ok", 0, 1), ("not ok", "ok", 1, 0)] {
        verdict(recorded);
        stage.add("code.txt", recorded);
        stage.andon(&["test"]);
        stage.git(&["commit", "-qm", recorded]).ok();
        stage.andon(&["check", "HEAD~1..HEAD"]).exits(alone);
        verdict(now);
        let said = stage.andon(&["check", "--test", "HEAD~1..HEAD"]).exits(with_run);
        said.says(if with_run == 0 { "warning[failing-tests]" } else { "error[failing-tests]" });
    }
}
