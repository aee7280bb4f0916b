//! Messages as cargo and git write them: `error[rule-id]: what happened`, then `  help: ` and the exact command that
//! resolves it (docs/exit-codes.md). They go to stderr; the caller prints.

use andon_core::domain::decision::{Decision, StandingHalt, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::{Finding, Level};

use super::halted;
use super::page::Page;
use super::phrase;
use super::report_file;
use super::style::Style;

/// How grave a message is, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Note,
    /// Nothing is refused.
    Warning,
    /// Something is refused or went wrong.
    Error,
}

impl Severity {
    /// The word in text and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    pub(super) fn paint(self, style: Style, text: &str) -> String {
        match self {
            Self::Note => style.bold(text),
            Self::Warning => style.yellow(text),
            Self::Error => style.red(text),
        }
    }
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Off | Level::Note => Self::Note,
            Level::Warn => Self::Warning,
            Level::Block | Level::Halt => Self::Error,
        }
    }
}

/// The message of an open halt.
pub fn standing(standing: &StandingHalt) -> Diagnostic {
    halted(standing, Style::Plain)
}

/// That the loop is halted, since when and why.
fn halted(standing: &StandingHalt, style: Style) -> Diagnostic {
    let halt = &standing.halt;
    let (since, reason) = (style.when(halt.at), phrase::reason(halt.reason));
    Diagnostic::error(format!("the loop is halted since {since} ({reason}): {}", halt.message))
        .code(halt.rule.clone())
        .help(format!("read {}", report_file::path(halt.report_file)))
        .help(CONTINUE)
}

/// How a halt ends, as messages say it. The other way, deleting the file, is only in the file itself: agents read
/// messages, the file is for the person.
const CONTINUE: &str = "then a person decides and runs: andon resume --reason \"...\"";

/// The messages of `diagnostics`, in the order given.
pub fn diagnostics(diagnostics: &[Diagnostic], style: Style) -> String {
    let mut page = Page::new(style);
    for diagnostic in diagnostics {
        push(&mut page, diagnostic);
    }
    page.finish()
}

/// A message with its place, its hints and its colour.
pub fn diagnostic(diagnostic: &Diagnostic, style: Style) -> String {
    diagnostics(std::slice::from_ref(diagnostic), style)
}

/// Adds a message to a page.
pub fn push(page: &mut Page, diagnostic: &Diagnostic) {
    let head = head(diagnostic.level.into(), diagnostic.code.as_deref(), page.style);
    page.wrapped(&format!("{head}: {}", phrase::message(&diagnostic.message)));
    if let Some(location) = &diagnostic.location {
        page.line(&format!("  --> {}", phrase::message(&location.to_string())));
    }
    for help in &diagnostic.help {
        push_help(page, help);
    }
}

/// Adds a hint to a page.
pub fn push_help(page: &mut Page, help: &str) {
    page.line(&format!("  {}", help_line(help, page.style)));
}

/// `help: ...`, without indentation.
pub(super) fn help_line(help: &str, style: Style) -> String {
    format!("{}: {}", style.bold("help"), phrase::message(help))
}

/// `error[rule-id]`, painted.
pub fn head(severity: Severity, code: Option<&str>, style: Style) -> String {
    let word = severity.as_str();
    severity.paint(
        style,
        &code.map_or_else(|| word.to_owned(), |code| format!("{word}[{}]", phrase::message(code))),
    )
}

/// What came of a decision for the one who asked: the first message begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// What was asked for is done, or nothing was asked for.
    Done,
    /// git does not make the commit.
    CommitRefused,
    /// git does not push.
    PushRefused,
    /// git does not begin the rebase.
    RebaseRefused,
    /// git does not commit the patch.
    PatchRefused,
}

impl Consequence {
    /// What happened, in two words; `None` when nothing was refused.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::CommitRefused => Some("commit refused"),
            Self::PushRefused => Some("push refused"),
            Self::RebaseRefused => Some("rebase refused, nothing was moved"),
            Self::PatchRefused => Some("patch refused"),
            Self::Done => None,
        }
    }

    /// The same messages; the first begins with what happened.
    pub fn before(self, mut messages: Vec<Diagnostic>) -> Vec<Diagnostic> {
        begin(&mut messages, self.words());
        messages
    }
}

/// A decision for its caller: the unanswered halt, then the findings, gravest first. Notes and switched-off rules are
/// not shown; empty when there is nothing to say.
pub fn decision(decision: &Decision, consequence: Consequence, style: Style) -> String {
    let mut page = Page::new(style);
    let shown = gravest_first(&decision.findings);
    let standing = decision.standing.as_ref();
    let findings = shown.iter().filter(|finding| !is_repeated(finding, &shown, standing));
    let mut messages: Vec<Diagnostic> =
        standing.map(|standing| halted(standing, style)).into_iter().collect();
    messages.extend(findings.map(|finding| Diagnostic::from(*finding)));
    let is_new_halt = decision.verdict == Verdict::Halt && standing.is_none();
    begin(&mut messages, consequence.words().or(is_new_halt.then_some("loop halted")));
    for message in &messages {
        push(&mut page, message);
    }
    if is_new_halt {
        let note = fresh_halt(decision);
        let lines = decision.halted.as_deref().map(halted::lines).unwrap_or_default();
        push(&mut page, &Diagnostic { help: Vec::new(), ..note.clone() });
        for line in lines {
            page.line(&format!("  {line}"));
        }
        for help in &note.help {
            push_help(&mut page, help);
        }
    }
    page.finish()
}

