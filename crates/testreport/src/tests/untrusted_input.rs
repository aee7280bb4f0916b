//! Reports that are broken or mean harm: a named error, or a result that is bounded and marked. Never a pass.

use std::ops::ControlFlow;

use super::{ExitKind, ParsedRun, Root, RunReader, Stream, file, run, samples::SAMPLES};
use crate::TestStatus::{Failed, Incomplete, Passed};
use crate::tally::Tally;

/// A report of many equal chunks, which is never there as a whole.
fn stream(head: &[u8], chunk: &[u8], times: usize, tail: &[u8]) -> ParsedRun {
    let mut reader = RunReader::new(Root::none());
    let mut report = reader.open_report("big");
    let mut flow = report.push(head);
    for _ in 0..times {
        if flow.is_continue() {
            flow = report.push(chunk);
        }
    }
    if let ControlFlow::Continue(()) = flow {
        let _ = report.push(tail);
    }
    reader.close_report(report);
    reader.finish(ExitKind::Code(0))
}

fn is_bounded(run: &ParsedRun) -> bool {
    run.failing.iter().all(|id| id.len() <= 400 && !id.contains(char::is_control))
        && run.errors.iter().all(|error| error.text.len() <= 2 * Tally::MAX_ERROR)
        && run.warnings.iter().all(|warning| warning.len() <= 1024)
}

#[test]
fn xml_that_is_cut_anywhere_never_passes() {
    for ((name, bytes), ..) in SAMPLES.iter().filter(|row| row.0.0.starts_with("xml/")) {
        let whole = bytes.trim_ascii_end().len();
        for end in 0..whole.saturating_sub(1) {
            let cut = file(&bytes[..end], 0);
            assert_ne!(cut.status, Passed, "{name} at {end}");
            let marked = cut.warnings.len() == 1 || end + 4 > whole;
            assert!(marked && is_bounded(&cut), "{name} at {end} {:?}", cut.warnings);
        }
    }
}

#[test]
fn json_that_is_cut_anywhere_never_passes() {
    for ((name, bytes), ..) in SAMPLES.iter().filter(|row| row.0.0.starts_with("json-")) {
        let whole = bytes.trim_ascii_end().len();
        let step = 1 + whole / 250;
        for end in (0..whole).step_by(step) {
            for status in [file(&bytes[..end], 0).status, run(&bytes[..end], b"", &[], 1).status] {
                assert_ne!(status, Passed, "{name} at {end}");
            }
        }
    }
}

#[test]
fn entities_are_not_expanded() {
    let levels: String = (1..12)
        .map(|level| format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10)))
        .collect();
    let bomb = format!(
        "<!DOCTYPE t [<!ENTITY e0 'boom'>{levels}<!ENTITY f SYSTEM 'file:///etc/passwd'>]>\
         <testsuite><testcase name='&e11;'><failure message='&f;'>&e11;</failure></testcase></testsuite>"
    );
    let one = file(bomb.as_bytes(), 0);
    // An entity may hold anything, a failure too.
    assert_eq!((one.status, one.failing.as_slice()), (Incomplete, &[][..]));
}

#[test]
fn deep_nesting_is_named() {
    for (open, close) in [("<testsuite>", "</testsuite>"), ("<a>", "</a>")] {
        let report = format!("<testsuite>{}{}</testsuite>", open.repeat(20_000), close.repeat(20_000));
        let one = file(report.as_bytes(), 0);
        assert_eq!(one.status, Incomplete);
        assert!(one.warnings[0].contains("nested deeper than 1000"), "{:?}", one.warnings);
    }
    let json = format!("{{\"numTotalTests\":1,\"testResults\":{}", "[".repeat(20_000));
    assert_eq!(file(json.as_bytes(), 0).status, Incomplete);
    let tap: String = (0..2_000).map(|depth| format!("{}ok 1 - a\n", "    ".repeat(depth % 200))).collect();
    assert_ne!(file(tap.as_bytes(), 0).status, Passed);
}

#[test]
fn nul_bytes_are_named() {
    for ((name, bytes), _, status, _) in SAMPLES {
        if name.contains("utf16") {
            continue;
        }
        for at in [0, bytes.len() / 3, bytes.len() / 2, bytes.len()] {
            let mut torn = bytes.to_vec();
            torn.splice(at..at, [0, 0]);
            let one = file(&torn, 0);
            // In a text of XML they are no harm.
            assert!(
                one.status != Passed || (status == Passed && name.starts_with("xml/")),
                "{name} at {at} {one:?}"
            );
            assert!(!one.warnings.is_empty() && is_bounded(&one), "{name} at {at} {:?}", one.warnings);
        }
    }
}

