//! Ways to make a repository say something else than what happened, apart from the records themselves: other objects
//! shown in place of the real ones, clocks, names, test commands, and ledgers that went back.

use std::io::Read as _;

use super::{Case, Diagnostic, ExaminedCommits, JudgedRange, at, of_range, violation};
use andon_config::{Config, TestCommand};
use andon_core::domain::{CommitFact, CommitKind, Hint, Level, Recording, TestEvidence, Timestamp};
use andon_core::escape::shell_quote;
use andon_engine::Result;
use andon_engine::halts::{Gap, LedgerContents, lost_halts::gaps};
use andon_git::CommitInfo;
use andon_store::{Ledger, TamperedHow, Tampering, ledger::REF_PREFIX};

/// The refs under which git keeps objects that it shows in place of others.
const REPLACE: &str = "refs/replace/";
/// Seconds between a commit and its record that a slow hook may take.
const LATE: i64 = 600;
/// The difference in seconds that two clocks may have.
const DRIFT: i64 = 300;
/// Largest file of grafts that is read, in bytes.
const MAX_GRAFTS: u64 = 1 << 20;

/// Judges what the repository around the range gives away.
pub(super) fn around(whole: JudgedRange<'_>) -> Result<Vec<Diagnostic>> {
    let JudgedRange { case, examined } = whole;
    let mut violations = replaced(whole)?;
    violations.extend(grafted(whole));
    let ledgers = Ledger::open(case.repo);
    let reported = ledgers.tampered()?;
    violations.extend(reported.iter().map(ledger));
    let holdings = LedgerContents::collect(&ledgers.read_all()?.0);
    let gaps = gaps(&holdings, examined.facts()).into_iter();
    let unreported = gaps.filter(|(writer, _)| reported.iter().all(|one| one.writer != *writer));
    violations.extend(unreported.map(|(writer, gap)| gap_of(examined, &writer, &gap)));
    Ok(violations)
}

/// Judges what the fact of a commit gives away, given those before it.
pub(super) fn of_commit(
    case: &Case<'_>,
    examined: &ExaminedCommits,
    commit: &CommitInfo,
    fact: &CommitFact,
) -> impl Iterator<Item = Diagnostic> {
    let found =
        [other_command(case, commit, fact), other_author(commit, fact), clock(examined, commit, fact)];
    found.into_iter().flatten()
}

/// git shows and merges what `refs/replace` says; here the real objects are read. Who looks with git sees another
/// history than the one that is judged.
fn replaced(JudgedRange { case, examined }: JudgedRange<'_>) -> Result<Vec<Diagnostic>> {
    let mut violations = Vec::new();
    for (name, _) in case.repo.refs_with_prefix(REPLACE)? {
        let Some(id) = name.strip_prefix(REPLACE) else { continue };
        let commit = examined.named(id);
        let shown = |what: &str| format!("git shows another object in place of {what} (refs/replace)");
        let (level, what) = match commit {
            Some(_) => (Level::Block, shown("this commit")),
            None => (Level::Warn, format!("{}; it is not judged", shown(id))),
        };
        let help = Hint::Unreplace.with([id]);
        violations.push(violation(commit.map(|id| examined.at(id)), "replaced-object", level, what, &help));
    }
    Ok(violations)
}

/// A graft gives a commit other parents than it has, and with them another range.
fn grafted(JudgedRange { case, examined }: JudgedRange<'_>) -> Vec<Diagnostic> {
    let path = case.repo.common_dir().join("info").join("grafts");
    let mut text = String::new();
    let read = std::fs::File::open(&path).and_then(|file| file.take(MAX_GRAFTS).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    let help = Hint::SetGraftAside.text();
    let graft = |line: &str| {
        let named: Vec<&str> = line.split_whitespace().collect();
        let commit = named.iter().filter_map(|id| examined.named(id)).min_by_key(|id| examined.place(*id));
        let level = if commit.is_some() { Level::Block } else { Level::Warn };
        let id = named.first().copied().unwrap_or_default();
        let what = format!("a graft gives {id} other parents than it has: the range is not what it seems");
        violation(commit.map(|id| examined.at(id)), "grafted-history", level, what, help)
    };
    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).map(graft).collect()
}

fn ledger(tampered: &Tampering) -> Diagnostic {
    let Tampering { writer, how, .. } = tampered;
    let (code, what, help) = match how {
        TamperedHow::Forked(one, other) => (
            "forked-ledger",
            format!(
                "there are two ledgers of {writer}, {} and {}: one was rewritten",
                one.short(),
                other.short()
            ),
            Hint::LogBoth.with([&one.to_string(), &other.to_string()]),
        ),
        TamperedHow::Rewound(entry) => (
            "rewound-ledger",
            format!("the ledger of {writer} went back: another ledger has seen its entry {}", entry.short()),
            Hint::PushLedger.with([writer, &entry.to_string()]),
        ),
        TamperedHow::Gone(entry) => (
            "missing-ledger",
            format!("the ledger of {writer} is gone: another ledger has seen its entry {}", entry.short()),
            Hint::RestoreLedger.with([writer, &entry.to_string()]),
        ),
    };
    of_range(code, Level::Block, what, &help)
}

