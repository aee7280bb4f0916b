use super::*;
use crate::{ExitKind, ParsedRun, Root, RunReader, Stream, TestStatus};

const ENDED: Ending = Ending { code: Some(1), tests: Tests::None };

fn found(text: &str, length: Length) -> Option<String> {
    reason(&text.lines(), length, ENDED)
}

fn run(stdout: &str, stderr: &str, code: i32) -> ParsedRun {
    let mut reader = RunReader::new(Root::new("/w"));
    reader.push(Stream::Stdout, stdout.as_bytes());
    reader.push(Stream::Stderr, stderr.as_bytes());
    reader.finish(ExitKind::Code(code))
}

#[test]
fn tools_say_that_there_is_nothing_to_run() {
    let table = [
        "make: *** No rule to make target 'test'.  Stop.",
        "make[1]: *** No rule to make target `check'.  Stop.",
        "make: *** No targets specified and no makefile found.  Stop.",
        "npm ERR! Missing script: \"test\"",
        "npm error Missing script: \"test\"",
        "error Command \"test\" not found.",
        "Usage Error: Couldn't find a script named \"test\".",
        " ERR_PNPM_NO_SCRIPT  Missing script: test",
        "None of the selected packages has a \"test\" script",
        "error: Script not found \"test\"",
        "error: no such command: `nextest`",
        "error: Justfile does not contain recipe `test`",
        "task: Task \"test\" does not exist",
        "Don't know how to build task 'test' (See the list of available tasks with `rake --tasks`)",
        "Task 'tset' not found in root project 'demo'.",
        "[ERROR] Unknown lifecycle phase \"tset\". You must specify a valid lifecycle phase",
        "ERROR: unknown environment 'py39'",
        "nox > Error while collecting sessions.\nnox > Sessions not found: tests",
        "Command not found: pytest",
        "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)",
        "[PdmUsageError]: Command 'pytest' is not found in your PATH.",
        "Error: the command pytest could not be found within PATH or Pipfile's [scripts].",
        "** (Mix) The task \"tset\" could not be found",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ];
    for text in table {
        assert!(found(text, Length::Long).is_some(), "{text}");
    }
}

#[test]
fn shells_are_believed_where_they_say_nothing_else() {
    let table = [
        "sh: 1: pytest: not found",
        "/bin/sh: 1: pytest: not found",
        "bash: line 1: pytest: command not found",
        "zsh:1: command not found: pytest",
        "env: 'pytest': No such file or directory",
        "sh: 1: ./t.sh: Permission denied",
        "/usr/bin/python3: No module named pytest",
        "'pytest' is not recognized as an internal or external command,",
        "no such service: web",
    ];
    for text in table {
        assert_eq!(found(text, Length::Short).as_deref(), Some(text));
        let among = format!("{text}\nadds: 3 is not 4\nand so on");
        assert_eq!(found(&among, Length::Long), None, "{text}");
    }
    let under_make = "sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127";
    assert_eq!(found(under_make, Length::Long).as_deref(), Some("sh: 1: pytest: not found"));
}

#[test]
fn what_code_does_wrong_is_no_such_word() {
    let table = [
        "make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.",
        "make: *** [Makefile:2: test] Error 1",
        "ModuleNotFoundError: No module named 'app'",
        "E   ModuleNotFoundError: No module named 'app'",
        "Error: Cannot find module './a'",
        "error[E0432]: unresolved import `a`",
        "404 page not found",
        "error: user not found",
        "key not found: a",
        "FileNotFoundError: [Errno 2] No such file or directory: 'a'",
    ];
    for text in table {
        assert_eq!(found(text, Length::Short), None, "{text}");
    }
}

/// Node's words on the module that it was to run, or on one that a file asks for.
fn node(module: &str, stack: &str) -> String {
    format!(
        "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '{module}'\n\
         {}    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n    \
         at Module._load (node:internal/modules/cjs/loader:1038:27)\n    \
         at node:internal/main/run_main_module:28:49 {{\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [{stack}]\n}}\n\n\
         Node.js v20.20.2\n",
        if stack.is_empty() { String::new() } else { format!("Require stack:\n- {stack}\n") },
    )
}

