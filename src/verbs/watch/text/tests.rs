//! The view of `watch`, in every medium.

use serde_json::json;

use super::table::{self, GAP};
use super::*;
use andon_core::domain::{Diagnostic, EntryId, RunValidity, Timestamp};
use andon_core::escape::{is_hidden, width};
use andon_engine::view::{LastRun, LoopCount, LostHooks};
use andon_engine::{asking::WaitingRound, text::Glyphs};
use andon_testkit::samples::{self, value_of};

const MINUTE: i64 = 60;

fn later(minutes: i64) -> Timestamp {
    Timestamp(samples::at().0 + minutes * MINUTE)
}

fn running() -> LoopView {
    LoopView {
        state: LoopState::Running,
        count: LoopCount { iteration: 12, cap: Some(100) },
        head: Some(samples::commit(0x1a)),
        branch: Some("main".to_owned()),
        node: "agent".to_owned(),
        who: vec![],
        halt: None,
        answer: None,
        trend: vec![7, 4, 2],
        tests: Some(LastRun {
            evidence: samples::evidence(2),
            validity: RunValidity::Valid,
            at: Some(samples::at()),
        }),
        context: None,
        last_at: Some(later(3)),
        usual_pause: None,
        cost: String::new(),
        hooks_gone: None,
        warnings: vec![],
    }
}

fn worktree(name: &str, found: LoopView) -> WorktreeView {
    WorktreeView {
        name: name.to_owned(),
        path: format!("/work/{name}"),
        seen: WorktreeState::Loop(Box::new(found)),
    }
}

fn halted() -> LoopView {
    let mut standing = samples::standing();
    standing.halt.worktree = "side".to_owned();
    let answer = Some(AnswerBy::Resume);
    LoopView { state: LoopState::Halted, halt: Some(standing), answer, ..running() }
}

/// One of each.
pub(crate) fn view() -> WatchView {
    let idle = LoopView { state: LoopState::Idle, tests: None, trend: vec![], last_at: None, ..running() };
    let gone = LostHooks { what: "post-commit is missing".to_owned(), help: "andon install".to_owned() };
    let unguarded = LoopView { state: LoopState::HooksGone, hooks_gone: Some(gone), ..running() };
    WatchView {
        at: later(5),
        worktrees: vec![
            worktree("main", running()),
            worktree("side", halted()),
            worktree("idle", idle),
            worktree("bare", unguarded),
            WorktreeView {
                name: "gone".to_owned(),
                path: "/work/gone".to_owned(),
                seen: WorktreeState::Away,
            },
        ],
        elsewhere: vec![StandingHalt { id: EntryId([7; 32]), ..samples::standing() }],
        branches: vec![BranchView { name: "origin/far".to_owned(), found: running() }],
        rounds: vec![WaitingRound {
            id: "ab".repeat(32),
            status: "open".to_owned(),
            question: "May the API change?".to_owned(),
            since: later(1),
            triggers: vec![],
            caps: vec![],
            missing: 0,
            advice: None,
            may_answer: vec!["ann".to_owned()],
        }],
        warnings: vec![Diagnostic::warning("1 entry of the ledger cannot be read")],
    }
}

#[test]
fn who_needs_a_person_stands_first() {
    let expected = r"5 worktrees: 4 need a person, 2 running

Needs a person
  bare                 hooks gone  Loop 12/100  2/120 fail  █▅▃  2m
    post-commit is missing
    help: cd /work/bare && andon install
  side                 halted      Loop 12/100  2/120 fail  █▅▃  5m
    the loop is going in circles (oscillation): the code state alternates A/B/A/B
    since 2026-11-20T15:30:00Z
    help: cd /work/side && andon status
  elsewhere: main      halted      Loop 12                  █▅▃  5m
    the loop is going in circles (oscillation): the code state alternates A/B/A/B
    since 2026-11-20T15:30:00Z
    help: answer halt 070707070707 where it was made, then run here: andon sync
  round abababababab   open                                      4m
    May the API change?
    help: andon review show abababababab

Running
  main                 running     Loop 12/100  2/120 fail  █▅▃  2m
  elsewhere: origin/far running     Loop 12/100  2/120 fail  █▅▃  2m

Quiet
  idle                 idle        Loop 12/100
  gone                 away
    its directory is gone: /work/gone
    help: git worktree prune

warning: 1 entry of the ledger cannot be read
";
    let shown = text(&view(), Style::Plain, Glyphs::Unicode);
    let squeezed = |text: &str| {
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(squeezed(&shown), squeezed(expected), "{shown}");
}

#[test]
fn a_narrow_terminal_keeps_what_matters_most() {
    for columns in [20, 40, 60, 80, 200] {
        let table = table::table(&view(), Some(columns), Glyphs::Unicode);
        let wide: usize = table.widths.iter().sum::<usize>() + GAP * (table.widths.len() - 1);
        assert!(wide <= columns.max(10), "{columns}: {:?}", table.widths);
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.widths.len());
            assert!(row.cells.iter().zip(&table.widths).all(|(cell, wide)| width(&cell.text) <= *wide));
        }
    }
    let narrow = table::table(&view(), Some(40), Glyphs::Unicode);
    let side = narrow.rows.iter().find(|row| row.key == "w side").unwrap();
    let cells: Vec<&str> = side.cells.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(cells, ["side", "halted", "2/120 fail", "5m"]);
}

