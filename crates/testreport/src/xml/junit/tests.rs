use crate::reader::{ReportInput, read};
use crate::run::{ExitKind, ParsedRun};
use crate::{Counts, TestStatus, normalize::Root, tally::Tally};

fn run_bytes(bytes: &[u8]) -> ParsedRun {
    read(&[ReportInput { name: "r.xml", bytes }], ExitKind::Code(0), &Root::none())
}

fn run(xml: &str) -> ParsedRun {
    run_bytes(xml.as_bytes())
}

const fn counts(passed: u64, failed: u64, errored: u64, skipped: u64) -> Counts {
    Counts { total: passed + failed + errored + skipped, passed, failed, errored, skipped }
}

const PYTEST: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.05" timestamp="2026-11-20T10:00:00.1" hostname="ci">
<testcase classname="tests.test_a" name="test_ok[1-&lt;x&gt;]" time="0.001" />
<testcase classname="tests.test_a" name="test_bad" time="0.002"><failure message="AssertionError: assert 1 == 2">def test_bad():
&gt;       assert 1 == 2
E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_a" name="test_setup"><error message="failed on setup with &quot;ValueError: no&quot;">trace</error></testcase>
<testcase classname="tests.test_a" name="test_later"><skipped type="pytest.skip" message="no network">x</skipped></testcase>
</testsuite></testsuites>
"#;

const SUREFIRE: &str = r#"<testsuite xmlns:xsi="http://x" name="com.A" tests="3" errors="0" skipped="0" failures="1">
  <properties><property name="a" value="b"/></properties>
  <testcase name="flaky" classname="com.A"><flakyFailure message="once" type="E">x</flakyFailure></testcase>
  <testcase name="bad" classname="com.A"><failure message="no" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError: no
	at com.A.bad(A.java:12)]]></failure><rerunFailure message="again">x</rerunFailure></testcase>
  <testcase name="fine" classname="com.A"><system-out><![CDATA[<failure>not one</failure>]]></system-out></testcase>
</testsuite>"#;

const NESTED: &str = "<testsuites><testsuite name='outer'><testsuite name='inner'><testcase name='a'/>\
    <testcase name='b'><failure>thread 'b' panicked at src/lib.rs:3:5:\nno</failure></testcase></testsuite>\
    <testcase name='c'/></testsuite><testsuite name='second'><testcase name='d'/></testsuite></testsuites>";