/// Commands that cannot begin: output, exit code, and a part of the line that says what is not there.
const LAST_WORDS: &[(&str, i32, &str)] = &[
    ("sh: 0: cannot open missing.sh: No such file", 2, "missing.sh"),
    ("sh: 0: cannot open missing.sh", 2, "missing.sh"),
    ("sh: can't open 'x.sh': No such file or directory", 2, "x.sh"),
    ("zsh: can't open input file: x.sh", 127, "x.sh"),
    ("sh: 1: .: cannot open venv/bin/activate: No such file", 2, "venv/bin/activate"),
    ("run.sh: 3: .: cannot open venv/bin/activate: No such file", 2, "venv/bin/activate"),
    ("bash: line 1: venv/bin/activate: No such file or directory", 1, "venv/bin/activate"),
    ("sh: .: line 0: can't open 'venv/bin/activate': No such file or directory", 2, "venv/bin/activate"),
    ("sh: line 1: .: venv/bin/activate: file not found", 1, "venv/bin/activate"),
    ("zsh:.:1: no such file or directory: venv/bin/activate", 127, "venv/bin/activate"),
    ("sh: 1: cd: can't cd to nosub", 2, "nosub"),
    ("sh: cd: line 0: can't cd to nosub: No such file or directory", 2, "nosub"),
    ("bash: line 1: cd: nosub: No such file or directory", 1, "nosub"),
    ("zsh:cd:1: no such file or directory: nosub", 1, "nosub"),
    ("/bin/sh: 1: cd: can't cd to nosub\nmake: *** [Makefile:2: test] Error 2", 2, "nosub"),
    ("Could not find '/w/missing.js'", 1, "missing.js"),
    ("Can't open perl script \"x.pl\": No such file or directory", 2, "x.pl"),
    ("git: 'nosuch' is not a git command. See 'git --help'.", 1, "nosuch"),
    ("git: 'tset' is not a git command. See 'git --help'.\n\nThe most similar command is\n\ttest", 1, "tset"),
    ("docker: 'compose' is not a docker command.\nSee 'docker --help'", 1, "compose"),
    ("docker: unknown command: docker compose\n\nRun 'docker --help' for more information", 1, "compose"),
    ("unknown shorthand flag: 'f' in -f\nSee 'docker --help'.", 125, "-f"),
    ("docker: Error response from daemon: No such image: t.\nSee 'docker run --help'.", 125, "No such image"),
    (
        "/usr/bin/python3: can't open file '/w/missing.py': [Errno 2] No such file or directory",
        2,
        "missing.py",
    ),
    ("/usr/bin/python3: can't find '__main__' module in '/w/adir'", 1, "adir"),
    (
        "/usr/bin/python3: Error while finding module specification for 'a.b' (ModuleNotFoundError: No module named 'a')",
        1,
        "a.b",
    ),
    (
        "Traceback (most recent call last):\n  File \"<frozen runpy>\", line 198, in _run_module_as_main\nImportError: Start directory is not importable: 'nosuch'",
        1,
        "nosuch",
    ),
    ("no tests ran in 0.00s\nERROR: file or directory not found: nosuch", 4, "nosuch"),
    (
        "==== test session starts ====\ncollected 0 items\n\n==== no tests ran in 0.00s ====\nERROR: file or directory not found: nosuch\n",
        4,
        "nosuch",
    ),
    (
        "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --nosuch\n  inifile: None\n  rootdir: /w\n",
        4,
        "--nosuch",
    ),
    ("ruby: No such file or directory -- x.rb (LoadError)", 1, "x.rb"),
    ("Could not open input file: x.php", 1, "x.php"),
    ("lua5.3: cannot open x.lua: No such file or directory", 1, "x.lua"),
    ("Error: Unable to access jarfile x.jar", 1, "x.jar"),
    ("Error: Could not find or load main class X\nCaused by: java.lang.ClassNotFoundException: X", 1, "X"),
    ("error: Module not found \"x.ts\"", 1, "x.ts"),
    (
        "bun test v1.4.5\nThe following filters did not match any test files:\n nosuch\n2 files were searched [12.00ms]",
        1,
        "did not match",
    ),
    ("\u{1b}[0m\u{1b}[1m\u{1b}[31merror\u{1b}[0m: Module not found \"file:///w/x.ts\".\n", 1, "x.ts"),
    (
        "error: Import 'file:///w/nosuch.ts' failed, not found.\n\nStack backtrace:\n   0: <unknown>\n",
        1,
        "nosuch.ts",
    ),
    ("\n  ✘ Couldn’t find any files to test\n", 1, "any files"),
    ("Error: No test files found: \"nosuch.js\"", 1, "nosuch.js"),
    (
        "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\nPattern: nosuch - 0 matches",
        1,
        "No tests found",
    ),
    (
        "npm error could not determine executable to run\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log",
        1,
        "executable",
    ),
    ("npm error npx canceled due to missing packages and no YES option: [\"x@1.0.0\"]", 1, "canceled"),
    (
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/x\nnpm error 404\nnpm error 404  Note that you can also install from a",
        1,
        "404 Not Found",
    ),
    (
        "npm error code ENOENT\nnpm error syscall open\nnpm error path /w/nodir/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/w/nodir/package.json'\nnpm error enoent This is related to npm not being able to find a file.\n",
        254,
        "nodir/package.json",
    ),
    ("error: manifest path `nodir/Cargo.toml` does not exist", 101, "nodir/Cargo.toml"),
    ("error: no test target named `x` in default-run packages", 101, "`x`"),
    ("make: *** nodir: No such file or directory.  Stop.", 2, "nodir"),
    (
        "./noexec.sh\nmake: ./noexec.sh: Permission denied\nmake: *** [Makefile:2: test] Error 127",
        2,
        "make: ./noexec.sh",
    ),
    (
        "yarn run v1.22.22\n$ echo \"Error: no test specified\" && exit 1\nError: no test specified\nerror Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/",
        1,
        "no test specified",
    ),
    (
        "time: cannot run nosuch: No such file or directory\nCommand exited with non-zero status 127\n0.00user 0.00system 0:00.00elapsed 54%CPU (0avgtext+0avgdata 1172maxresident)k\n0inputs+0outputs (0major+35minor)pagefaults 0swaps",
        127,
        "cannot run nosuch",
    ),
    (
        "bash: line 1: nosuch: command not found\n\nreal\t0m0.001s\nuser\t0m0.001s\nsys\t0m0.000s",
        127,
        "nosuch",
    ),
    (
        "some shell: nosuch cannot be found\n0.00user 0.00system 0:00.00elapsed 54%CPU (0avgtext+0avgdata 1172maxresident)k\n0inputs+0outputs (0major+35minor)pagefaults 0swaps",
        127,
        "nosuch",
    ),
];

