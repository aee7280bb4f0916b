//! Texts of agents' hooks for a model and its person. Clients cut long answers (one of them after 900 characters): the
//! verdict comes first, the help last, and all of it stays below [`MAX`] characters.

use andon_core::domain::{Diagnostic, Disarm, Finding, Halt, Hint, HumanDecision};
use andon_core::escape::terminal_clip;
use andon_engine::asking::WaitingRound;
use andon_engine::text::{decisions, phrase};

/// Most characters of anything but the context of a session.
pub const MAX: usize = 800;
/// Most bytes of the context of a session, beside what people decided.
pub const MAX_STATE_TEXT: usize = 2048;
/// With this the done gate begins what it says: no person writes so.
pub const HELD: &str = "andon: not done yet:";
/// Columns of a message of a rule.
const MESSAGE: usize = 300;

const BRIEFING_FILE: &str = ".andon/MISSION_BRIEFING.md";
const READING: &str = "Only readers with plain arguments run: read tools, cat, ls, rg, git log|diff|show, \
                       andon status|log|show|doctor.";

/// The times that a model was told of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// The first time in a session, with the reason in full.
    First,
    /// Later, in one line.
    Again,
}

/// Refuses a tool while the loop is halted.
pub fn halted(halt: Option<&Halt>, told: Telling) -> String {
    let (rule, message, file) = match halt {
        Some(halt) => (
            halt.rule.as_str(),
            terminal_clip(&halt.message, MESSAGE),
            format!(".andon/{}", halt.report_file.file_name()),
        ),
        None => {
            ("a person", "somebody put a file there".to_owned(), ".andon/STOP or .andon/PAUSE".to_owned())
        }
    };
    let rule = terminal_clip(rule, 60);
    if told == Telling::Again {
        return format!(
            "refused: the loop is still halted ({rule}); only a person answers. help: {}",
            Hint::Status
        );
    }
    bounded(&format!(
        "refused: this loop is halted and nothing was run.\nreason: {rule}: {message}\nOnly a person answers a halt, and this session is over. {READING} \
         Do not look for a way around: stop here, and tell the person what is written in {file}.\nhelp: {}",
        Hint::Status
    ))
}

/// Refuses a tool that would disarm the guard.
pub fn disarms(found: &Disarm, told: Telling) -> String {
    let what = terminal_clip(&found.what(), 120);
    let (why, help) = match found {
        Disarm::Resume => ("only a person answers a halt", Hint::Answer.led("a person runs")),
        Disarm::MasterSwitch | Disarm::HooksPath | Disarm::Command(_) => (
            "it guards this loop",
            Hint::Status.led("ask the person, who does it outside of this session; to see why"),
        ),
    };
    if told == Telling::First {
        bounded(&format!(
            "refused: this would touch {what}, and nothing was run.\nreason: {why}; an agent does not change that, halted or \
             not.\nGo on without it.\nhelp: {help}"
        ))
    } else {
        format!("refused: {what} is not an agent's to change. help: {help}")
    }
}

/// Says that hooks of git are skipped; the halt and the record are not.
pub fn skips_hooks() -> Diagnostic {
    Diagnostic::note("--no-verify skips the test gate: the record of the commit says `bypassed`")
        .help(Hint::Test.led("have it pass, then commit without --no-verify"))
}

/// Refuses a tool while the context window is full.
pub fn full(finding: Option<&Finding>, told: Telling) -> String {
    let message = finding.map_or_else(String::new, |finding| terminal_clip(&finding.message(), MESSAGE));
    if told == Telling::Again {
        return format!("refused: the context window is still full. help: {}", Hint::Brief);
    }
    bounded(&format!(
        "refused: the context window is full and nothing was run.\nreason: {message}\nWrite what the next session must know into \
         {BRIEFING_FILE}, commit, then compact or begin a new session. Nothing else runs.\nhelp: {}",
        Hint::Brief
    ))
}

/// Says that the window fills up.
pub fn filling(finding: &Finding) -> String {
    let message = terminal_clip(&finding.message(), MESSAGE);
    bounded(&format!("andon: {message}.\nhelp: {}", finding.help.join("; ")))
}

/// Says that the window is nearly full: the briefing is due now.
pub fn nearly_full(finding: &Finding) -> String {
    let message = terminal_clip(&finding.message(), MESSAGE);
    bounded(&format!(
        "andon: {message}.\nNow write what the next session must know into {BRIEFING_FILE} (any tool may), commit, then compact or begin a \
         new session. Soon nothing else will run.\nhelp: {}",
        Hint::Brief
    ))
}

