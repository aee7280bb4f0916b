//! `andon check --format`: every form of one result, in files and on the streams, and what the CI of a forge is given.

use insta::assert_snapshot;
use serde_json::Value;

use crate::check::{clean, halted};
use crate::support::{Out, Stage, image::built};

/// A range with an error, a warning that a person accounted for, and a subject that tries everything.
fn mixed() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("code.txt", "2\n");
        stage.set("ANDON_SKIP", "untested-edit");
        stage.set("ANDON_SKIP_REASON", "a hotfix");
        stage.git(&["commit", "-qam", "Fix at night"]).ok();
        stage.unset("ANDON_SKIP");
        stage.unset("ANDON_SKIP_REASON");
        stage.iterate("3\n", &["ok a", "ok b"], "::error::x ##[add-mask]y <b>&'\"]]> [z](u)").ok();
        stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
        stage
    })
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|err| panic!("{err}: {text}"))
}

#[test]
fn several_forms_at_once_and_the_text_beside_them() {
    let stage = mixed();
    let files =
        ["sarif=a.sarif", "junit=a.xml", "gitlab=a.json", "markdown=a.md", "github=a.txt", "json=b.json"];
    let mut args = vec!["check", "HEAD~2..HEAD"];
    args.extend(files.iter().flat_map(|file| ["--format", file]));
    let out = stage.andon(&args);
    assert_eq!(out.stdout, stage.andon(&["check", "HEAD~2..HEAD"]).exits(out.code).stdout);
    assert_eq!((out.code, out.stderr.as_str()), (3, ""));
    let sarif = json(&stage.read("a.sarif"));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let codes: Vec<_> = results.iter().map(|one| one["ruleId"].as_str().unwrap()).collect();
    let violations = json(&stage.read("b.json"));
    assert_eq!(violations["outcome"], "undecided");
    assert_eq!(json(&stage.read("a.json")).as_array().unwrap().len(), codes.len());
    assert_eq!(codes, ["missing-record", "skipped-rule"]);
    assert_eq!(results[1]["suppressions"][0]["status"], "accepted");
    let shown = |file| {
        let stdout = stage.read(file).replace("%0A", "%0A\n");
        Out { code: out.code, stdout, stderr: String::new() }.shown()
    };
    assert_snapshot!("check_junit", shown("a.xml"));
    assert_snapshot!("check_markdown", shown("a.md"));
    assert_snapshot!("check_github", shown("a.txt"));
}

#[test]
fn one_document_on_standard_output() {
    let stage = clean();
    let range = "HEAD~3..HEAD";
    assert_snapshot!(stage.andon(&["check", range, "--format", "markdown"]).shown(), @"
    exit 0
    --- stdout
    <!-- andon-check -->
    ## ✅ Andon: 3 commits checked

    3 commits in `HEAD~3..HEAD`, judged by `andon.toml` as of `HASH`. Tests at the tip: 2 passed.

    Reproduce with `andon check 'HEAD~3..HEAD'`
    ");
    assert_eq!(stage.andon(&["check", range, "--format", "github"]).ok().stdout, "");
    assert_eq!(stage.andon(&["check", range, "--format", "gitlab"]).ok().stdout, "[]\n");
    stage.andon(&["check", range, "--format", "text", "--format", "github"]).ok();
    let mixed = ["check", range, "--format", "json", "--format", "text"];
    assert_snapshot!(stage.andon(&mixed).shown(), @"
    exit 2
    --- stderr
    error: only one format can go to standard output
      help: give the others a file: --format sarif=andon.sarif
    ");
    assert_snapshot!(stage.andon(&["check", range, "--format", "xml"]).shown(), @"
    exit 2
    --- stderr
    error: invalid value 'xml' for '--format <FORMAT[=FILE]>': the formats are text, json, sarif, junit, github, gitlab, markdown

    For more information, try '--help'.
    ");
}

#[test]
fn a_report_that_cannot_be_written_changes_no_verdict() {
    let stage = clean();
    let out = stage.andon(&["check", "HEAD~3..HEAD", "--format", "sarif=nowhere/a.sarif"]);
    assert_eq!(out.stdout, "checked 3 commits in HEAD~3..HEAD: ok\n");
    out.ok().says("repo/nowhere/a.sarif: ").says("  help: make its directory first: mkdir -p ");
    stage.set("GITHUB_ACTIONS", "true");
    let summary = stage.path("nowhere/summary.md").display().to_string();
    stage.set("GITHUB_STEP_SUMMARY", &summary);
    stage.andon(&["check", "HEAD~3..HEAD"]).ok().says(&format!("warning: cannot write {summary}"));
}

#[test]
fn a_link_in_the_place_of_a_report_is_replaced_and_not_followed() {
    let stage = clean();
    let victim = stage.root().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    std::os::unix::fs::symlink(&victim, stage.path("a.sarif")).unwrap();
    stage.andon(&["check", "HEAD", "--format", "sarif=a.sarif"]).ok();
    assert_eq!(std::fs::read_to_string(victim).unwrap(), "untouched");
    assert_eq!(json(&stage.read("a.sarif"))["version"], "2.1.0");
    let out = stage.andon(&["check", "HEAD", "--format", "json=/dev/stderr"]).ok();
    assert_eq!(json(&out.stderr)["outcome"], "ok");
}

#[test]
fn github_actions_gets_annotations_and_a_summary_unasked() {
    let stage = mixed();
    stage.set("GITHUB_ACTIONS", "true");
    let summary = stage.root().join("summary.md");
    std::fs::write(&summary, "# Of another step\n").unwrap();
    stage.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let out = stage.andon(&["check", "HEAD~2..HEAD"]).exits(3);
    let commands: Vec<_> = out.stdout.lines().filter(|line| line.starts_with("::")).collect();
    assert!(
        matches!(commands[..], [first, second]
            if first.starts_with("::error title=missing-record::") && second.starts_with("::warning title=skipped-rule::")),
        "{out}"
    );
    // A subject gives no command, at the beginning of a line or within it.
    assert!(out.stdout.contains("## [add-mask]"), "{out}");
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(
        text.starts_with("# Of another step\n<!-- andon-check -->\n## ❓ Andon: cannot decide"),
        "{text}"
    );
    // A document on standard output stays whole: annotations go to the other stream.
    let out = stage.andon(&["check", "HEAD~2..HEAD", "--format", "json"]).exits(3);
    assert_eq!(json(&out.stdout)["outcome"], "undecided");
    assert!(out.stderr.starts_with("::error title=missing-record::"), "{out}");
}

#[test]
fn gitlab_gets_code_quality_and_junit_unasked() {
    let stage = halted();
    stage.set("GITLAB_CI", "true");
    let out = stage.andon(&["check", "HEAD~2..HEAD"]);
    let issues = json(&stage.read("andon-code-quality.json"));
    let cases = stage.read("andon-junit.xml");
    assert_eq!(out.code == 0, !cases.contains("<failure"), "{out}");
    assert!(cases.starts_with("<?xml"), "{cases}");
    assert!(issues.as_array().unwrap().iter().all(|one| one["location"]["path"] == "andon.toml"), "{issues}");
    std::fs::remove_file(stage.path("andon-junit.xml")).unwrap();
    stage.andon(&["check", "HEAD~2..HEAD", "--format", "junit=mine.xml"]);
    assert!(stage.exists("mine.xml") && !stage.exists("andon-junit.xml"));
}
