use proptest::prelude::*;

use super::*;
use andon_core::shell_reading::MAX_SCRIPT;

fn tests(commands: &[(&str, &str)]) -> Vec<Tests> {
    let one = |(name, command): &(&str, &str)| Tests {
        name: (!name.is_empty()).then(|| (*name).to_owned()),
        command: (*command).to_owned(),
    };
    commands.iter().map(one).collect()
}

fn place(cwd: &str) -> TestPlace<'_> {
    TestPlace { cwd: Path::new(cwd), top: Path::new("/r") }
}

fn turned(command: &str, script: &str) -> Option<String> {
    as_andon_test(script, &tests(&[("", command)]), place("/r"), "andon")
}

#[test]
fn the_configured_command_becomes_andon_test() {
    for (script, expected) in [
        ("pytest -q", "andon test"),
        ("  pytest   -q  ", "  andon test  "),
        ("pytest '-q'", "andon test"),
        ("py\"test\" \\-q", "andon test"),
        ("cd /r && pytest -q", "cd /r && andon test"),
        ("cd ./a/.. ; pytest -q", "cd ./a/.. ; andon test"),
        ("cd a && cd .. && pytest -q", "cd a && cd .. && andon test"),
        ("echo 1 > x; pytest -q; git commit -qam y", "echo 1 > x; andon test; git commit -qam y"),
        (
            "pytest -q && git commit -m \"$(cat <<'E'\npytest -q\nE\n)\"",
            "andon test && git commit -m \"$(cat <<'E'\npytest -q\nE\n)\"",
        ),
        ("pytest -q || true", "andon test || true"),
        ("make\npytest -q\nmake", "make\nandon test\nmake"),
        ("make &&\n pytest -q", "make &&\n andon test"),
        ("time pytest -q", "time andon test"),
        ("time -p CI=1 pytest -q", "time -p CI=1 andon test"),
        ("CI=1 X='a b' pytest -q", "CI=1 X='a b' andon test"),
        ("pytest -q > out.txt 2>&1", "andon test > out.txt 2>&1"),
        ("pytest -q &> out.txt", "andon test &> out.txt"),
        ("pytest -q # all of them", "andon test # all of them"),
        ("pytest -q -k 'a b' tests/*.py", "andon test -- pytest -q -k 'a b' tests/*.py"),
        ("CI=1 pytest -q $ARGS && x", "CI=1 andon test -- pytest -q $ARGS && x"),
        ("pytest -q; pytest -q", "andon test; andon test"),
        ("pytest -q | tail", "andon test | tail"),
        ("pytest -q 2>&1 | tail -5", "andon test 2>&1 | tail -5"),
        ("cd /r && pytest -q |& tee x", "cd /r && andon test |& tee x"),
        ("env A=b pytest -q", "env A=b andon test"),
        ("timeout -k 5 60 env A=b pytest -q | tail", "timeout -k 5 60 env A=b andon test | tail"),
        ("time uv run pytest -q", "time uv run andon test"),
        (".venv/bin/pytest -q", "andon test"),
        ("A=1 ./venv/bin/pytest -q", "A=1 andon test"),
    ] {
        assert_eq!(turned("pytest -q", script).as_deref(), Some(expected), "{script:?}");
    }
}

