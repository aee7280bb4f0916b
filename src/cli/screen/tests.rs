//! The screen as people see it, drawn into memory.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::{Terminal, backend::TestBackend, style::Color};

use super::draw::{Colour, Theme, draw};
use super::state::{Content, ReadRequest, Screen};
use andon_core::domain::{CommitId, Timestamp};
use andon_engine::text::Glyphs;
use andon_engine::view::{
    AnswerBy, LoopCount, LoopState, LoopView, LostHooks, WatchView, WorktreeState, WorktreeView,
};

const PLAIN: Theme = Theme { glyphs: Glyphs::Unicode, colour: Colour::No, local: |at| at.to_string() };

fn one(name: &str, state: LoopState) -> WorktreeView {
    let gone =
        LostHooks { what: "post-commit is \u{1b}[2Jnot there".to_owned(), help: "andon install".to_owned() };
    let found = LoopView {
        state,
        count: LoopCount { iteration: 3, cap: Some(100) },
        head: None::<CommitId>,
        branch: Some("ma\u{202e}in".to_owned()),
        node: "agent".to_owned(),
        who: vec![],
        halt: None,
        answer: None,
        trend: vec![7, 4, 2],
        tests: None,
        context: None,
        last_at: Some(Timestamp(1000)),
        usual_pause: None,
        cost: String::new(),
        hooks_gone: (state == LoopState::HooksGone).then_some(gone),
        warnings: vec![],
    };
    WorktreeView {
        name: name.to_owned(),
        path: format!("/work/{name}"),
        seen: WorktreeState::Loop(Box::new(found)),
    }
}

fn view(count: usize) -> WatchView {
    let mut worktrees = vec![one("main", LoopState::Running), one("side", LoopState::HooksGone)];
    worktrees.extend((0..count).map(|n| one(&format!("wt-{n:02}"), LoopState::Running)));
    WatchView {
        at: Timestamp(1300),
        worktrees,
        elsewhere: vec![],
        branches: vec![],
        rounds: vec![],
        warnings: vec![],
    }
}

fn drawn(screen: &mut Screen, (width, height): (u16, u16), look: Theme) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen, look)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect()
}

fn press(screen: &mut Screen, code: KeyCode) -> ReadRequest {
    screen.key(KeyEvent::new(code, KeyModifiers::NONE))
}

#[test]
fn the_list_with_what_the_chosen_line_is_about() {
    let lines = drawn(&mut Screen::new(view(0)), (80, 16), PLAIN);
    assert_eq!(lines[0], "2 worktrees: 1 needs a person, 1 running");
    assert_eq!(lines[1], "Needs a person");
    assert_eq!(lines[2], "> side  hooks gone  Loop 3/100  █▅▃  5m  post-commit is \\u{1b}[2Jnot there");
    assert_eq!(lines[3], "Running");
    assert_eq!(lines[4], "  main  running     Loop 3/100  █▅▃  5m");
    assert_eq!(lines[8], "post-commit is \\u{1b}[2Jnot there");
    assert_eq!(lines[9], "help: cd /work/side && andon install");
    assert_eq!(lines[10], "/work/side  branch ma\\u{202e}in  by agent");
    assert_eq!(lines[15], "? keys  q end  Enter evidence  d diff  o file  R answer  / filter");
}

#[test]
fn every_size_is_drawn() {
    for size in [(1, 1), (5, 3), (40, 12), (40, 40), (200, 60), (200, 2)] {
        let mut screen = Screen::new(view(60));
        let lines = drawn(&mut screen, size, PLAIN);
        assert_eq!(lines.len(), usize::from(size.1));
        press(&mut screen, KeyCode::End);
        let lines = drawn(&mut screen, size, PLAIN);
        if size.0 >= 40 && size.1 > 10 {
            assert!(lines.iter().any(|line| line.contains("> wt-59")), "{lines:#?}");
        }
    }
}

#[test]
fn keys_choose_ask_and_end() {
    let mut screen = Screen::new(view(3));
    assert_eq!(screen.chosen.as_deref(), Some("w side"));
    assert_eq!(press(&mut screen, KeyCode::Down), ReadRequest::Nothing);
    assert_eq!(press(&mut screen, KeyCode::Enter), ReadRequest::Evidence("w main".to_owned()));
    assert_eq!(press(&mut screen, KeyCode::Char('r')), ReadRequest::Round("w main".to_owned()));
    for code in [KeyCode::Up, KeyCode::Up, KeyCode::Char('k')] {
        press(&mut screen, code);
    }
    assert_eq!(screen.place(), 0);
    press(&mut screen, KeyCode::End);
    press(&mut screen, KeyCode::Char('j'));
    assert_eq!(screen.place(), 4);
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(screen.key(ctrl_c), ReadRequest::Quit);
    screen.open("title".to_owned(), "a\nb\nc\u{1b}[2J\nd\ne\nf");
    assert_eq!(screen.key(ctrl_c), ReadRequest::Quit);
    let lines = drawn(&mut screen, (30, 5), PLAIN);
    assert_eq!(lines, ["title", "a", "b", "c\\u{1b}[2J", "up/down turn  Esc back  3 more"]);
    press(&mut screen, KeyCode::PageDown);
    assert_eq!(drawn(&mut screen, (30, 5), PLAIN)[1..4], ["d", "e", "f"]);
    press(&mut screen, KeyCode::Down);
    assert_eq!(drawn(&mut screen, (30, 5), PLAIN)[1], "d");
    assert_eq!(press(&mut screen, KeyCode::Char('q')), ReadRequest::Nothing);
    assert_eq!(press(&mut screen, KeyCode::Char('q')), ReadRequest::Quit);
}

