//! Messages as cargo and git write them: `error[rule-id]: what happened`, then `  help: ` and the exact command that
//! resolves it (docs/exit-codes.md). They go to stderr; the caller prints.

use super::halt::{self, headline};
use super::{Page, Style, page::with_command, phrase, report_file};
use andon_core::domain::{
    Decision, Diagnostic, Finding, Halt, Hint, Level, Presence, PreventedStep, Severity, StandingHalt,
    TextPosition, Timestamp, Verdict,
};
use andon_core::escape;

fn paint(severity: Severity, style: Style, text: &str) -> String {
    match severity {
        Severity::Note => style.bold(text),
        Severity::Warning => style.yellow(text),
        Severity::Error => style.red(text),
    }
}

/// The message of an open halt, its time as `local` says it.
pub fn standing(standing: &StandingHalt, local: fn(Timestamp) -> String) -> Diagnostic {
    let halt = &standing.halt;
    let (since, who, what) = (local(halt.at), headline(halt), halt::what(halt));
    Diagnostic::error(format!("the loop has been halted since {since}: {who}: {what}"))
        .code(halt.rule.clone())
        .help(format!("read {}", report_file::path(halt.report_file)))
        .help(Hint::Answer.led(CONTINUE))
}

/// The way to end a halt, in messages. The other way, deleting the file, is only in the documentation: agents read
/// messages and files.
const CONTINUE: &str = "to continue, a person runs";

/// The messages of `diagnostics`, in the order given.
pub fn diagnostics(diagnostics: &[Diagnostic], style: Style) -> String {
    let mut page = Page::new(style);
    push_all(&mut page, diagnostics);
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
    let location = diagnostic.location.as_ref();
    page.all(location.map(|location| format!("  --> {}", phrase::message(&location.to_string()))));
    if let (Some(at), Some(line)) = (diagnostic.position(), &diagnostic.excerpt) {
        push_excerpt(page, at, line);
    }
    for help in &diagnostic.help {
        push_help(page, help);
    }
}

/// Adds several messages below a blank line.
pub fn push_all(page: &mut Page, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        page.blank();
    }
    for diagnostic in diagnostics {
        push(page, diagnostic);
    }
}

/// Longer lines are not shown: what is meant in them would not be seen.
const MAX_EXCERPT: usize = 160;

/// Adds the line that a message is about, and a mark below the place. Not by annotate-snippets: it draws the whole message,
/// breaks no lines, knows none of the escapes for a hostile text, and takes 110 KB.
fn push_excerpt(page: &mut Page, at: TextPosition, line: &str) {
    let Some((column, _)) = line.char_indices().nth(at.column.saturating_sub(1)) else { return };
    let shown = |text: &str| escape::terminal(&text.replace('\t', "  ")).into_owned();
    let text = shown(line);
    if text.chars().count() > MAX_EXCERPT {
        return;
    }
    let number = at.line.to_string();
    let gutter = " ".repeat(number.len());
    let mark = " ".repeat(textwrap::core::display_width(&shown(&line[..column])));
    page.line(&format!("   {gutter} |"));
    page.line(&format!("   {number} | {}", text.trim_end()));
    page.line(&format!("   {gutter} | {mark}{}", page.style.bold("^")));
}

/// Adds a hint to a page.
pub fn push_help(page: &mut Page, help: &str) {
    let line = format!("  {}: {}", page.style.bold("help"), with_command(&phrase::message(help)));
    page.wrap("", &line, "    ");
}

/// `error[rule-id]`, painted.
pub fn head(severity: Severity, code: Option<&str>, style: Style) -> String {
    let code = code.map_or_else(String::new, |code| format!("[{}]", phrase::message(code)));
    paint(severity, style, &format!("{}{code}", severity.as_str()))
}

/// The consequence of a decision for the one who asked: the first message begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// The request is granted, or there was none.
    Done,
    /// git does not take the step.
    Refused(PreventedStep),
    /// The client of an agent is not started.
    NotStarted,
}