fn begin(messages: &mut [Diagnostic], what: Option<&str>) {
    if let Some((first, what)) = messages.first_mut().filter(|one| one.level >= Level::Block).zip(what) {
        first.message = format!("{what}: {}", first.message);
    }
}

/// Whether another message says the same: one cause gives one error.
fn is_repeated(finding: &Finding, shown: &[&Finding], standing: Option<&StandingHalt>) -> bool {
    let standing = standing.map(|standing| standing.halt.rule.as_str());
    let other = |rule: &str| {
        standing == Some(rule) || shown.iter().any(|one| one.rule == rule && one.level >= finding.level)
    };
    standing == Some(finding.rule) || finding.echo_of.is_some_and(other)
}

/// The findings that are shown, gravest first, else in the order given.
pub fn gravest_first(findings: &[Finding]) -> Vec<&Finding> {
    let mut shown: Vec<_> = findings.iter().filter(|finding| finding.level > Level::Note).collect();
    shown.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    shown
}

fn fresh_halt(decision: &Decision) -> Diagnostic {
    let why = decision.reason.map_or("", phrase::reason);
    let halting = decision.findings.iter().filter(|finding| finding.level == Level::Halt);
    let report_file = halting.map(|finding| finding.report_file).next();
    let note = Diagnostic::note(format!("the loop stays halted ({why}) until a person answers"));
    match report_file {
        Some(report_file) => note.help(format!("read {}", report_file::path(report_file))).help(CONTINUE),
        None => note.help(CONTINUE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    #[test]
    fn a_diagnostic_names_place_and_hint() {
        let text = diagnostic(
            &Diagnostic::error("unknown key `rulez`")
                .code("config")
                .at("andon.toml:3:1")
                .help("did you mean `rules`?"),
            Style::Plain,
        );
        assert_eq!(
            text,
            "error[config]: unknown key `rulez`\n  --> andon.toml:3:1\n  help: did you mean `rules`?\n"
        );
        assert_eq!(diagnostic(&Diagnostic::warning("x"), Style::Colour), "\u{1b}[33mwarning\u{1b}[0m: x\n");
    }

    #[test]
    fn hostile_text_stays_on_its_line() {
        let text = diagnostic(
            &Diagnostic::error("a\nerror[fake]: b\u{1b}[2J").help("rm \u{202e}x\n").at("p\r"),
            Style::Plain,
        );
        assert_eq!(text, "error: a\\nerror[fake]: b\\u{1b}[2J\n  --> p\\r\n  help: rm \\u{202e}x\\n\n");
    }

    #[test]
    fn findings_come_gravest_first_and_notes_are_hidden() {
        let mut value = samples::decision(Verdict::Block);
        value.findings = vec![
            samples::finding("hook-bypass", Level::Note),
            samples::finding("recurrence", Level::Warn),
            samples::finding("untested-edit", Level::Block),
        ];
        assert_eq!(
            decision(&value, Consequence::Done, Style::Plain),
            "error[untested-edit]: it happened\n  help: andon test\n\
             warning[recurrence]: it happened\n  help: andon test\n"
        );
    }

    #[test]
    fn a_fresh_halt_says_what_to_read() {
        let mut value = samples::decision(Verdict::Halt);
        value.findings = vec![samples::finding("oscillation", Level::Halt)];
        assert_eq!(
            decision(&value, Consequence::Done, Style::Plain),
            "error[oscillation]: loop halted: it happened\n  help: andon test\n\
             note: the loop stays halted (oscillating) until a person answers\n\
             \x20 help: read .andon/CHECKPOINT.md\n\
             \x20 help: then a person decides and runs: andon resume --reason \"...\"\n"
        );
    }

    #[test]
    fn a_standing_halt_tells_when_why_and_how_on() {
        let mut value = samples::decision(Verdict::Halt);
        value.standing = Some(samples::standing());
        assert_eq!(
            decision(&value, Consequence::Done, Style::Plain),
            "error[oscillation]: the loop is halted since 2026-11-20T15:30:00Z (oscillating): \
             the code state alternates A/B/A/B\n\
             \x20 help: read .andon/CHECKPOINT.md\n\
             \x20 help: then a person decides and runs: andon resume --reason \"...\"\n"
        );
    }

    #[test]
    fn nothing_to_say_is_silence() {
        let mut value = samples::decision(Verdict::Allow);
        value.findings = vec![samples::finding("hook-bypass", Level::Note)];
        assert_eq!(decision(&value, Consequence::Done, Style::Plain), "");
    }
}
