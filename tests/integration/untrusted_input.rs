//! Untrusted input, end to end: names, reports, output, revisions and what hooks are given.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;

use crate::support::andon_path;
use crate::support::ground::{Ground, HUNG, fault, run, sweep};

/// Everything that a terminal, a shell or a Markdown viewer obeys.
const NASTY: &str = "\u{1b}]0;owned\u{7} \u{1b}[2J `id` $(touch pwned) <script>alert(1)</script> [x](javascript:1) ![](http://e/) ../../etc \u{202e}gnp ; rm -rf / | x";

#[test]
fn names_of_others_reach_people_only_escaped() {
    let ground = Ground::new();
    let stage = &ground.stage;
    stage.git(&["config", "user.name", "\u{1b}[31mEve `id`"]).ok();
    for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
        stage.unset(name);
    }
    stage.git(&["switch", "-qc", "x;$(touch${IFS}pwned)`id`<script>"]).ok();
    stage.set("ANDON_NODE", &NASTY.replace('\n', " "));
    stage.set("ANDON_SESSION", NASTY);
    stage.write("tests.txt", format!("not ok 1 - {NASTY}\n"));
    for text in ["4\n", "5\n", "6\n"] {
        stage.write(&format!("{}.txt", "\u{1b}]0;p\u{7}`$(touch pwned)` <b>"), text);
        stage.write("code.txt", text);
        stage.git(&["add", "."]).ok();
        stage.andon(&["test"]);
        let out = stage.git(&["commit", "-qm", &format!("{NASTY} {text}")]).ok();
        assert_eq!(fault(&out), None, "{out}");
    }
    let page = stage.read(".andon/CHECKPOINT.md");
    assert!(!page.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{page:?}");
    let bare: String = page.lines().filter(|line| !line.starts_with("    ")).map(outside_of_code).collect();
    let bare: String =
        bare.replace("\\\\", "").split('\\').map(|part| part.get(1..).unwrap_or_default()).collect();
    for raw in ["<script>", "](javascript:", "![]("] {
        assert!(!bare.contains(raw), "{raw} in\n{page}");
    }
    let mut wrong = Vec::new();
    // The output of the tests themselves goes through as it is.
    for (command, out) in sweep(stage, stage.dir(), |args| args != ["test"]) {
        wrong.extend(fault(&out).map(|fault| format!("{command} {fault}: {out}")));
        if command.contains("json") {
            for line in out.stdout.lines().filter(|_| !command.contains("check")) {
                assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{command}: {line}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!stage.exists("pwned") && !stage.root().join("pwned").exists());
}

#[test]
fn broken_test_reports_are_bounded_and_never_green() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let config = "[test]\ncommand = \"sh make.sh\"\nreports = [\"out/*.xml\"]\n";
    stage.write("andon.toml", config);
    stage.write(".gitignore", "out/\n");
    fs::create_dir(stage.path("out")).unwrap();
    let nested = format!(
        "{}<testcase name=\"a\"/>{}",
        "<testsuite name=\"s\">".repeat(20_000),
        "</testsuite>".repeat(20_000)
    );
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">".to_owned()
        + &(b'b'..=b'j')
            .map(|c| {
                let (c, before) = (char::from(c), char::from(c - 1));
                format!("<!ENTITY {c} \"{}\">", format!("&{before};").repeat(10))
            })
            .collect::<String>()
        + "]><testsuite><testcase name=\"&j;\"/></testsuite>";
    let reports: &[(&str, Vec<u8>)] = &[
        ("truncated", b"<testsuite><testcase name=\"a\"/><testcase".to_vec()),
        ("bomb", bomb.into_bytes()),
        ("nested", nested.into_bytes()),
        ("binary", b"<\xff\xfe\0>".to_vec()),
        ("no xml", b"hello".to_vec()),
        ("huge", [b"<testsuite>".to_vec(), vec![b' '; 4 << 20], b"</testsuite>".to_vec()].concat()),
        ("empty", Vec::new()),
    ];
    for (name, bytes) in reports {
        fs::write(stage.root().join("given.xml"), bytes).unwrap();
        stage.write(
            "make.sh",
            format!("rm -f out/*; cat ../given.xml > out/{}.xml\n", name.replace(' ', "-")),
        );
        let out = run(stage, stage.dir(), &["test"], None).ok();
        assert!(
            *name == "bomb" || out.stderr.contains(".xml") || out.stderr.contains("not one test"),
            "{name}: {out}"
        );
        let last = stage.read(".git/andon/journal.jsonl").lines().last().unwrap().to_owned();
        assert!(last.len() < 10_000, "{name}: {last}");
        // An entity that is not expanded is a strange name for a test, and no more.
        assert!(*name == "bomb" || !last.contains("\"status\":\"passed\""), "{name}: {last}");
    }
    // A report of an earlier run says nothing about this one.
    fs::write(stage.path("out/old.xml"), "<testsuite><testcase name=\"a\"/></testsuite>").unwrap();
    stage.write("make.sh", "true\n");
    assert_snapshot!(run(stage, stage.dir(), &["test"], None).brief(), @"
    exit 0, stderr: warning: out/empty.xml was not written by this run: not read
    warning: out/old.xml was not written by this run: not read
    warning: test.reports is set, and this run wrote no such report
    warning[test-run]: not one test ran; the run proves nothing
    ");
}

#[test]
fn endless_test_output_goes_through_and_stays_out_of_what_is_kept() {
    let ground = Ground::new();
    let stage = &ground.stage;
    for (name, script) in [
        ("one line", "head -c 20971520 /dev/zero | tr '\\0' x; echo; echo 1..1; echo 'ok 1 - a'"),
        ("no newline", "echo 1..1; echo 'ok 1 - a'; head -c 20971520 /dev/zero | tr '\\0' x"),
        ("zeros", "head -c 1000000 /dev/zero; printf '\\n1..1\\nok 1 - a\\n'"),
        ("stderr", "head -c 20971520 /dev/zero >&2; echo 1..1; echo 'ok 1 - a'"),
    ] {
        stage.write("check.sh", format!("{script}\n"));
        let shell = format!("timeout 60 '{}' test > ../out 2> ../err", andon_path().display());
        let out = stage.run_in(stage.dir(), "sh", &["-c", &shell], None);
        assert_eq!(out.code, 0, "{name}: {out}");
        let last = stage.read(".git/andon/journal.jsonl").lines().last().unwrap().to_owned();
        assert!(last.contains("\"status\":\"passed\"") && last.len() < 10_000, "{name}: {last}");
    }
    // A plan of a billion tests, and a test name of a megabyte.
    stage.write(
        "check.sh",
        "echo 1..1000000000; printf 'not ok 1 - '; head -c 1000000 /dev/zero | tr '\\0' y; echo\n",
    );
    run(stage, stage.dir(), &["status"], None).ok();
    stage.run_in(
        stage.dir(),
        "sh",
        &["-c", &format!("'{}' test >/dev/null 2>&1", andon_path().display())],
        None,
    );
    run(stage, stage.dir(), &["complete"], None).exits(1);
    run(stage, stage.dir(), &["hook", "pre-commit"], None);
}

/// Revisions that mean nothing, or would mean something to another program.
const REVISIONS: &[&str] = &[
    "--upload-pack=touch pwned",
    "-x",
    "@{-99}",
    "..",
    "...",
    "",
    " ",
    "HEAD..",
    "..nope",
    "^",
    "^HEAD",
    "HEAD^{",
    "HEAD~99999999999999999999",
    ":/",
    ":/(((",
    "HEAD:andon.toml",
    "HEAD^{tree}",
    "refs/heads/../../etc/passwd",
    "\u{1b}]0;x\u{7}",
    "a\nb",
    "$(touch pwned)",
    "0000000000000000000000000000000000000000",
    "@{1 year ago}",
    "HEAD@{9999}",
    "main@{upstream}",
    "nope...nope",
    "HEAD....HEAD",
];

#[test]
fn meaningless_revisions_are_refused_by_name() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let long = "x".repeat(10_240);
    let fine = ["..", "...", "HEAD..", "@{1 year ago}", ":/", "HEAD....HEAD", " "];
    for revision in REVISIONS.iter().copied().chain([long.as_str()]) {
        for command in ["show", "log", "replay", "check"] {
            let out = run(stage, stage.dir(), &[command, "--", revision], None);
            assert!(out.code == 2 || fine.contains(&revision), "{command} {revision:?}: {out}");
            assert!(out.stderr.len() < 2_000, "{command}: {out}");
            run(stage, stage.dir(), &[command, revision], None);
        }
    }
    run(stage, stage.dir(), &["check", "--from-ref", "-x", "--to-ref", "HEAD"], None).exits(2);
    // A variable of the CI that was not set must not judge nothing and pass.
    for args in [
        &["check", "--from-ref", "", "--to-ref", ""][..],
        &["check", "--from-ref", "", "--to-ref", "HEAD"],
        &["check", ".."],
        &["check", "..HEAD"],
    ] {
        run(stage, stage.dir(), args, None).exits(2).says("has no base");
    }
    run(stage, stage.dir(), &["log", "-n", "99999999999999999999999"], None).exits(2);
    run(stage, stage.dir(), &["log", "-n", "18446744073709551615"], None).ok();
    run(stage, stage.dir(), &["\u{1b}]0;owned\u{7}"], None).exits(2);
    run(stage, stage.dir(), &["hook", "\u{1b}]0;owned\u{7}"], None).exits(2);
    assert!(!stage.exists("pwned"));
    let mut command = stage.command(stage.dir(), andon_path());
    let output = command.args(["show".as_ref(), std::ffi::OsStr::from_bytes(b"\xff\xfe")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn garbage_given_to_hooks_is_counted_and_skipped() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let head = stage.head();
    let zero = "0".repeat(40);
    let nowhere = "1".repeat(40);
    let inputs: Vec<(&str, Vec<u8>)> = vec![
        ("garbage", b"\xff\xfe\0\x1b]0;x\x07\nx\n".to_vec()),
        ("huge line", vec![b'x'; 8 << 20]),
        ("many lines", b"x\n".repeat(200_000)),
        ("half", head.as_bytes()[..20].to_vec()),
        (
            "missing objects",
            format!("{nowhere} {nowhere}\nrefs/heads/x {nowhere} refs/heads/x {zero}\n").into_bytes(),
        ),
        ("swapped", format!("{head} {nowhere}\n").into_bytes()),
    ];
    for (name, input) in &inputs {
        for hook in [
            &["hook", "post-rewrite", "amend"][..],
            &["hook", "post-rewrite", "x"],
            &["hook", "pre-push", "o", "u"],
        ] {
            let out = run(stage, stage.dir(), hook, Some(input));
            assert!(!out.stderr.is_empty(), "{name}, {hook:?}: nothing was said");
            assert!(out.code == 0 || hook[1] == "pre-push", "{name}, {hook:?}: {out}");
        }
    }
    // The good lines among the bad ones are not lost.
    stage.git(&["commit", "-q", "--amend", "-m", "Amended"]).ok();
    let (old, new) = (head, stage.head());
    stage.git(&["notes", "--ref=andon", "remove", &new]).ok();
    let lines = format!("\n{nowhere} {nowhere}\nnonsense\n{old} {new}\n");
    run(stage, stage.dir(), &["hook", "post-rewrite", "amend"], Some(lines.as_bytes())).ok();
    assert_eq!(stage.record(&new)["kind"], "amend");
}

/// The bound is `MAX_STDIN` of src/verbs/hook/mod.rs. What comes after it may be a ref that must not be pushed.
#[test]
fn hooks_say_when_standard_input_has_more_than_they_read() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let mut input = b"x x ".to_vec();
    input.resize(64 << 20, b'x');
    let more = "standard input has more than the 67108864 bytes that are read";
    run(stage, stage.dir(), &["hook", "post-rewrite", "amend"], Some(&input)).ok().lacks(more);
    input.extend(b"\nx\n");
    run(stage, stage.dir(), &["hook", "post-rewrite", "amend"], Some(&input)).ok().says(more);
    assert_snapshot!(run(stage, stage.dir(), &["hook", "pre-push", "o", "u"], Some(&input)).shown(), @"
    exit 1
    --- stderr
    error: push refused: standard input has more than the 67108864 bytes that are read
      help: push fewer refs at a time: git push REMOTE REF...
    ");
}

#[test]
fn closed_streams_and_missing_surroundings_change_no_verdict() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    let andon = format!("'{}'", andon_path().display());
    for (line, code) in [
        ("ANDON hook pre-commit >&- 2>&-", 1),
        ("ANDON hook pre-commit <&-", 1),
        ("ANDON hook pre-commit > /dev/full 2> /dev/full", 1),
        ("ANDON hook pre-push a b <&-", 0),
        ("ANDON status >&-", 0),
        ("ANDON status > /dev/full", 0),
        ("ANDON complete >&- 2>&-", 1),
        ("ANDON test >&- 2>&-", 0),
        ("ANDON log --format json | head -1 > /dev/null", 0),
        ("ANDON replay | true", 0),
        ("unset HOME; ANDON status", 0),
        ("HOME= XDG_CONFIG_HOME= ANDON status", 0),
        ("HOME=/dev/null ANDON status", 0),
        ("HOME=relative XDG_CONFIG_HOME=relative ANDON hook pre-commit", 1),
        ("env -i ANDON hook pre-commit", 1),
        ("GIT_DIR=$PWD/nowhere ANDON status", 2),
        ("GIT_DIR= ANDON status", 0),
        ("GIT_DIR=andon.toml ANDON status", 2),
        ("GIT_INDEX_FILE=$PWD/nowhere/index ANDON complete", 1),
        ("GIT_WORK_TREE=$PWD/nowhere ANDON status", 70),
        ("mkdir -p gone && cd gone && rmdir ../gone && ANDON status", 2),
        ("cd .git && ANDON status", 0),
        ("cd / && ANDON status", 2),
        ("PATH= ANDON hook pre-commit", 1),
        ("ANDON=00 ANDON hook pre-commit", 1),
        ("TERM='\u{1b}[31m' LC_ALL='\u{1b}' ANDON status", 0),
        ("ANDON_SESSION=\"$(head -c 100000 /dev/zero | tr '\\0' s)\" ANDON hook pre-commit", 1),
        ("ANDON_HOOK=/dev/null/pre-commit ANDON hook pre-commit", 1),
    ] {
        let line = line
            .replace("ANDON=00 ", "\u{0}")
            .replace("ANDON ", &format!("{andon} "))
            .replace('\u{0}', "ANDON=00 ");
        let out = stage.run_in(stage.dir(), "timeout", &["-k", "1", HUNG, "sh", "-c", &line], None);
        if std::env::var_os("ANDON_TEST_SHOW").is_some() {
            println!("$ {line}\n{out}");
        }
        assert_eq!(fault(&out), None, "{line}: {out}");
        assert_eq!(out.code, code, "{line}: {out}");
    }
}

/// A line of Markdown without its code spans.
fn outside_of_code(line: &str) -> String {
    let (mut left, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`').filter(|at| !rest[..*at].ends_with('\\')) {
        left.push_str(&rest[..at]);
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let inside = &rest[at + ticks..];
        let end = inside
            .match_indices(&"`".repeat(ticks))
            .map(|(end, _)| end)
            .find(|end| !inside[..*end].ends_with('`') && !inside[*end + ticks..].starts_with('`'));
        rest = end.map_or("", |end| &inside[end + ticks..]);
    }
    left + rest
}