#[test]
fn a_wrong_byte_in_a_log_costs_no_report_and_is_told() {
    let head =
        b"<?xml version='1.0' encoding='UTF-8'?><testsuite tests='2'><testcase name='a'><system-out>log ";
    let tail = b" end</system-out></testcase><testcase name='b'/></testsuite>";
    for (wrong, told) in [
        (b"\xff".as_slice(), "not UTF-8 at byte 94"),
        (b"caf\xe9", "not UTF-8 at byte 97"),
        (b"\xed\xa0\x80", "not UTF-8 at byte 94"),
        (b"\xc3", "not UTF-8 at byte 94"),
        (b"\0", "a NUL at byte 94"),
        (b"<![CDATA[\0\0]]>", "a NUL at byte 103"),
    ] {
        let report = [head.as_slice(), wrong, tail].concat();
        let one = file(&report, 0);
        assert_eq!((one.status, one.counts.passed), (Passed, 2), "{} {one:?}", wrong.escape_ascii());
        assert_eq!(one.warnings.len(), 1, "{:?}", one.warnings);
        assert!(one.warnings[0].contains(told), "{:?}", one.warnings);
        let red = [
            head.as_slice(),
            wrong,
            b"</system-out></testcase><testcase name='b'><failure/></testcase></testsuite>",
        ];
        assert_eq!(file(&red.concat(), 0).status, Failed, "{}", wrong.escape_ascii());
        let printed = run(&report, b"", &[], 0);
        assert_eq!(printed.status, Passed, "{:?}", printed.warnings);
    }
    for markup in [
        b"<test\0case name='b'/>".as_slice(),
        b"<testcase name='b' sta\xfftus='failed'/>",
        b"<testcase name='b' status='fail\xffed'/>",
    ] {
        let report = [b"<testsuite><testcase name='a'/>".as_slice(), markup, b"</testsuite>"].concat();
        assert_eq!(file(&report, 0).status, Incomplete, "{}", markup.escape_ascii());
    }
}

#[test]
fn a_line_of_a_gigabyte_is_bounded() {
    let (chunk, times) = (vec![b'x'; 16 << 20], 64);
    let text = stream(b"", &chunk, times, b"\n");
    assert_eq!((text.status, text.warnings.len()), (Incomplete, 1), "{:?}", text.warnings);
    let times = 4;
    let tap = stream(b"1..1\nnot ok 1 - ", &chunk, times, b"\n");
    assert!(tap.status == Failed && is_bounded(&tap), "{:?}", tap.warnings);
    assert!(tap.warnings[0].ends_with("lines of more than 65536 bytes were cut"), "{:?}", tap.warnings);
    let out = stream(
        b"<testsuite><testcase name='a'><system-out>",
        &chunk,
        times,
        b"</system-out></testcase></testsuite>",
    );
    assert_eq!((out.status, out.counts.total), (Passed, 1), "{:?}", out.warnings);
    let id = stream(b"<testsuite><testcase name='", &chunk, times, b"'><failure/></testcase></testsuite>");
    assert!(id.status == Failed && id.failing.len() == 1 && is_bounded(&id), "{:?}", id.warnings);
    let tag = stream(b"<testsuite><", &chunk, times, b">");
    assert_eq!(tag.status, Incomplete);
    assert!(tag.warnings[0].contains("more than 262144 bytes"), "{:?}", tag.warnings);
    let event = stream(b"{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"", &chunk, 4, b"\"}\n");
    assert_eq!((event.status, event.warnings.len()), (Incomplete, 1), "{:?}", event.warnings);
    let document = stream(
        b"{\"numTotalTests\":1,\"success\":false,\"testResults\":[{\"name\":\"a\",\"assertionResults\":[{\"status\":\"failed\",\"title\":\"",
        &chunk,
        4,
        b"\"}]}]}\n",
    );
    assert!(
        document.status == Failed && document.failing.len() == 1 && is_bounded(&document),
        "{document:?}"
    );
    let mut reader = RunReader::new(Root::none());
    (0..4).for_each(|_| reader.push(Stream::Stdout, &chunk));
    assert_eq!(reader.finish(ExitKind::Code(0)).runner, "exit");
}

#[test]
fn wrong_encodings_are_named() {
    let utf16: Vec<u8> = "\u{feff}1..1\nok 1 - é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(file(&utf16, 0).status, Passed, "what a shell of Windows redirects");
    let mut half: Vec<u8> = "\u{feff}<testsuite>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    half.extend([0x00, 0xdc, b'<', 0]);
    let wrong: &[(&[u8], &str)] = &[
        (
            b"<?xml version='1.0' encoding='EBCDIC-US'?><testsuite><testcase/></testsuite>",
            "\"EBCDIC-US\" is not read",
        ),
        (&half, "cut short"),
        (b"\xfe\xff<\0t\0", "cut short"),
        (&utf16[..utf16.len() - 3], ""),
    ];
    let replaced: &[(&[u8], &str)] = &[
        (
            b"<?xml version='1.0' encoding='UTF-8'?><testsuite><testcase name='caf\xe9'/></testsuite>",
            "not UTF-8 at byte 68",
        ),
        (b"<testsuite><testcase name='\xff'/></testsuite>", "not UTF-8 at byte 27"),
        (
            b"<?xml version='1.0' encoding='Shift_JIS'?><testsuite><testcase name='\x83'/></testsuite>",
            "not Shift_JIS",
        ),
    ];
    for (bytes, part) in replaced {
        let one = file(bytes, 0);
        assert_eq!((one.status, one.warnings.len()), (Passed, 1), "{}", bytes.escape_ascii());
        assert!(one.warnings[0].contains(part), "{} {:?}", bytes.escape_ascii(), one.warnings);
    }
    for (bytes, part) in wrong {
        let one = file(bytes, 0);
        assert_ne!(one.status, if part.is_empty() { Failed } else { Passed }, "{}", bytes.escape_ascii());
        assert!(
            part.is_empty() || one.warnings[0].contains(part),
            "{} {:?}",
            bytes.escape_ascii(),
            one.warnings
        );
    }
}