impl Consequence {
    /// The event in two words; `None` when nothing was refused.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Refused(PreventedStep::Commit) => Some("commit refused"),
            Self::Refused(PreventedStep::Push) => Some("push refused"),
            Self::Refused(PreventedStep::Rebase) => Some("rebase refused, nothing was moved"),
            Self::Refused(PreventedStep::Patch) => Some("patch refused"),
            Self::NotStarted => Some("agent not started"),
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
    let is_new_halt = decision.verdict == Verdict::Halt && standing.is_none();
    let fresh = decision.halted.as_deref().filter(|_| is_new_halt);
    match (standing, fresh) {
        (Some(standing), _) => push_standing(&mut page, &standing.halt, consequence),
        (None, Some(halt)) => {
            let words = consequence.words().map(|words| format!("{words}: ")).unwrap_or_default();
            let try_first = decision.findings.iter().find(|finding| finding.rule == halt.rule);
            push_halt(&mut page, &format!("{words}HALTED: {}", headline(halt)), halt);
            page.line(NO_COMMIT);
            // Without a difference to look at, the hints are all that there is to say.
            let look = halt::look(halt);
            let hints = try_first.filter(|_| halt.summary.between().is_none());
            let hints = hints.into_iter().flat_map(|finding| finding.help.iter().take(HINTS));
            for help in hints.filter(|help| Some(*help) != look.as_ref()) {
                let mut hint = Page::new(style);
                push_help(&mut hint, help);
                if page.lines() + hint.lines() <= LINES {
                    push_help(&mut page, help);
                }
            }
        }
        (None, None) => {}
    }
    let halt = fresh.or(standing.map(|standing| &standing.halt)).map(|halt| halt.rule.as_str());
    let others = shown.iter().filter(|finding| {
        let is_the_halt = finding.level == Level::Halt && fresh.is_some() && halt == Some(finding.rule);
        !is_the_halt && !is_repeated(finding, &shown, standing)
    });
    // Beside a halt, what waits for its answer as well is named and no more: `andon status` has it.
    let (named, told): (Vec<&Finding>, Vec<&Finding>) =
        others.partition(|finding| fresh.is_some() && finding.level != Level::Block);
    if !named.is_empty() && page.lines() < LINES {
        let others = phrase::some_of(&named, OTHERS, |finding| finding.rule.to_owned());
        page.line(&format!("  also   {others}: {}", Hint::Status));
    }
    let mut messages: Vec<Diagnostic> = told.into_iter().map(Diagnostic::from).collect();
    if standing.is_none() && fresh.is_none() {
        begin(&mut messages, consequence.words().or(is_new_halt.then_some("loop halted")));
    }
    for message in &messages {
        push(&mut page, message);
    }
    if is_new_halt && fresh.is_none() {
        push(&mut page, &fresh_halt(decision));
    }
    page.finish()
}

/// A halt that waits for an answer, beside what a command failed with.
pub fn unanswered(halt: &Halt, style: Style) -> String {
    let mut page = Page::new(style);
    push_standing(&mut page, halt, Consequence::Done);
    page.finish()
}

fn push_standing(page: &mut Page, halt: &Halt, consequence: Consequence) {
    let words = consequence.words().map(|words| format!("{words}: ")).unwrap_or_default();
    let since = page.style.age(halt.at);
    push_halt(page, &format!("{words}halted {since}: {}", headline(halt)), halt);
    if consequence.words().is_none() {
        page.line(NO_COMMIT);
    }
}

/// Hints of a halt that has no commits to be looked at.
const HINTS: usize = 2;
/// Lines of a halt at 80 columns, with all that is said beside it.
const LINES: usize = 8;
/// Other findings that are named beside a halt.
const OTHERS: usize = 4;

/// A halt in at most eight lines: who is stuck, with what, since when and at what cost, and what to do.
fn push_halt(page: &mut Page, what: &str, halt: &Halt) {
    let head = head(Severity::Error, Some(&halt.rule), page.style);
    page.wrapped(&format!("{head}: {}", phrase::message(what)));
    halt::push(page, halt, Presence::Present);
    halt::push_answer(page, Hint::Answer.text(), halt);
}