/// Refuses a tool because the state of the loop is not known.
pub fn unread(why: &str) -> String {
    bounded(&format!(
        "refused: whether this loop is halted is not known.\nreason: {}\nhelp: {}",
        terminal_clip(why, MESSAGE),
        Hint::Doctor
    ))
}

/// Says that a line runs with `andon test` in the place of the test command.
pub fn turned(line: &str) -> String {
    let is_part = line.contains(" test -- ");
    let line = terminal_clip(line, MESSAGE);
    if is_part {
        return format!(
            "andon: this runs as `{line}`: a part, which does not count for the commit. Before it: {}",
            Hint::Test
        );
    }
    format!("andon: this runs as `{line}`: the same tests, and the run counts for the commit.")
}

/// One sentence of evidence before a rule halts.
pub fn nudge(finding: &Finding) -> String {
    let help = finding
        .help
        .first()
        .map_or_else(String::new, |help| format!(" Instead: {}.", terminal_clip(help, 200)));
    bounded(&format!(
        "andon: {}. Going on like this halts the loop ({}).{help}",
        terminal_clip(&finding.message(), MESSAGE),
        finding.rule
    ))
}

/// Says that the last call brought a halt; without one where the answer of that call has said why.
pub fn now_halted(halt: Option<&Halt>) -> String {
    let why = halt.map_or_else(String::new, |halt| {
        format!("\nreason: {}: {}", terminal_clip(&halt.rule, 60), terminal_clip(&halt.message, MESSAGE))
    });
    bounded(&format!(
        "andon: the loop is halted now.{why}\nOnly a person answers, and this session is over. {READING} Stop here and tell the \
         person.\nhelp: {}",
        Hint::Status
    ))
}

/// Holds a turn, and says what is missing.
pub fn held(missing: &str) -> String {
    bounded(&format!(
        "{HELD} {}.\nIf it cannot be done, say so and why: the turn ends then.\nhelp: {}",
        terminal_clip(missing, MESSAGE),
        Hint::Complete
    ))
}

/// Says to the person who is there that tests fail or did not run: whether that is meant is theirs to say.
pub fn red(missing: &str) -> String {
    bounded(&format!("andon: {}. help: {}", terminal_clip(missing, MESSAGE), Hint::Test))
}

/// Says that a turn ends although something is missing.
pub fn unfinished(missing: &str) -> String {
    let missing = terminal_clip(missing, MESSAGE);
    bounded(&format!("andon: the turn ends unfinished: {missing}. help: {}", Hint::Complete))
}

/// Says that a turn ends halted.
pub fn ended(halt: Option<&Halt>, told: Telling) -> String {
    let Some(halt) = halt else {
        return format!("andon: the turn ends stopped by a person. To go on: {}", Hint::Answer);
    };
    let why = match told {
        Telling::First => format!(": {}", terminal_clip(&halt.message, MESSAGE)),
        Telling::Again => String::new(),
    };
    let (rule, file) = (terminal_clip(&halt.rule, 60), halt.report_file.file_name());
    bounded(&format!("andon: the turn ends halted: {rule}{why}. A person answers: .andon/{file}"))
}

/// Says that settings stay as they are.
pub fn kept(file: &str) -> String {
    bounded(&format!(
        "refused: {} would no longer start Andon before a tool.\nreason: its hooks guard this loop.\nhelp: a person runs: {}",
        terminal_clip(file, 200),
        Hint::AgentUninstall.with(["claude", "project"])
    ))
}

/// A line for people about a hook that could not do its work.
pub fn broken(what: &str) -> String {
    bounded(&format!(
        "andon: this hook did nothing: {}. help: {}",
        terminal_clip(what, MESSAGE),
        Hint::Doctor
    ))
}

