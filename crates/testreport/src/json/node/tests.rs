use super::super::testkit::{no_cut_passes, run};
use crate::{Counts, TestStatus};

const FAILING: &str = r#"{"type":"test:enqueue","data":{"nesting":0,"name":"fails","line":4,"column":1,"file":"/p/a.test.mjs"}}
{"type":"test:complete","data":{"name":"fails","nesting":0,"testNumber":1,"details":{"duration_ms":1.06,"passed":false},"file":"/p/a.test.mjs"}}
{"type":"test:start","data":{"nesting":0,"name":"fails","line":4,"column":1,"file":"/p/a.test.mjs"}}
{"type":"test:fail","data":{"name":"fails","nesting":0,"testNumber":1,"details":{"duration_ms":1.06,"error":{"message":"Expected values to be strictly equal:\n\n1 !== 2\n","code":"ERR_TEST_FAILURE","failureType":"testCodeFailure","cause":{"message":"Expected values to be strictly equal:\n\n1 !== 2\n","stack":"AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n    at TestContext.<anonymous> (file:///p/a.test.mjs:4:30)"}}},"file":"/p/a.test.mjs"}}
{"type":"test:start","data":{"nesting":0,"name":"suite","file":"/p/a.test.mjs"}}
{"type":"test:start","data":{"nesting":1,"name":"in suite","file":"/p/a.test.mjs"}}
{"type":"test:pass","data":{"name":"in suite","nesting":1,"testNumber":1,"details":{"duration_ms":0.1}}}
{"type":"test:start","data":{"nesting":1,"name":"inner"}}
{"type":"test:start","data":{"nesting":2,"name":"deep"}}
{"type":"test:fail","data":{"name":"deep","nesting":2,"testNumber":1,"details":{"error":{"code":"ERR_TEST_FAILURE","failureType":"testCodeFailure","cause":{"code":"ERR_ASSERTION","actual":1,"expected":2,"operator":"strictEqual"}}}}}
{"type":"test:fail","data":{"name":"inner","nesting":1,"testNumber":2,"details":{"type":"suite","error":{"cause":"1 subtest failed","failureType":"subtestsFailed"}}}}
{"type":"test:plan","data":{"nesting":1,"count":2}}
{"type":"test:fail","data":{"name":"suite","nesting":0,"testNumber":2,"details":{"type":"suite","error":{"cause":"1 subtest failed","failureType":"subtestsFailed"}}}}
{"type":"test:start","data":{"nesting":0,"name":"later"}}
{"type":"test:pass","data":{"name":"later","nesting":0,"testNumber":3,"details":{},"skip":"why"}}
{"type":"test:start","data":{"nesting":0,"name":"todo fails"}}
{"type":"test:fail","data":{"name":"todo fails","nesting":0,"testNumber":4,"details":{"error":{"message":"x"}},"todo":true}}
{"type":"test:start","data":{"nesting":0,"name":"slow"}}
{"type":"test:fail","data":{"name":"slow","nesting":0,"testNumber":5,"details":{"error":{"failureType":"testTimeoutFailure","cause":"test timed out after 5ms"}}}}
{"type":"test:plan","data":{"nesting":0,"count":5}}
{"type":"test:diagnostic","data":{"nesting":0,"message":"fail 5"}}
{"type":"test:diagnostic","data":{"nesting":0,"message":"duration_ms 15.6"}}
"#;

const PASSING: &str = r#"{"type":"test:start","data":{"nesting":0,"name":"a"}}
{"type":"test:pass","data":{"name":"a","nesting":0,"details":{}}}
{"type":"test:plan","data":{"nesting":0,"count":1}}
{"type":"test:diagnostic","data":{"nesting":0,"message":"fail 0"}}
{"type":"test:diagnostic","data":{"nesting":0,"message":"duration_ms 15.6"}}
"#;

#[test]
fn samples() {
    let one = run(FAILING);
    let counts = Counts { total: 6, passed: 1, failed: 2, errored: 1, skipped: 2 };
    assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, "node-json"));
    assert_eq!(one.failing, ["fails", "slow", "suite > inner > deep"]);
    let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
    assert!(
        texts[0].starts_with("AssertionError [ERR_ASSERTION]: Expected values") && !texts[0].contains("at ")
    );
    assert_eq!(texts[2], "code: \"ERR_ASSERTION\"\noperator: \"strictEqual\"\nexpected: 2\nactual: 1");
    assert_eq!((run(PASSING).status, run(PASSING).counts.total), (TestStatus::Passed, 1));
}

#[test]
fn lies_and_gaps() {
    let summary = r#"{"type":"test:summary","data":{"success":false,"counts":{"tests":1,"failed":1}}}"#;
    let cases = [
        (PASSING.replace("\"count\":1", "\"count\":2"), TestStatus::Incomplete),
        (PASSING.replace("fail 0", "fail 1"), TestStatus::Failed),
        (PASSING.replace("duration_ms", "x"), TestStatus::Incomplete),
        (PASSING.replace("\"details\":{}", "\"details\":{\"type\":\"suite\"}"), TestStatus::NoTests),
        (format!("{PASSING}{summary}\n"), TestStatus::Failed),
        (PASSING.replace("\"a\",\"nesting\":0,\"det", "\"a\",\"nesting\":0,\"de"), TestStatus::Passed),
        (PASSING.replace("{}", "NaN"), TestStatus::Incomplete),
        (
            PASSING.replace("\"name\":\"a\",\"nesting\"", "\"name\":\"\\ud800\",\"nesting\""),
            TestStatus::Incomplete,
        ),
    ];
    for (text, status) in cases {
        assert_eq!(run(&text).status, status, "{text}");
    }
}

#[test]
fn a_cut_report_never_passes() {
    no_cut_passes(&[FAILING, PASSING]);
}