/// The same, and what is too long for the table.
fn last_words_of_commands() -> Vec<(String, i32, &'static str)> {
    let npm = "\n> np@1.0.0 test\n> ";
    let built = "compiling\n".repeat(40);
    let mut all: Vec<(String, i32, &str)> =
        LAST_WORDS.iter().map(|(text, code, said)| ((*text).to_owned(), *code, *said)).collect();
    all.extend([
        (node("/w/missing.js", ""), 1, "missing.js"),
        (node("./setup", " 'internal/preload' "), 1, "setup"),
        (format!("{npm}node missing.js\n\n{}", node("/w/missing.js", "")), 1, "missing.js"),
        (format!("{}make: *** [Makefile:2: test] Error 1\n", node("/w/missing.js", "")), 2, "missing.js"),
        (
            format!("{npm}echo \"Error: no test specified\" && exit 1\n\nError: no test specified\n"),
            1,
            "no test",
        ),
        (format!("{npm}sh missing.sh\n\nsh: 0: cannot open missing.sh: No such file\n"), 2, "missing.sh"),
        (format!("{built}sh: 0: cannot open missing.sh: No such file\n"), 2, "missing.sh"),
        (
            format!("{built}python3: can't open file '/w/x.py': [Errno 2] No such file or directory\n"),
            2,
            "x.py",
        ),
    ]);
    all
}

#[test]
fn a_command_that_cannot_begin_proves_nothing() {
    for (text, code, said) in last_words_of_commands() {
        let reason = run("", &text, code).not_started;
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(said)), "{reason:?} of {text}");
    }
}

#[test]
fn the_same_words_in_a_test_that_fails_are_a_failure() {
    for (text, code, _) in last_words_of_commands() {
        let sure = SURE.iter().any(|row| text.lines().any(|line| is_row(line, row)));
        if code >= 126 || sure {
            continue;
        }
        for verdict in
            ["FAIL: adds", "not ok 1 - adds", "2 failed, 3 passed", "✗ adds", "AssertionError: 1 != 2"]
        {
            assert_eq!(run("", &format!("{text}\n{verdict}\n"), code).not_started, None, "{text}");
            assert_eq!(run("", &format!("{verdict}\n{text}\n"), code).not_started, None, "{text}");
        }
        let tap = run("1..1\nnot ok 1 - adds\n", &text, code);
        assert_eq!((tap.status, tap.not_started), (TestStatus::Failed, None), "{text}");
        let passed = run("1..1\nok 1 - adds\n", &text, code);
        assert_eq!((passed.status, passed.not_started), (TestStatus::RunnerError, None), "{text}");
        let long = format!("{text}\n{}", "adds: 3 is not 4\n".repeat(20));
        assert_eq!(run("", &long, code).not_started, None, "{text}");
    }
}

#[test]
fn other_exit_codes_and_other_modules_are_failures() {
    let table = [
        ("sh: 0: cannot open missing.sh".to_owned(), 1),
        ("sh: 0: cannot open missing.sh\nadds: wrong\nmake: *** [Makefile:2: test] Error 1".to_owned(), 2),
        ("Can't open perl script \"x.pl\": No such file or directory".to_owned(), 1),
        ("Error: no test specified\nadds: wrong".to_owned(), 1),
        ("ERROR: file or directory not found: nosuch".to_owned(), 1),
        (node("./a", " '/w/test.js' "), 1),
        ("error: Module not found \"file:///w/a.ts\".\n    at file:///w/test.ts:1:8".to_owned(), 1),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/w/a.mjs' imported from /w/test.mjs\n    at x (y:1:1)".to_owned(), 1),
    ];
    for (text, code) in table {
        assert_eq!(run("", &text, code).not_started, None, "{text}");
    }
}

#[test]
fn words_of_the_tables_are_of_some_use() {
    for row in LAST.iter().chain(TRACED.iter().filter_map(|row| row.split('\t').next())) {
        let codes = row.split(' ').nth(1).unwrap();
        assert!(codes.split(',').all(|code| code.parse::<i32>().is_ok()), "{row}");
    }
    for row in SURE.iter().chain(ALONE.iter()) {
        assert!(row.split_once(' ').is_some_and(|(_, phrase)| !phrase.trim().is_empty()), "{row}");
    }
    assert!(PHRASES.lines().all(|line| line == line.trim()));
}
