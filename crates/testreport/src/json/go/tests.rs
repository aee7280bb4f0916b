use super::super::testkit::{no_cut_passes, run, tally};
use crate::{Counts, TestStatus};

fn counts(passed: u64, failed: u64, errored: u64, skipped: u64) -> Counts {
    Counts { total: passed + failed + errored + skipped, passed, failed, errored, skipped }
}

const FAILING: &str = r#"{"Time":"2026-11-20T10:00:00Z","Action":"start","Package":"example.com/p"}
{"Action":"run","Package":"example.com/p","Test":"TestAdd"}
{"Action":"output","Package":"example.com/p","Test":"TestAdd","Output":"=== RUN   TestAdd\n"}
{"Action":"run","Package":"example.com/p","Test":"TestAdd/a/b"}
{"Action":"output","Package":"example.com/p","Test":"TestAdd/a/b","Output":"    add_test.go:12: got 1, want 2\n"}
{"Action":"output","Package":"example.com/p","Test":"TestAdd/a/b","Output":"    --- FAIL: TestAdd/a/b (0.00s)\n"}
{"Action":"fail","Package":"example.com/p","Test":"TestAdd/a/b","Elapsed":0}
{"Action":"run","Package":"example.com/p","Test":"TestAdd/ok"}
{"Action":"pass","Package":"example.com/p","Test":"TestAdd/ok","Elapsed":0}
{"Action":"fail","Package":"example.com/p","Test":"TestAdd","Elapsed":0}
# a line of something else
{"level":"info","msg":"a log of the program"}
{"Action":"run","Package":"example.com/p","Test":"TestSkip"}
{"Action":"skip","Package":"example.com/p","Test":"TestSkip","Elapsed":0}
{"Action":"output","Package":"example.com/p","Output":"FAIL\n"}
{"Action":"fail","Package":"example.com/p","Elapsed":0.01}
{"Action":"start","Package":"example.com/none"}
{"Action":"output","Package":"example.com/none","Output":"?   \texample.com/none\t[no test files]\n"}
{"Action":"skip","Package":"example.com/none","Elapsed":0}
"#;

const PASSING: &str = r#"{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"p","Elapsed":0.01}
"#;

const BUILD: &str = r##"{"ImportPath":"p [p.test]","Action":"build-output","Output":"# p [p.test]\n"}
{"ImportPath":"p [p.test]","Action":"build-output","Output":"./a_test.go:5:2: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}
"##;

const EXITED: &str = r#"{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"bye\n"}
{"Action":"output","Package":"p","Output":"exit status 3\n"}
{"Action":"fail","Package":"p","Elapsed":0}
"#;

const MAIN: &str = r#"{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"database is gone\nFAIL\tp\t0.01s\n"}
{"Action":"fail","Package":"p","Elapsed":0}
"#;

#[test]
fn samples() {
    let cases: &[(&str, Counts, &[&str], TestStatus, &str)] = &[
        (
            FAILING,
            counts(1, 1, 0, 1),
            &["example.com/p::TestAdd/a/b"],
            TestStatus::Failed,
            "add_test.go:<pos>: got 1, want 2",
        ),
        (PASSING, counts(1, 0, 0, 0), &[], TestStatus::Passed, ""),
        (BUILD, counts(0, 0, 1, 0), &["p"], TestStatus::BuildFailed, "./a_test.go:<pos>: undefined: x"),
        (EXITED, counts(0, 0, 1, 0), &["p::TestA/x"], TestStatus::Failed, "bye"),
        (MAIN, counts(1, 0, 0, 0), &[], TestStatus::RunnerError, "p: database is gone"),
    ];
    for (text, counts, failing, status, error) in cases {
        let run = run(text);
        assert_eq!((run.counts, run.status), (*counts, *status), "{text}");
        assert_eq!(run.failing, *failing, "{text}");
        assert_eq!(run.errors.first().map_or("", |first| first.text.as_str()), *error, "{text}");
    }
    let old = format!("FAIL\tq [build failed]\n{PASSING}");
    assert_eq!(run(&old).status, TestStatus::BuildFailed);
}

#[test]
fn what_is_not_go_is_left_alone() {
    for text in
        ["", "{}\n", "FAIL\tp [build failed]\n", "{\"Action\":\"jump\"}\n", "ok  \tp\t0.1s\n", "{\n}\n"]
    {
        assert!(tally(text).is_none(), "{text}");
    }
}

#[test]
fn a_cut_report_never_passes() {
    no_cut_passes(&[FAILING, PASSING, BUILD, EXITED, MAIN]);
    let torn = PASSING.replace("\"Test\":\"TestA\",\"Elapsed\":0}", "\"Test\":\"Tes");
    assert_eq!(run(&torn).status, TestStatus::Incomplete);
}

#[test]
fn events_without_a_package_are_read() {
    let failing = r#"{"Time":"2026-11-20T10:00:00Z","Action":"start"}
{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"    a_test.go:3: no\n"}
{"Action":"fail","Test":"TestA","Elapsed":0}
{"Action":"run","Test":"TestB"}
{"Action":"pass","Test":"TestB","Elapsed":0}
{"Action":"output","Output":"FAIL\n"}
{"Action":"fail","Elapsed":0.01}
"#;
    let one = run(failing);
    assert_eq!(
        (one.status, one.counts, one.runner.as_str()),
        (TestStatus::Failed, counts(1, 1, 0, 0), "go-json")
    );
    assert_eq!(one.failing, ["TestA"]);
    let passing = failing.replace("\"fail\"", "\"pass\"");
    assert_eq!(run(&passing).status, TestStatus::Passed);
    assert_eq!(run(failing.split_once("{\"Action\":\"pass\"").unwrap().0).status, TestStatus::Incomplete);
    assert_eq!(run("{\"Action\":\"start\"}\n{\"Action\":\"fail\"}\n").status, TestStatus::RunnerError);
    for other in [
        "{\"Action\":\"start\",\"User\":\"ann\"}\n",
        "{\"Action\":\"Deploy\"}\n",
        "{\"Action\":\"login\",\"Time\":\"x\"}\n",
    ] {
        assert!(tally(other).is_none(), "{other}");
    }
}
