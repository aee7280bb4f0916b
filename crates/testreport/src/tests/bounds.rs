//! Each bound of a report that docs/formats.md names: as much as the bound is read, and one more is no pass.

use super::file;
use crate::TestStatus;

/// A report of a run that passed, as large as the number says.
type Report = fn(usize) -> String;

const BOUNDS: [(&str, usize, Report); 5] = [
    ("elements of XML within each other", 1000, |depth| {
        let suites = depth - 1;
        let (open, close) = ("<testsuite>".repeat(suites), "</testsuite>".repeat(suites));
        format!("{open}<testcase name='a'/>{close}")
    }),
    ("values of JSON within each other", 128, |depth| {
        let below = depth - 1;
        let (open, close) = ("[".repeat(below), "]".repeat(below));
        let suite =
            r#"{"name":"a.js","status":"passed","assertionResults":[{"title":"a","status":"passed"}]}"#;
        format!(r#"{{"numTotalTests":1,"success":true,"testResults":[{suite}],"deep":{open}{close}}}"#)
    }),
    ("bytes of an event of JSON", 4 * 1024 * 1024, |bytes| {
        let event = |action: &str, more: &str| {
            format!(r#"{{"Action":"{action}","Package":"p","Test":"TestA"{more}}}"#) + "\n"
        };
        let rest = event("output", r#","Output":"""#).len() - 1;
        let output = event("output", &format!(r#","Output":"{}""#, "x".repeat(bytes - rest)));
        let ended = r#"{"Action":"pass","Package":"p"}"#;
        [event("run", ""), output, event("pass", ""), ended.to_owned()].concat()
    }),
    ("tests of Go that are open at once", 100_000, |tests| {
        let event = |action: &str, test: usize| {
            format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"T{test}\"}}\n")
        };
        let begun: String = (0..tests).map(|test| event("run", test)).collect();
        let ended: String = (0..tests).map(|test| event("pass", test)).collect();
        begun + &ended + r#"{"Action":"pass","Package":"p"}"#
    }),
    ("suites of libtest that are open at once", 10_000, |suites| {
        let suite =
            |event: &str, counts: &str| format!(r#"{{"type":"suite","event":"{event}"{counts}}}"#) + "\n";
        let test = "{\"type\":\"test\",\"event\":\"ok\",\"name\":\"a\"}\n";
        let begun = suite("started", r#","test_count":0"#).repeat(suites);
        let last = suite("ok", r#","passed":1,"failed":0,"ignored":0,"measured":0"#);
        begun + test + &suite("ok", "").repeat(suites - 1) + &last
    }),
];

#[test]
fn as_much_as_the_bound_passes_and_one_more_does_not() {
    for (what, bound, report) in BOUNDS {
        let at = file(report(bound).as_bytes(), 0);
        assert_eq!(at.status, TestStatus::Passed, "{what}: {:?}", at.warnings);
        let beyond = file(report(bound + 1).as_bytes(), 0);
        assert_eq!(beyond.status, TestStatus::Incomplete, "{what}: {:?}", beyond.warnings);
        let named = format!("{bound}");
        assert!(beyond.warnings.iter().any(|text| text.contains(&named)), "{what}: {:?}", beyond.warnings);
    }
}