#[test]
fn a_loop_that_went_quiet_is_worth_a_look() {
    let quiet = |pause, minutes| {
        let found = LoopView { usual_pause: pause, last_at: Some(samples::at()), ..running() };
        let view = WatchView { at: later(minutes), worktrees: vec![worktree("main", found)], ..view() };
        let table = table::table(&view, Some(80), Glyphs::Unicode);
        let row = table.rows.iter().find(|row| row.key == "w main").unwrap();
        (row.cells[1].text.clone(), row.cells[1].tone)
    };
    assert_eq!(quiet(Some(120), 6), ("running".to_owned(), table::Tone::Good));
    assert_eq!(quiet(Some(120), 7), ("quiet".to_owned(), table::Tone::Odd));
    assert_eq!(quiet(Some(1), 4), ("running".to_owned(), table::Tone::Good), "minutes at least");
    assert_eq!(quiet(None, 600), ("running".to_owned(), table::Tone::Good));
}

#[test]
fn a_line_is_told_when_it_says_something_new() {
    let mut view = view();
    let (first, told) = lines(&PrintedLines::default(), &view);
    assert_eq!(first.len(), 9, "{first:?}");
    assert_eq!(
        first[0],
        "2026-11-20T15:35:00Z bare: hooks gone, Loop 12/100, failing 7 -> 4 -> 2, last run 2 of 120 failing; post-commit is missing; help: cd /work/bare && andon install"
    );
    view.at = later(6);
    let (again, told) = lines(&told, &view);
    assert!(again.is_empty(), "time alone is no change: {again:?}");
    view.worktrees[0] =
        worktree("main", LoopView { count: LoopCount { iteration: 13, cap: Some(100) }, ..running() });
    view.worktrees.remove(2);
    view.warnings.clear();
    let (changed, told) = lines(&told, &view);
    assert_eq!(
        changed,
        [
            "2026-11-20T15:36:00Z main: running, Loop 13/100, failing 7 -> 4 -> 2, last run 2 of 120 failing",
            "2026-11-20T15:36:00Z idle: gone",
        ]
    );
    assert!(lines(&told, &view).0.is_empty());
}

#[test]
fn json_carries_the_same() {
    let view = view();
    let value = value_of(&view.with_ordered_worktrees());
    let names: Vec<&str> =
        value["worktrees"].as_array().unwrap().iter().map(|one| one["worktree"].as_str().unwrap()).collect();
    assert_eq!(names, ["bare", "side", "main", "idle", "gone"]);
    let side = &value["worktrees"][1];
    assert_eq!((&side["state"], &side["needs_person"]), (&json!("halted"), &json!(true)));
    assert_eq!(side["loop"]["halt"]["halt_reason"], "oscillating");
    assert_eq!(side["loop"]["answer"], "resume");
    assert_eq!(side["loop"]["trend"], json!([7, 4, 2]));
    assert_eq!(side["loop"]["last_run"]["run"]["failed"], 2);
    assert_eq!(value["worktrees"][4]["loop"], json!(null));
    assert_eq!(value["elsewhere"][0]["rule"], "oscillation");
    assert_eq!(value["branches"][0]["branch"], "origin/far");
    assert_eq!(value["branches"][0]["loop"]["trend"], json!([7, 4, 2]));
    assert_eq!(value["rounds"][0]["question"], "May the API change?");
}

#[test]
fn strangers_are_shown_and_not_obeyed() {
    let mut view = view();
    let hostile = samples::HOSTILE.to_owned();
    let mut found = halted();
    found.branch = Some(hostile.clone());
    found.who = vec![hostile.clone()];
    if let Some(halt) = &mut found.halt {
        halt.halt.message = hostile.repeat(50);
        halt.halt.worktree.clone_from(&hostile);
        halt.halt.rule.clone_from(&hostile);
    }
    view.worktrees[0] = WorktreeView { path: hostile.clone(), ..worktree(&hostile, found) };
    view.worktrees[4] =
        WorktreeView { name: "x".to_owned(), path: hostile.clone(), seen: WorktreeState::Away };
    view.worktrees[2] = WorktreeView {
        name: "y".to_owned(),
        path: hostile.clone(),
        seen: WorktreeState::Unreadable(hostile.clone()),
    };
    view.elsewhere[0].halt.branch = Some(hostile.clone());
    view.branches[0].name.clone_from(&hostile);
    view.branches[0].found.node.clone_from(&hostile);
    view.elsewhere[0].halt.suggested_actions[0].text.clone_from(&hostile);
    view.rounds[0].question.clone_from(&hostile);
    view.rounds[0].status.clone_from(&hostile);
    view.rounds[0].id.clone_from(&hostile);
    view.warnings = vec![Diagnostic::warning(hostile.clone())];
    let harmless = |text: &str| assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text}");
    harmless(&text(&view, Style::Plain, Glyphs::Unicode));
    harmless(&halt_of_another_clone(&view.elsewhere[0], Style::Plain));
    harmless(&loop_of_another_clone(&view.branches[0], Style::Plain));
    for line in lines(&PrintedLines::default(), &view).0 {
        harmless(&line);
        assert!(!line.contains('\n'), "{line}");
    }
    harmless(&andon_engine::json::line(&view));
}