/// The last line where nothing was refused yet.
const NO_COMMIT: &str = "  No commit is accepted until then.";

fn begin(messages: &mut [Diagnostic], what: Option<&str>) {
    if let Some((first, what)) = messages.first_mut().filter(|one| one.level >= Level::Block).zip(what) {
        first.message = format!("{what}: {}", first.message);
    }
}

/// True if another message says the same: one cause gives one error.
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
    let halting = decision.findings.iter().find(|finding| finding.level == Level::Halt);
    let read = halting.map(|finding| format!("read {}", report_file::path(finding.report_file)));
    Diagnostic::note("no commit is accepted until a person answers")
        .helps(read)
        .help(Hint::Answer.led(CONTINUE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Location;
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
    fn the_line_of_a_mistake_is_shown_with_a_mark() {
        let at = |line: &str, column| {
            let place = Location::Text { file: "a.toml".to_owned(), at: TextPosition { line: 12, column } };
            let found = Diagnostic { excerpt: Some(line.into()), ..Diagnostic::error("x").at(place) };
            diagnostic(&found, Style::Plain)
        };
        assert_eq!(
            at("\tfen\u{6f22} = 1", 7),
            "error: x\n  --> a.toml:12:7\n      |\n   12 |   fen\u{6f22} = 1\n      |         ^\n"
        );
        assert!(at("a\u{202e}b", 1).contains("| a\\u{202e}b"), "{}", at("a\u{202e}b", 1));
        for unseen in [at(&"x".repeat(161), 1), at("short", 9)] {
            assert!(!unseen.contains('|'), "{unseen}");
        }
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
    fn a_fresh_halt_is_told_in_eight_lines_and_its_finding_not_again() {
        let mut value = samples::decision(Verdict::Halt);
        value.findings = vec![samples::finding("oscillation", Level::Halt)];
        value.halted = Some(Box::new(samples::stuck_halt()));
        let text = decision(&value, Consequence::Done, Style::Plain.within(Some(80)));
        assert!(text.lines().count() <= 8, "{text}");
        assert!(
            text.starts_with(
                "error[oscillation]: HALTED: coder is going in circles in src/retry.py\n  what   "
            ),
            "{text}"
        );
        assert!(text.ends_with("'<decision>'\n  No commit is accepted until then.\n"), "{text}");
        assert!(!text.contains("it happened"), "{text}");
    }

    #[test]
    fn a_halt_that_is_known_by_its_finding_alone_says_what_to_read() {
        let mut value = samples::decision(Verdict::Halt);
        value.findings = vec![samples::finding("oscillation", Level::Halt)];
        assert_eq!(
            decision(&value, Consequence::Done, Style::Plain),
            "error[oscillation]: loop halted: it happened\n  help: andon test\n\
             note: no commit is accepted until a person answers\n\
             \x20 help: read .andon/CHECKPOINT.md\n\
             \x20 help: to continue, a person runs: andon resume --reason '<decision>'\n"
        );
    }

    #[test]
    fn a_standing_halt_tells_when_why_and_how_on() {
        let mut value = samples::decision(Verdict::Halt);
        value.standing = Some(samples::standing());
        assert_eq!(
            decision(&value, Consequence::Refused(PreventedStep::Commit), Style::Plain),
            "error[oscillation]: commit refused: halted 2026-11-20T15:30:00Z: the loop is going in circles\n\
             \x20 what   the code state alternates A/B/A/B\n\
             \x20 since  2026-11-20T15:30:00Z\n\
             \x20 look   .andon/CHECKPOINT.md\n\
             \x20 answer a person decides, then runs: andon resume --reason '<decision>'\n"
        );
    }

    #[test]
    fn nothing_to_say_is_silence() {
        let mut value = samples::decision(Verdict::Allow);
        value.findings = vec![samples::finding("hook-bypass", Level::Note)];
        assert_eq!(decision(&value, Consequence::Done, Style::Plain), "");
    }
}