/// A ledger that lacks an entry which a record names; an answered one is only a note.
fn gap_of(examined: &ExaminedCommits, writer: &str, gap: &Gap) -> Diagnostic {
    let level = if gap.answered { Level::Warn } else { Level::Block };
    let entry = gap.entry.short();
    let what = format!(
        "the record names entry {entry} of the ledger of {writer}, which is not there: it was removed, rewound or not fetched"
    );
    let help =
        format!("where no clone has it, a person finds out who removed {REF_PREFIX}{writer}: {}", Hint::Sync);
    violation(gap.named_by.map(|id| examined.at(id)), "missing-ledger", level, what, &help)
}

/// The command of a scope that is another one than that of the left side. Where that has no scopes, the tip decides.
fn other_of_scopes(config: &Config, tests: &TestEvidence) -> Option<(String, String)> {
    if config.test.scopes.settings.is_empty() {
        return None;
    }
    // The command that tests everything speaks for each scope.
    let all = config.test.command.as_ref().map(TestCommand::display);
    tests.scopes.iter().find_map(|row| {
        let wanted = config.command_of_scope(&row.name)?.display();
        let ran = &row.tests.command;
        (*ran != wanted && Some(ran) != all.as_ref()).then(|| (ran.clone(), wanted))
    })
}

/// A range that brings its own test command does not prove anything by it.
fn other_command(case: &Case<'_>, commit: &CommitInfo, fact: &CommitFact) -> Option<Diagnostic> {
    let tests = fact.record.tests.as_ref()?;
    let (ran, wanted) = if tests.command == TestEvidence::OF_SCOPES {
        other_of_scopes(case.config, tests)?
    } else {
        (tests.command.clone(), case.config.test.command.as_ref().map(TestCommand::display)?)
    };
    if ran == wanted || ran.is_empty() {
        return None;
    }
    let what = format!("its tests were run by `{ran}`, and the base of the range says `{wanted}`");
    // The code that all of it leads to has passed the tests of the base and those of the tip.
    let (level, help) = match (case.stands_in(), case.tests) {
        (true, _) => (Level::Warn, "a person looks at the change of test.command".to_owned()),
        (false, Some(_)) => (Level::Block, "fix the tests of the tip".to_owned()),
        (false, None) => (Level::Block, Hint::CheckTest.with([&shell_quote(case.range)])),
    };
    Some(violation(at(commit), "other-test-command", level, what, &help))
}

/// The committer is not the author. An applied patch looks like that, and so does `commit --author`; where an agent was
/// at work it is worth a look.
fn other_author(commit: &CommitInfo, fact: &CommitFact) -> Option<Diagnostic> {
    let made_here = fact.record.recording == Recording::AtCommit
        && matches!(fact.record.kind, CommitKind::Normal | CommitKind::Amend);
    if !made_here || commit.email.eq_ignore_ascii_case(&commit.committer_email) {
        return None;
    }
    let what = format!("the author <{}> is not who committed it <{}>", commit.email, commit.committer_email);
    let help = Hint::ShowAuthor.with([&commit.id.short()]);
    let level = if fact.record.guards.is_empty() { Level::Note } else { Level::Warn };
    Some(violation(at(commit), "other-author", level, what, help))
}

/// Times prove nothing by themselves; where they contradict each other, a clock was changed or the record was written
/// later than it says.
fn clock(examined: &ExaminedCommits, commit: &CommitInfo, fact: &CommitFact) -> Option<Diagnostic> {
    if fact.record.recording.is_later()
        || fact.record.recording == Recording::Backfilled
        || !matches!(fact.record.kind, CommitKind::Normal | CommitKind::Amend)
    {
        return None;
    }
    let (recorded, committed) = (fact.record.recorded_at.0, commit.committed_at.0);
    let help = Hint::ShowBoth.with([&commit.id.short()]);
    let parent = commit.parents.first().and_then(|parent| examined.recorded_at(*parent));
    if recorded.saturating_sub(committed) > LATE {
        return Some(late(commit, parent));
    }
    let parent = parent?;
    let before_parent = parent.0.saturating_sub(recorded) > DRIFT;
    let than = if before_parent { "that of its parent" } else { "its commit" };
    let what = format!("the record is older than {than}: a clock was set back");
    (before_parent || committed.saturating_sub(recorded) > DRIFT)
        .then(|| violation(at(commit), "clock-set-back", Level::Warn, what, help))
}

/// A record that is much younger than its commit. Committer dates can be set by anyone; but a date that was set back is
/// before the record of the parent, unlike that of a commit whose hooks were merely missing.
fn late(commit: &CommitInfo, parent: Option<Timestamp>) -> Diagnostic {
    let help = Hint::ShowBoth.with([&commit.id.short()]);
    let set_back = parent.is_none_or(|parent| commit.committed_at < parent);
    let (level, what) = if set_back {
        (
            Level::Warn,
            "the record is much younger than the committer date, which was set back (GIT_COMMITTER_DATE), or the \
             record was written long after the commit",
        )
    } else {
        (Level::Block, "the record was written long after the commit: the hooks did not see it being made")
    };
    violation(at(commit), "late-record", level, what, help)
}
