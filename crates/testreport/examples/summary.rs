//! Says how the tests of each report file went: `cargo run --example summary -- report.xml`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for people at a terminal")]

use testreport::{ExitKind, ParsedRun, ReportInput, Root, Scheme, read};

const SCHEME: Scheme = Scheme::named("summary/signature@1");

fn main() -> std::io::Result<()> {
    for name in std::env::args().skip(1) {
        let bytes = std::fs::read(&name)?;
        // The exit code of the runner is not known here; 0 says nothing against the report.
        let run = read(&[ReportInput { name: &name, bytes: &bytes }], ExitKind::Code(0), &Root::none());
        print!("{}", summary(&name, &run));
    }
    Ok(())
}

fn summary(name: &str, run: &ParsedRun) -> String {
    let counts = run.counts;
    let mut lines = vec![format!(
        "{name}: {} ({}), {} passed, {} failed, {} skipped",
        run.status.as_str(),
        run.runner,
        counts.passed,
        counts.failing(),
        counts.skipped
    )];
    lines.extend(run.failing.iter().map(|id| format!("  fails: {id}")));
    lines.extend(run.warnings.iter().map(|warning| format!("  warning: {warning}")));
    if !run.failing.is_empty() {
        let signature = SCHEME.result(&run.runner, "", run.status, &run.failing);
        lines.push(format!("  signature: {signature}"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_summed_up() {
        let xml = br#"<testsuite name="s" tests="2" failures="1"><testcase classname="a" name="adds"/>
            <testcase classname="a" name="divides"><failure message="by zero"/></testcase></testsuite>"#;
        let run = read(&[ReportInput { name: "r.xml", bytes: xml }], ExitKind::Code(1), &Root::none());
        let text = summary("r.xml", &run);
        assert!(text.starts_with("r.xml: failed (junit), 1 passed, 1 failed, 0 skipped\n"), "{text}");
        assert!(text.contains("  signature: "), "{text}");
    }
}
