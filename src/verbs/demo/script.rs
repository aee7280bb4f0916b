//! The demo as data: what the scripted agent does and what must come back.

use Expect::{Refused, Success, SuccessSaying};
use ScriptStep::{Quiet, Run, Say, Show, Write};

use andon_core::detect;

/// The expected end of a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expect {
    Success,
    /// Exit code 0, and the output holds these words.
    SuccessSaying(&'static str),
    /// Another exit code, and the output holds these words.
    Refused(&'static str),
}

#[derive(Debug)]
pub(super) enum ScriptStep {
    /// Words between the steps.
    Say(&'static str),
    /// The agent writes a file.
    Write(&'static str, &'static str),
    /// A file is shown.
    Show(&'static str),
    /// A command that must succeed and is not worth showing.
    Quiet(&'static [&'static str]),
    /// A command that is shown with what came back.
    Run(&'static [&'static str], Expect),
}

/// Tests over `price.sh`, as TAP: two at first, a third with the new task.
const TESTS_BEFORE: &str = include_str!("tests_before.sh");
const TESTS: &str = include_str!("tests.sh");

const START: &str = "# total COUNT PRICE: in cents\ntotal() { echo $(($1 * $2)); }\n";
const TRY_1: &str = "# total COUNT PRICE: in cents\ntotal() { if [ \"$1\" -ge 100 ]; then echo $(($1 * $2 * 95 / 100)); else echo $(($1 * $2)); fi; }\n";
const TRY_2: &str = "# total COUNT PRICE: in cents\ntotal() { if [ \"$1\" -ge 100 ]; then echo $(($1 * $2 - $1 * $2 / 20)); else echo $(($1 * $2)); fi; }\n";
const TRY_3: &str = "# total COUNT PRICE: in cents\ntotal() { t=$(($1 * $2)); if [ \"$1\" -ge 100 ]; then t=$((t - t / 20)); fi; echo $t; }\n";
const FIXED: &str = "# total COUNT PRICE: in cents\ntotal() { if [ \"$1\" -ge 100 ]; then echo $(($1 * $2 * 9 / 10)); else echo $(($1 * $2)); fi; }\n";
const STYLE_A: &str = "# total COUNT PRICE: in cents\ntotal() {\n  t=$(($1 * $2))\n  [ \"$1\" -lt 100 ] || t=$((t * 9 / 10))\n  echo $t\n}\n";
const STYLE_B: &str = "# total COUNT PRICE: in cents\ntotal() {\n  t=$(($1 * $2))\n  if [ \"$1\" -ge 100 ]; then t=$((t * 9 / 10)); fi\n  echo $t\n}\n";

const TEST: &[&str] = &["andon", "test"];

/// The whole demo.
pub(super) static SCRIPT: &[ScriptStep] = &[
    Say("A new repository with a small program and its tests."),
    Quiet(&["git", "init", "-q", "-b", "main", "."]),
    Write("price.sh", START),
    Write("tests.sh", TESTS_BEFORE),
    Write("Makefile", "test:\n\t@sh tests.sh\n"),
    Run(&["andon", "install"], Success),
    Say("1. The agent commits without running the tests. The commit is refused."),
    Quiet(&["git", "add", "."]),
    Run(&["git", "commit", "-qm", "Add prices"], Refused(detect::UNTESTED_EDIT.id)),
    Say("It runs them. Now there is evidence for exactly this code: the commit passes."),
    Run(TEST, SuccessSaying("ok 2")),
    Run(&["git", "commit", "-qm", "Add prices"], Success),
    Say("2. A new task: a discount. The agent tries three times, and each time the same test fails."),
    Write("tests.sh", TESTS),
    Write("price.sh", TRY_1),
    Run(TEST, Refused("not ok 3")),
    Run(&["git", "commit", "-qam", "Give a discount"], SuccessSaying(detect::FAILING_TESTS.id)),
    Write("price.sh", TRY_2),
    Quiet(&["sh", "-c", "andon test >/dev/null 2>&1; git commit -qam 'Give a discount, rounded later'"]),
    Write("price.sh", TRY_3),
    Quiet(&["sh", "-c", "andon test >/dev/null 2>&1 || true"]),
    Run(
        &["git", "commit", "-qam", "Give a discount, via a variable"],
        SuccessSaying(detect::REPEATED_FAILURES.id),
    ),
    Say("The line stops. CHECKPOINT.md says why and what was tried:"),
    Show(".andon/CHECKPOINT.md"),
    Say("The next commit is refused, and --no-verify does not get past it."),
    Write("price.sh", FIXED),
    Run(&["git", "commit", "-qam", "Try again"], Refused("halted")),
    Run(&["git", "commit", "-qam", "Try again", "--no-verify"], Refused("halted")),
    Say("3. A person looks at it, sees the mistake and answers."),
    Run(
        &[
            "andon",
            "resume",
            "--reason",
            "the discount is 10 % from 100 items on",
            "--yes",
            "the demo plays the person",
        ],
        Success,
    ),
    Run(TEST, SuccessSaying("ok 3")),
    Run(&["git", "commit", "-qam", "Give 10 % from 100 items on"], Success),
    Say("4. Green tests do not mean progress: now the agent rewrites the same lines to and fro, A/B/A/B."),
    Write("price.sh", STYLE_A),
    Quiet(&["sh", "-c", "andon test >/dev/null && git commit -qam 'Tidy up'"]),
    Write("price.sh", STYLE_B),
    Quiet(&["sh", "-c", "andon test >/dev/null && git commit -qam 'Tidy up more'"]),
    Write("price.sh", STYLE_A),
    Quiet(&["sh", "-c", "andon test >/dev/null && git commit -qam 'Simplify'"]),
    Write("price.sh", STYLE_B),
    Quiet(&["sh", "-c", "andon test >/dev/null"]),
    Run(&["git", "commit", "-qam", "Clean up"], SuccessSaying(detect::OSCILLATION.id)),
    Run(&["andon", "status"], SuccessSaying("oscillat")),
    Run(&["andon", "log"], Success),
    Run(&["git", "notes", "--ref=andon", "show", "HEAD"], SuccessSaying("andon/commit@1")),
];