#[test]
fn anything_else_stays() {
    for script in [
        "",
        "pytest",
        "pytest -qq",
        "pytest --quiet",
        "./pytest -q",
        "echo pytest -q",
        "'pytest -q'",
        "cd sub && pytest -q",
        "cd $DIR && pytest -q",
        "cd - && pytest -q",
        "cd && pytest -q",
        "cd /r || pytest -q; pytest -q",
        "yes | pytest -q",
        "/usr/bin/pytest -q",
        "uv run",
        "timeout 60",
        "pytest -q &",
        "(pytest -q)",
        "( cd /r; pytest -q )",
        "echo $(pytest -q)",
        "echo `pytest -q`",
        "echo \"$(pytest -q)\"",
        "cat <<E\npytest -q\nE",
        "for i in 1 2; do pytest -q; done",
        "while pytest -q; do :; done",
        "if pytest -q; then x; fi",
        "! pytest -q",
        "{ pytest -q; }",
        "f() { pytest -q; }",
        "pytest > x -q",
        "bash -c 'pytest -q'",
        "sudo pytest -q",
        "eval pytest -q",
        "pytest -q 'unclosed",
        "pytest -q <<< x",
        "pytest -q $(x)",
        "# pytest -q",
    ] {
        assert_eq!(turned("pytest -q", script), None, "{script:?}");
    }
    let outside = as_andon_test("pytest -q", &tests(&[("", "pytest -q")]), place("/r/sub"), "andon");
    assert_eq!(outside, None);
    assert_eq!(turned("pytest -q", &format!("pytest -q {}", "x ".repeat(MAX_SCRIPT))), None);
}

#[test]
fn commands_of_any_kind_are_found() {
    for (command, script, expected) in [
        ("sh tests.sh", "sh tests.sh", Some("andon test")),
        ("pytest -k 'a b'", "pytest -k \"a b\"", Some("andon test")),
        ("CI=1 pytest", "CI=1 pytest", Some("andon test")),
        ("CI=1 pytest", "X=2 CI=1 pytest", Some("X=2 andon test")),
        ("CI=1 pytest", "CI=1 pytest -x", None),
        ("CI=1 pytest", "pytest", None),
        ("pytest $ARGS", "pytest $ARGS", Some("andon test")),
        ("pytest $ARGS", "pytest '$ARGS'", None),
        ("ruff check && pytest", "ruff check && pytest", Some("andon test")),
        ("ruff check && pytest", "x; ruff check   &&\npytest && y", Some("x; andon test && y")),
        ("ruff check && pytest", "ruff check && pytest -x", None),
        ("ruff check && pytest", "x || ruff check && pytest", None),
        ("ruff check && pytest", "ruff check", None),
        ("ruff; pytest", "ruff; pytest", None),
        ("pytest | tee x", "pytest | tee x", None),
        ("pytest > x", "pytest > x", None),
        ("pytest > x", "pytest", None),
    ] {
        assert_eq!(turned(command, script).as_deref(), expected, "{command:?} {script:?}");
    }
    let scopes = tests(&[("", "npm test"), ("core", "npm test -w core"), ("cli", "npm test -w cli")]);
    for (script, expected) in [
        ("npm test", "andon test"),
        ("npm test -w core && npm test -w cli", "andon test core && andon test cli"),
        ("npm test -w core -- -t x", "andon test -- npm test -w core -- -t x"),
    ] {
        assert_eq!(as_andon_test(script, &scopes, place("/r"), "andon").as_deref(), Some(expected));
    }
}

#[test]
fn a_line_that_only_tests_is_judged_by_its_end() {
    let all = tests(&[("", "pytest -q")]);
    for (script, decides) in [
        ("pytest -q", true),
        ("cd /r && CI=1 pytest -q 2>&1", true),
        ("pytest -q -k x", false),
        ("make && pytest -q", false),
        ("pytest -q && git commit", false),
        ("pytest -q; true", false),
        ("pytest -q | tail", false),
        ("pytest -q; pytest -q", false),
    ] {
        assert_eq!(decided_by(script, &all, place("/r")).is_some(), decides, "{script:?}");
    }
}

#[test]
fn plain_words_are_known_without_a_shell() {
    for (command, expected) in [
        ("pytest -q 'a b'", Some(vec!["pytest", "-q", "a b"])),
        ("pytest $X", None),
        ("a && b", None),
        ("CI=1 a", None),
        ("if a", None),
        ("", None),
    ] {
        let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
        assert_eq!(plain_words(command), expected, "{command:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(script in "[ a-ctés'\"$()`\\\\;|&<>#\n=0-9-]{0,60}") {
        let _ = turned("t", &script);
        let _ = turned(&script, &script);
        let _ = plain_words(&script);
    }
}
