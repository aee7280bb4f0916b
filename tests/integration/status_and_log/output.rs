//! The configuration, colour, and what must not reach a terminal.

use insta::assert_snapshot;

use super::json;
use crate::support::{Stage, andon_path};

#[test]
fn configuration_names_the_layer_of_every_value() {
    let stage = Stage::installed();
    stage.write(".config/andon/config.toml", "");
    let home = stage.root().canonicalize().unwrap().join(".config/andon");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), "[guard]\nsession_gap = \"2h\"\n").unwrap();
    let out = stage.andon(&["config", "show"]).ok();
    let line = |key: &str| out.stdout.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("test.command").ends_with("# repository, andon.toml:2"), "{out}");
    assert!(
        line("guard.session_gap").contains("2h") && line("guard.session_gap").contains("config.toml:2"),
        "{out}"
    );
    assert!(line("guard.ack").ends_with("# default"), "{out}");
    let values = json(stage.andon(&["config", "show", "--format", "json"]));
    assert!(values.to_string().contains("session_gap"), "{values}");
    assert_eq!(stage.andon(&["config", "check"]).ok().stdout, "the configuration is fine\n");
    let schema = json(stage.andon(&["config", "schema"]));
    assert!(schema["$schema"].is_string(), "{schema}");
    stage.write("andon.toml", "[rules]\nunchanged-dif = \"off\"\n[guard]\nack = \"always\"\n");
    assert_snapshot!(stage.andon(&["config", "check"]).shown(), @r#"
    exit 2
    --- stderr
    error[config]: unknown rule `unchanged-dif`
      --> andon.toml:2:1
         |
       2 | unchanged-dif = "off"
         | ^
      help: did you mean `unchanged-diff`?
    error[config]: `guard.ack` must be "delete" or "resume" or "signed", not "always"
      --> andon.toml:4:7
         |
       4 | ack = "always"
         |       ^
      help: write ack = "delete"
    "#);
    // What only looks back does not need it.
    stage.steps("andon log; andon show");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let stage = Stage::installed();
    let coloured = |stage: &Stage, args: &[&str]| stage.andon(args).ok().stdout.contains('\u{1b}');
    assert!(!coloured(&stage, &["status"]));
    assert!(coloured(&stage, &["status", "--color=always"]));
    assert!(coloured(&stage, &["--color", "always", "log"]));
    stage.set("CLICOLOR_FORCE", "1");
    assert!(coloured(&stage, &["status"]));
    assert!(!coloured(&stage, &["status", "--color=never"]));
    stage.set("NO_COLOR", "1");
    assert!(!coloured(&stage, &["status"]));
    assert!(coloured(&stage, &["status", "--color=always"]), "what was asked for wins");
    assert_snapshot!(stage.andon(&["status", "--color=purple"]).shown(), @"
    exit 2
    --- stderr
    error: invalid value 'purple' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.
    ");
}

#[test]
fn a_terminal_gets_colour_unless_told_otherwise() {
    let stage = Stage::installed();
    let command = format!("{} status", andon_path().display());
    let on_terminal = |stage: &Stage| {
        let dir = stage.dir().to_owned();
        stage.run_in(&dir, "script", &["-qec", &command, "/dev/null"], None)
    };
    let version = stage.run_in(stage.dir(), "sh", &["-c", "command -v script"], None);
    if version.code != 0 {
        return; // util-linux is not everywhere
    }
    stage.set("TERM", "xterm");
    assert!(on_terminal(&stage).ok().stdout.contains("\u{1b}["));
    for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        stage.set(name, value);
        assert!(!on_terminal(&stage).ok().stdout.contains('\u{1b}'), "{name}={value}");
        stage.unset(name);
    }
}

#[test]
fn hostile_subjects_and_test_names_stay_on_their_line() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.tests(&["ok a", "not ok evil \u{1b}[2Jname"]);
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", "evil \u{1b}]0;title\u{7} subject"]).ok();
    for args in [&["status"][..], &["log"], &["show"], &["replay"], &["check", "HEAD"]] {
        let out = stage.andon(args);
        assert!(!out.all().chars().any(|c| c.is_control() && c != '\n'), "{out}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let stage = Stage::installed();
    let command =
        format!("{} log | true; {} status | head -n 1", andon_path().display(), andon_path().display());
    stage.run_in(stage.dir(), "sh", &["-c", &command], None).ok().lacks("panicked").says("Loop 1/100");
}
