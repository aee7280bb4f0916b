//! Test files that ended before they reported a result. `node --test` reports a file whose process ends with 0 as one test that
//! passed, named as the file: a plain script, and also tests that one of them ended.

use crate::effect::report_files;
use crate::workspace::Workspace;
use andon_git::platform::paths::path_from_bytes;
use testreport::{ParsedRun, TestStatus};

/// Largest file that is looked into, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Files that are looked into, at the most.
const MAX_FILES: usize = 1_000;
/// What node's runner takes for tests.
const EXTENSIONS: [&str; 6] = ["js", "cjs", "mjs", "ts", "cts", "mts"];
/// The module whose tests are reported by their names.
const MODULE: &str = "node:test";
/// How a line begins that declares a test wherever the file is run.
const DECLARED: [&str; 6] = ["test(", "it(", "describe(", "suite(", "await test(", "test.only("];

/// A run that passed, with a file of tests of which only the file is reported, is cut short: what to say.
pub fn without_their_tests(ws: &Workspace, parsed: &mut ParsedRun) -> Option<String> {
    let tests = parsed.tests.as_ref().filter(|_| parsed.status == TestStatus::Passed)?;
    let top = ws.repo.workdir()?;
    let files = tests.iter().map(|test| own_name(&test.id)).filter(|id| is_file_of_tests(id));
    let unheard = files.take(MAX_FILES).find(|id| {
        let read = report_files::read(&top.join(path_from_bytes(id.as_bytes())), MAX_TEXT);
        read.is_ok_and(|bytes| declares_tests(&String::from_utf8_lossy(&bytes)))
    })?;
    let what =
        format!("no test of {unheard} is reported, and it declares some: its process was ended before");
    parsed.status = TestStatus::Incomplete;
    parsed.tests = None;
    Some(what)
}

/// The name without its class, which JUnit has.
fn own_name(id: &str) -> &str {
    id.rsplit_once("::").map_or(id, |(_, name)| name)
}

fn is_file_of_tests(id: &str) -> bool {
    let extension = id.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
        && !id.starts_with('/')
        && id.split('/').all(|part| part != "..")
}

/// Whether a text surely declares tests of node's: what is within a function or a condition may not run.
fn declares_tests(text: &str) -> bool {
    let declares = |line: &str| DECLARED.iter().any(|begin| line.starts_with(begin));
    text.contains(MODULE) && text.lines().any(declares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_run_in_any_case_declares_a_test() {
        for text in [
            "const {test} = require('node:test');\ntest('a', () => {});\n",
            "import { describe } from \"node:test\";\n\ndescribe('a', () => {\n  it('b');\n});\n",
            "import test from 'node:test';\nawait test('a', t => t.skip());\n",
        ] {
            assert!(declares_tests(text), "{text}");
        }
        for text in [
            "console.log('a script');\ntest('of another runner');\n",
            "import { test } from 'node:test';\nexport function ours(name, run) {\n  test(name, run);\n}\n",
            "import { test } from 'node:test';\nif (process.platform === 'win32') {\n  test('a');\n}\n",
            "import { mock } from 'node:test';\nexport const timers = mock.timers;\n",
            "",
        ] {
            assert!(!declares_tests(text), "{text}");
        }
        assert_eq!((own_name("test::sub/a.test.js"), own_name("a.js")), ("sub/a.test.js", "a.js"));
        assert!(is_file_of_tests("test/a.test.mjs") && is_file_of_tests("a.js"));
        for other in ["a", "adds numbers", "/tmp/a.js", "../a.js", "a/../../b.js", "a.rs"] {
            assert!(!is_file_of_tests(other), "{other}");
        }
    }
}