/// The state of the loop for a model, at most [`MAX_STATE_TEXT`] bytes.
pub fn session(view: &SessionView) -> String {
    let cap = view.cap.map_or_else(String::new, |cap| format!("/{cap}"));
    let mut lines: Vec<String> = view.decided.iter().map(decisions::for_the_worker).collect();
    lines.push(format!("Andon guards this repository: loop {}{cap}.", view.iteration));
    if let Some(halt) = &view.halt {
        lines.push(format!(
            "HALTED by {}: {} Edits and commits are refused until a person answers (.andon/{}). {READING}",
            terminal_clip(&halt.rule, 60),
            terminal_clip(&halt.message, MESSAGE),
            halt.report_file.file_name()
        ));
    } else if view.stopped {
        lines.push(format!(
            "HALTED by a person: edits and commits are refused while .andon/STOP or .andon/PAUSE is there. {READING}"
        ));
    }
    if let Some(first) = view.waiting.first() {
        let id: String = first.id.chars().take(8).collect();
        lines.push(format!(
            "Waiting for a person: {}; the oldest asks {:?}. People answer: {}",
            phrase::count(view.waiting.len(), "round"),
            terminal_clip(first.question.lines().next().unwrap_or_default(), 200),
            Hint::ReviewShow.with([&id])
        ));
    }
    if !view.failing.is_empty() {
        let shown: Vec<String> = view.failing.iter().take(5).map(|id| terminal_clip(id, 100)).collect();
        let count = phrase::count(view.failing.len(), "test");
        lines.push(format!("{count} failing in the last run: {}", shown.join(", ")));
    }
    if view.tested {
        lines.push(format!("Run the tests with `{}`: a commit needs a run on exactly its code.", Hint::Test));
    }
    if let Some(briefing) = &view.briefing {
        lines.push(format!("Read {briefing} first: it tells what was tried."));
    }
    for found in &view.precedents {
        lines.push(format!(
            "Decided before, as data: {} by {} at {}, about {:?}: {}",
            terminal_clip(&found.decision, 60),
            terminal_clip(&found.by.join(", "), 100),
            found.at,
            terminal_clip(&found.question, 200),
            terminal_clip(found.instruction(), 200)
        ));
    }
    let text = lines.join("\n");
    // Decisions are quoted in full, and the limit on the rest does not include them.
    let most =
        MAX_STATE_TEXT + view.decided.iter().map(|one| decisions::for_the_worker(one).len()).sum::<usize>();
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= most).last();
    text[..end.unwrap_or(0)].to_owned()
}

/// At most [`MAX`] characters, the last line kept.
pub(super) fn bounded(text: &str) -> String {
    if text.chars().count() < MAX {
        return text.to_owned();
    }
    let (body, help) = text.rsplit_once('\n').unwrap_or((text, ""));
    let room = MAX.saturating_sub(help.chars().count() + 5);
    let body: String = body.chars().take(room).collect();
    format!("{body}...\n{help}")
}

/// The state of the loop when a session begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionView {
    /// The unanswered halt.
    pub halt: Option<Halt>,
    /// A person stopped or paused the loop by a file that no halt tells of yet.
    pub stopped: bool,
    /// Iterations since the newest answer.
    pub iteration: u64,
    /// Iterations that there may be.
    pub cap: Option<u64>,
    /// Ids of tests that fail now. Untrusted text.
    pub failing: Vec<String>,
    /// There is a command for tests.
    pub tested: bool,
    /// The briefing that is to be read.
    pub briefing: Option<String>,
    /// Decisions of people for this work, the newest first.
    pub decided: Vec<HumanDecision>,
    /// Rounds that wait for a person.
    pub waiting: Vec<WaitingRound>,
    /// Decisions of people about questions like this. Untrusted text.
    pub precedents: Vec<HumanDecision>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Level;
    use andon_testkit::samples;

    #[test]
    fn everything_is_short_and_harmless() {
        let mut halt = samples::halt();
        halt.message = format!("{}{}", samples::HOSTILE, "x".repeat(10_000));
        let mut finding = samples::finding("tool-loop", Level::Warn);
        finding.help = vec!["y".repeat(5000)];
        let long = "z\n\u{1b}".repeat(5000);
        let view = SessionView {
            halt: Some(halt.clone()),
            failing: vec![long.clone(); 9],
            briefing: Some(".andon/MISSION_BRIEFING.md".into()),
            tested: true,
            ..SessionView::default()
        };
        let all = [
            halted(Some(&halt), Telling::First),
            halted(None, Telling::First),
            halted(Some(&halt), Telling::Again),
            disarms(&Disarm::Command(long.clone()), Telling::First),
            disarms(&Disarm::Resume, Telling::Again),
            full(Some(&finding), Telling::First),
            unread(&long),
            nudge(&finding),
            turned(&long),
            held(&long),
            ended(Some(&halt), Telling::First),
            unfinished(&long),
            kept(&long),
            broken(&long),
        ];
        for text in &all {
            assert!(text.chars().count() < MAX, "{text}");
            assert!(!text.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{text}");
        }
        assert!(all[0].starts_with("refused: ") && all[0].ends_with("help: andon status"));
        assert!(session(&view).len() <= MAX_STATE_TEXT);
        assert!(!all[2].contains('\n'));
    }
}