/// Report, counts, failing ids, status.
type Row = (&'static str, Counts, &'static [&'static str], TestStatus);

const DIALECTS: &[Row] = &[
    (PYTEST, counts(1, 1, 1, 1), &["tests.test_a::test_bad", "tests.test_a::test_setup"], TestStatus::Failed),
    (SUREFIRE, counts(2, 1, 0, 0), &["com.A::bad"], TestStatus::Failed),
    (NESTED, counts(3, 1, 0, 0), &["inner::b"], TestStatus::Failed),
    ("<testsuites/>", counts(0, 0, 0, 0), &[], TestStatus::NoTests),
    ("<testsuite tests='0' name='x'></testsuite>", counts(0, 0, 0, 0), &[], TestStatus::NoTests),
    ("<testsuite><testcase/></testsuite>", counts(1, 0, 0, 0), &[], TestStatus::Passed),
    (
        "<testsuite><testcase name='a' status='notrun'/></testsuite>",
        counts(0, 0, 0, 1),
        &[],
        TestStatus::NoTests,
    ),
    (
        "<testsuite name='s' failures='2'><testcase name='a'/></testsuite>",
        counts(1, 0, 1, 0),
        &["s"],
        TestStatus::Failed,
    ),
    (
        "<testsuites failures='1'><testsuite name='s' errors='1'/></testsuites>",
        counts(0, 0, 1, 0),
        &["s"],
        TestStatus::Failed,
    ),
    (
        "<testsuite name='s'><error message='no'/><testcase name='a'/></testsuite>",
        counts(1, 0, 1, 0),
        &["s"],
        TestStatus::Failed,
    ),
    (
        "<testsuite><testcase name='a'><skipped type='todo'/><failure/></testcase><testcase name='b'/></testsuite>",
        counts(1, 0, 0, 1),
        &[],
        TestStatus::Passed,
    ),
    (
        "<testsuite><testcase name='gone' status='notrun'><skipped message='Unable to find executable'/></testcase>\
             <testcase name='off' status='notrun'><skipped message='SKIP_RETURN_CODE=77'/></testcase>\
             <testcase name='b'><skipped message='Unable to find executable gcc'/></testcase></testsuite>",
        counts(0, 0, 1, 2),
        &["gone"],
        TestStatus::Failed,
    ),
    ("<testsuite name='s' tests='3'/>", counts(0, 0, 0, 0), &[], TestStatus::Incomplete),
    (
        "<testsuites><testsuite><testcase name='a'/></testsuite>",
        counts(1, 0, 0, 0),
        &[],
        TestStatus::Incomplete,
    ),
    ("<coverage/>", counts(0, 0, 0, 0), &[], TestStatus::Incomplete),
    ("<html><testsuite/></html>", counts(0, 0, 0, 0), &[], TestStatus::Incomplete),
];

#[test]
fn dialects() {
    for (xml, counts, failing, status) in DIALECTS {
        let run = run(xml);
        assert_eq!((run.counts, run.status), (*counts, *status), "{xml}");
        assert_eq!(run.failing, *failing, "{xml}");
        assert_eq!(run.warnings.is_empty(), *status != TestStatus::Incomplete, "{xml}");
    }
}

#[test]
fn errors_are_the_message_or_else_the_text() {
    let texts = |xml: &str| run(xml).errors.into_iter().map(|error| error.text).collect::<Vec<_>>();
    assert_eq!(texts(PYTEST), ["AssertionError: assert 1 == 2", "failed on setup with \"ValueError: no\""]);
    assert_eq!(texts(SUREFIRE), ["java.lang.AssertionError: no"]);
    assert_eq!(texts(NESTED), ["thread 'b' panicked at src/lib.rs:<pos>:\nno"]);
}

#[test]
fn a_cut_report_never_passes() {
    let passing = "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"é\" tests=\"2\"><testcase name=\"a\"/>\
                   <testcase name=\"b\"><system-out>ok &amp; é</system-out></testcase></testsuite>\n</testsuites>\n";
    let whole = passing.trim_end().len();
    for end in 0..passing.len() {
        let status = run_bytes(&passing.as_bytes()[..end]).status;
        assert_eq!(status == TestStatus::Passed, end >= whole, "{end}");
    }
    for text in [PYTEST, SUREFIRE, NESTED] {
        for end in 0..text.len() {
            assert_ne!(run_bytes(&text.as_bytes()[..end]).status, TestStatus::Passed, "{end}");
        }
    }
}

#[test]
fn hostile_reports_end_bounded() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><testsuite><testcase name='&b;'><failure>&b;</failure></testcase></testsuite>";
    let one = run(bomb);
    assert_eq!((one.status, one.warnings.len()), (TestStatus::Incomplete, 1));
    for entity in ["\"<failure/>\"", "\"&#60;failure/>\"", "SYSTEM \"/dev/zero\""] {
        let held = format!(
            "<!DOCTYPE x [<!ENTITY a {entity}>]><testsuite><testcase name='b'>&a;</testcase></testsuite>"
        );
        assert_eq!(run(&held).status, TestStatus::Incomplete, "{entity}");
    }
    let plain = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><testsuite><testcase name='&a;'/></testsuite>";
    assert_eq!(run(plain).status, TestStatus::Passed);
    assert_eq!(run(&"<testsuite>".repeat(20_000)).status, TestStatus::Incomplete);
    let long = format!(
        "<testsuite><testcase name='{0}'><failure>{0}</failure></testcase></testsuite>",
        "x".repeat(1 << 20)
    );
    let two = run(&long);
    assert!(two.failing[0].len() <= 400 && two.errors[0].text.len() <= Tally::MAX_ERROR);
    let escapes = run("<testsuite><testcase name='a&#10;&#x1B;[31mb\u{1}'><failure/></testcase></testsuite>");
    assert_eq!(escapes.failing, ["a b"]);
}

#[test]
fn escapes_that_were_printed_are_stripped_and_other_encodings_read() {
    for printed in ["#x1B[31mno#x1B[0m", "[NON-XML-CHAR-0x1B][31mno", "&#x1B;[1mno"] {
        for xml in [
            format!("<testsuite><testcase name='a'><failure message='{printed}'/></testcase></testsuite>"),
            format!("<testsuite><testcase name='a'><failure>{printed}</failure></testcase></testsuite>"),
        ] {
            assert_eq!(run(&xml).errors[0].text, "no", "{xml}");
        }
    }
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='caf\xe9'><failure/></testcase></testsuite>";
    assert_eq!(run_bytes(latin).failing, ["caf\u{e9}"]);
}

#[test]
fn what_the_message_leaves_out_comes_from_what_is_below_it() {
    let ctest = "<testsuite><testcase name='a'><failure message=''/><system-out>got 3, want 4\n</system-out></testcase>\
                 <testcase name='b'><failure message='no'/><system-out>much</system-out></testcase>\
                 <testcase name='c'><system-out>much</system-out></testcase></testsuite>";
    let texts = |xml: &str| run(xml).errors.into_iter().map(|error| error.text).collect::<Vec<_>>();
    assert_eq!(texts(ctest), ["got 3, want 4", "no"]);
    let node = "<testsuite><testcase name='a'><failure type='testCodeFailure' message='no'>\n[Error [E]: no] {\n  cause: \
                TypeError [Error]: no\n</failure></testcase></testsuite>";
    assert_eq!(texts(node), ["TypeError: testCodeFailure: no"]);
}

#[test]
fn what_was_read_before_a_report_breaks_off_stays() {
    let head = "<testsuite><testcase name='a'/><testcase name='b'><failure message='no'/></testcase>\
                <testcase name='c'><failure message='no'/><system-out>x";
    let tail = "y</system-out></testcase><testcase name='d'/></testsuite>";
    for breaks in [b"<\0>".as_slice(), b"<\xff/>", b"</x>"] {
        let one = run_bytes(&[head.as_bytes(), breaks, tail.as_bytes()].concat());
        assert_eq!((one.status, one.counts), (TestStatus::Incomplete, counts(1, 2, 0, 0)), "{breaks:?}");
        assert_eq!(one.failing, ["b", "c"]);
        assert!(one.warnings[0].contains("malformed"), "{:?}", one.warnings);
    }
}

#[test]
fn attributes_of_a_case_say_how_it_ended() {
    let cases: [(&str, TestStatus); 16] = [
        ("<testcase name='a' status='failed'/>", TestStatus::Failed),
        ("<testcase name='a' result='failed'/>", TestStatus::Failed),
        ("<testcase name='a' status='FAIL'/>", TestStatus::Failed),
        ("<testcase name='a' status='run' result='Failure'/>", TestStatus::Failed),
        ("<testcase name='a' status='error'/>", TestStatus::Failed),
        ("<testcase name='a' status='timed_out'/>", TestStatus::Failed),
        ("<testcase name='a' status='failed'><skipped/></testcase>", TestStatus::Failed),
        ("<testcase name='a' status='failed'><failure message='no'/></testcase>", TestStatus::Failed),
        ("<testcase name='a' status='passed'><failure message='no'/></testcase>", TestStatus::Failed),
        ("<testcase name='a' status='skipped'/>", TestStatus::NoTests),
        ("<testcase name='a' status='notrun'/>", TestStatus::NoTests),
        ("<testcase name='a' status='notrun'><failure/></testcase>", TestStatus::Failed),
        ("<testcase name='a' status='run' result='completed'/>", TestStatus::Passed),
        ("<testcase name='a' status='Passed'/>", TestStatus::Passed),
        ("<testcase name='a' result='success'/>", TestStatus::Passed),
        ("<testsuite status='failed'><testcase name='a'/></testsuite>", TestStatus::Failed),
    ];
    for (case, status) in cases {
        let one = run(&format!("<testsuite>{case}</testsuite>"));
        assert_eq!(one.status, status, "{case}");
        assert_eq!(one.failing.is_empty(), status != TestStatus::Failed, "{case}");
    }
    let told =
        run("<testsuite><testcase name='a' status='failed'><failure message='no'/></testcase></testsuite>");
    assert_eq!((told.counts, told.errors[0].text.as_str()), (counts(0, 1, 0, 0), "no"));
}

/// `tests` of a suite and what it holds: whether it is the whole.
const CLAIMS: &[(&str, bool)] = &[
    ("<testsuite tests='2'><testcase name='a'/></testsuite>", false),
    ("<testsuite tests='5'><testcase name='a'/></testsuite>", false),
    ("<testsuite tests='1'><testcase name='a'/><testcase name='b'/></testsuite>", true),
    ("<testsuites tests='5'><testsuite><testcase name='a'/></testsuite></testsuites>", false),
    ("<testsuites tests='1'><testsuite tests='5'><testcase name='a'/></testsuite></testsuites>", false),
    (
        "<testsuites><testsuite tests='5'><testcase name='a'/></testsuite><testsuite tests='1'><testcase name='b'/></testsuite></testsuites>",
        false,
    ),
    (
        "<testsuites tests='2'><testsuite tests='2'><testsuite tests='1'><testcase name='a'/></testsuite><testcase name='b'/></testsuite></testsuites>",
        true,
    ),
    // Those that are skipped are counted and may be left out, and only the whole may say how many they are.
    ("<testsuite tests='3' skipped='2'><testcase name='a'/></testsuite>", true),
    ("<testsuite tests='3' skipped='1'><testcase name='a'/></testsuite>", false),
    (
        "<testsuite tests='3' skipped='1'><testcase name='a'/><testcase name='b'><skipped/></testcase></testsuite>",
        false,
    ),
    (
        "<testsuites tests='3' skipped='1'><testsuite tests='3'><testcase name='a'/><testcase name='b'/></testsuite></testsuites>",
        true,
    ),
    (
        "<testsuites tests='3'><testsuite tests='3' skipped='1'><testcase name='a'/><testcase name='b'/></testsuite></testsuites>",
        true,
    ),
    // Catch2 and doctest count assertions, pytest subtests.
    (
        "<testsuites><testsuite name='t' errors='0' failures='0' tests='10' hostname='tbd' time='0' timestamp='x'><testcase classname='t.global' name='a' time='0' status='run'/></testsuite></testsuites>",
        true,
    ),
    (
        "<testsuites><testsuite name='t' errors='0' failures='0' tests='10'><testcase classname='a.cpp' name='a' time='0' status='run'/></testsuite></testsuites>",
        true,
    ),
    (
        "<testsuites><testsuite name='t' errors='0' failures='0' tests='10'><testcase classname='a.cpp' name='a' time='0'/></testsuite></testsuites>",
        false,
    ),
    (
        "<testsuites name='pytest tests'><testsuite name='pytest' errors='0' failures='0' skipped='0' tests='8' time='0.04' timestamp='x' hostname='vm'><testcase classname='test_a.T' name='test_s' time='0.014'/></testsuite></testsuites>",
        true,
    ),
    (
        "<testsuites name='pytest tests'><testsuite name='pytest' errors='0' failures='0' skipped='0' tests='8' time='0.04' timestamp='x' hostname='vm'></testsuite></testsuites>",
        false,
    ),
];

#[test]
fn more_tests_than_cases_are_not_the_whole() {
    for (xml, whole) in CLAIMS {
        let run = run(xml);
        assert_eq!(run.status == TestStatus::Passed, *whole, "{xml} {:?}", run.warnings);
        assert_eq!(run.warnings.len(), usize::from(!*whole), "{xml}");
    }
}