#[test]
fn a_report_that_names_itself_another_format_is_what_it_holds() {
    let junit = b"<testsuite><testcase name='a'><failure/></testcase></testsuite>";
    for name in ["r.json", "r.tap", "r.trx", "TestResults.nunit.xml", "go.jsonl", ""] {
        let one = run(b"", b"", &[(name, junit)], 0);
        assert_eq!((one.status, one.runner.as_str()), (Failed, "junit"), "{name}");
    }
    let wrong: &[&[u8]] = &[
        b"<TestRun><testsuite><testcase name='a'/></testsuite></TestRun>",
        b"<testsuite><test-case result='Passed'/></testsuite>",
        b"<assemblies><testcase name='a'/></assemblies>",
        b"<junit><testsuite><testcase name='a'/></testsuite></junit>",
        b"<?xml version='1.0'?>{\"numTotalTests\":1,\"testResults\":[],\"success\":true}",
        b"{\"numTotalTests\":1,\"testResults\":{\"Action\":\"pass\"},\"success\":true}",
        b"TAP version 14\n{\"Action\":\"pass\",\"Package\":\"p\"}\n",
        b"%PDF-1.7",
        b"",
        b"   \n\n",
    ];
    for bytes in wrong {
        let one = file(bytes, 0);
        assert_ne!(one.status, Passed, "{}", bytes.escape_ascii());
    }
}

#[test]
fn ids_that_come_twice_or_carry_escapes_are_safe() {
    let id = "a\\n\\u001b[31mb\\u0007\\u202ec";
    let junit = "<testcase name='a&#10;&#x1B;[31mb&#7;c'><failure message='x'/></testcase>";
    let reports = [
        format!("<testsuite>{junit}{junit}</testsuite>"),
        format!(
            "{{\"numTotalTests\":2,\"success\":false,\"testResults\":[{{\"name\":\"f\",\"assertionResults\":[{{\"title\":\"{id}\",\"status\":\"failed\"}},{{\"title\":\"{id}\",\"status\":\"failed\"}}]}}]}}"
        ),
        "1..2\nnot ok 1 - a\u{1b}[31mb\u{7}c\nnot ok 2 - a\u{1b}[31mb\u{7}c\n".to_owned(),
        format!(
            "{{\"$report_type\":\"SessionStart\"}}\n{}{{\"$report_type\":\"SessionFinish\",\"exitstatus\":1}}\n",
            format!("{{\"$report_type\":\"TestReport\",\"nodeid\":\"{id}\",\"when\":\"call\",\"outcome\":\"failed\"}}\n{{\"$report_type\":\"TestReport\",\"nodeid\":\"{id}\",\"when\":\"teardown\",\"outcome\":\"passed\"}}\n").repeat(2)
        ),
    ];
    for report in reports {
        let one = file(report.as_bytes(), 0);
        assert_eq!((one.status, one.counts.failing(), one.failing.len()), (Failed, 2, 1), "{report} {one:?}");
        assert!(is_bounded(&one), "{:?}", one.failing);
    }
}

#[test]
fn where_chunks_end_changes_nothing() {
    let declared_late =
        format!("<?xml version='1.0' encoding='{}'?><testsuite><testcase/></testsuite>", "x".repeat(2000));
    let twice = "<testsuite><testcase name='a'/></testsuite></testsuite>\n1..1\nok 1\n";
    for text in [declared_late.as_str(), twice] {
        for size in [1, 7, 500, 1500] {
            let mut reader = RunReader::new(Root::none());
            let mut report = reader.open_report("r");
            let _ = text.as_bytes().chunks(size).try_for_each(|chunk| report.push(chunk));
            reader.close_report(report);
            text.as_bytes().chunks(size).for_each(|chunk| reader.push(Stream::Stdout, chunk));
            let chunked = reader.finish(ExitKind::Code(0));
            let whole = run(text.as_bytes(), b"", &[("r", text.as_bytes())], 0);
            assert_eq!((chunked.status, chunked.counts), (whole.status, whole.counts), "{size} {chunked:?}");
        }
    }
}