#[test]
fn a_filter_leaves_only_lines_with_its_words() {
    let mut screen = Screen::new(view(3));
    for code in ['/', 'W', 't', '-', '0'] {
        assert_eq!(press(&mut screen, KeyCode::Char(code)), ReadRequest::Nothing);
    }
    assert_eq!(drawn(&mut screen, (80, 16), PLAIN)[15], "/Wt-0_");
    press(&mut screen, KeyCode::Enter);
    assert_eq!(screen.view.worktrees.len(), 3);
    screen.take(view(5));
    assert_eq!(screen.view.worktrees.len(), 5, "a newer view is filtered too");
    assert!(drawn(&mut screen, (80, 16), PLAIN)[0].contains("lines with \"Wt-0\""));
    press(&mut screen, KeyCode::Char('/'));
    press(&mut screen, KeyCode::Esc);
    assert_eq!(screen.view.worktrees.len(), 7);
}

#[test]
fn an_answer_takes_a_reason_and_a_yes() {
    let mut halted = view(0);
    let standing = andon_testkit::samples::standing();
    let WorktreeState::Loop(found) = &mut halted.worktrees[1].seen else { unreachable!() };
    found.halt = Some(standing);
    found.answer = Some(AnswerBy::Resume);
    let mut screen = Screen::new(halted);
    press(&mut screen, KeyCode::Char('R'));
    press(&mut screen, KeyCode::Enter);
    for code in "keep Ax".chars() {
        press(&mut screen, KeyCode::Char(code));
    }
    press(&mut screen, KeyCode::Backspace);
    assert_eq!(drawn(&mut screen, (80, 16), PLAIN)[15], "Answer the halt, Esc: not. Reason: keep A_");
    assert_eq!(press(&mut screen, KeyCode::Enter), ReadRequest::Nothing);
    assert_eq!(drawn(&mut screen, (80, 16), PLAIN)[15], "Answer with \"keep A\"? y or n");
    assert_eq!(press(&mut screen, KeyCode::Char('n')), ReadRequest::Nothing);
    press(&mut screen, KeyCode::Enter);
    let answer = ReadRequest::Answer("w side".to_owned(), "keep A".to_owned());
    assert_eq!(press(&mut screen, KeyCode::Char('y')), answer);
    assert_eq!(press(&mut screen, KeyCode::Char('d')), ReadRequest::Diff("w side".to_owned()));
    press(&mut screen, KeyCode::Down);
    press(&mut screen, KeyCode::Char('R'));
    assert_eq!(screen.typing, None, "a loop that runs has nothing to answer");
    assert!(drawn(&mut screen, (80, 16), PLAIN)[1].starts_with("Nothing on this line is answered"));
    press(&mut screen, KeyCode::Esc);
    press(&mut screen, KeyCode::Char('?'));
    assert!(drawn(&mut screen, (80, 16), PLAIN)[1].starts_with("up, down"));
}

#[test]
fn what_is_chosen_stays_chosen_where_it_moves() {
    let mut screen = Screen::new(view(3));
    press(&mut screen, KeyCode::End);
    assert_eq!(screen.chosen.as_deref(), Some("w wt-02"));
    let mut moved = view(3);
    moved.worktrees[4] = one("wt-02", LoopState::HooksGone);
    screen.take(moved);
    assert_eq!((screen.chosen.as_deref(), screen.place()), (Some("w wt-02"), 1));
    screen.take(view(0));
    assert_eq!(screen.chosen.as_deref(), Some("w main"));
    screen.take(WatchView { worktrees: vec![], ..view(0) });
    assert_eq!(screen.chosen, None);
    assert_eq!(press(&mut screen, KeyCode::Enter), ReadRequest::Nothing);
    assert_eq!(drawn(&mut screen, (40, 10), PLAIN)[0], "0 worktrees: nothing needs a person, ...");
}

#[test]
fn without_colour_there_is_none() {
    let colours = |colour: Colour| {
        let mut terminal = Terminal::new(TestBackend::new(80, 20)).unwrap();
        let look = Theme { glyphs: Glyphs::Ascii, colour, ..PLAIN };
        terminal.draw(|frame| draw(frame, &mut Screen::new(view(0)), look)).unwrap();
        let cells = terminal.backend().buffer().content();
        cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(Colour::No), 0);
    assert!(colours(Colour::Yes) > 0);
}

#[test]
fn a_difference_has_the_colours_of_git() {
    let mut screen = Screen::new(view(0));
    screen.open("the difference".to_owned(), "git diff a b\n\na.rs\n- old\n+ new");
    screen.page.as_mut().unwrap().content = Content::Difference;
    let mut terminal = Terminal::new(TestBackend::new(40, 10)).unwrap();
    let look = Theme { colour: Colour::Yes, ..PLAIN };
    terminal.draw(|frame| draw(frame, &mut screen, look)).unwrap();
    let buffer = terminal.backend().buffer();
    let colours = [3, 4, 5].map(|y| buffer[(0, y)].fg);
    assert_eq!(colours, [Color::Reset, Color::Red, Color::Green]);
}
