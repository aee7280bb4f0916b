//! The state of the screen, and the effect of a key on it. Nothing is drawn and nothing is read here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::verbs::watch::text::words;
use andon_core::escape::is_hidden;
use andon_engine::view::{AnswerBy, WatchLine, WatchView, WorktreeState, WorktreeView};

/// Requests to the reading thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadRequest {
    /// Draw again.
    Nothing,
    /// End.
    Quit,
    /// The evidence behind a line, by its key.
    Evidence(String),
    /// The round of a line.
    Round(String),
    /// The difference that a person has to decide about.
    Diff(String),
    /// The report file of its halt.
    File(String),
    /// The answer to its halt, with the reason.
    Answer(String, String),
}

/// A line that is typed at the foot of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineInput {
    /// Words that the lines must have.
    Filter(String),
    /// The reason of an answer, for the line of that key.
    Reason(String, String),
    /// The same, to be confirmed.
    Confirm(String, String),
}

/// Longest text that is typed, in characters.
const TYPED: usize = 500;

/// `R` shows this on a line that is not halted, or where a signature answers.
const NOTHING_TO_ANSWER: &str = "Nothing on this line is answered with andon resume.";

/// The text of `?`.
const HELP: &str = include_str!("keys.txt");

/// A text over the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    /// The first line that is shown.
    pub(super) top: usize,
    pub(super) content: Content,
}

/// The kind of lines that a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    /// Lines that begin with `+` came, those that begin with `-` went.
    Difference,
}

/// The view with its chosen line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) view: WatchView,
    /// All of it; `view` is what the filter leaves.
    all: WatchView,
    /// Words that the lines must have.
    pub(super) filter: String,
    pub(super) typing: Option<LineInput>,
    /// The key of the chosen line: it stays chosen wherever it moves.
    pub(super) chosen: Option<String>,
    pub(super) page: Option<Page>,
    /// The error of the last look; the view is older then.
    pub(super) stale: Option<String>,
    /// Lines of the page that were shown last, for the keys that turn it.
    pub(super) height: usize,
}

impl Screen {
    pub(super) fn new(view: WatchView) -> Self {
        let chosen = view.ordered().first().map(WatchLine::key);
        let (all, filter) = (view.clone(), String::new());
        Self { view, all, filter, typing: None, chosen, page: None, stale: None, height: 1 }
    }

    /// Takes a newer view. A chosen line that is gone gives way to the one in its place.
    pub(super) fn take(&mut self, view: WatchView) {
        self.all = view;
        self.stale = None;
        self.narrow();
    }

    /// Shows what the filter leaves.
    fn narrow(&mut self) {
        let at = self.place();
        self.view = self.all.filtered(&self.filter, words);
        let keys = self.keys();
        if self.chosen.as_ref().is_none_or(|key| !keys.contains(key)) {
            self.chosen = keys.get(at).or(keys.last()).cloned();
        }
    }

    /// Shows a text.
    pub(super) fn open(&mut self, title: String, text: &str) {
        let lines = text.lines().map(str::to_owned).collect();
        self.page = Some(Page { title, lines, top: 0, content: Content::Text });
    }

    fn keys(&self) -> Vec<String> {
        self.view.ordered().iter().map(WatchLine::key).collect()
    }

    /// The place of the chosen line.
    pub(super) fn place(&self) -> usize {
        let ordered = self.view.ordered();
        ordered.iter().position(|one| Some(one.key()) == self.chosen).unwrap_or(0)
    }

    /// Acts on a key.
    pub(super) fn key(&mut self, key: KeyEvent) -> ReadRequest {
        if key.kind == KeyEventKind::Release {
            return ReadRequest::Nothing;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { ReadRequest::Quit } else { ReadRequest::Nothing };
        }
        if let Some(typing) = self.typing.take() {
            return self.typed(typing, key.code);
        }
        if self.page.is_some() { self.key_of_page(key.code) } else { self.key_of_list(key.code) }
    }

    /// A key while something is typed.
    fn typed(&mut self, typing: LineInput, code: KeyCode) -> ReadRequest {
        match (typing, code) {
            (LineInput::Filter(_), KeyCode::Esc) => {
                self.filter.clear();
                self.narrow();
            }
            (LineInput::Filter(_), KeyCode::Enter) | (_, KeyCode::Esc) => {}
            (LineInput::Filter(text), code) => {
                let text = edited(text, code);
                self.filter.clone_from(&text);
                self.typing = Some(LineInput::Filter(text));
                self.narrow();
            }
            (LineInput::Reason(key, reason), KeyCode::Enter) if !reason.trim().is_empty() => {
                self.typing = Some(LineInput::Confirm(key, reason));
            }
            (LineInput::Reason(key, reason), code) => {
                self.typing = Some(LineInput::Reason(key, edited(reason, code)));
            }
            (LineInput::Confirm(key, reason), KeyCode::Char('y')) => return ReadRequest::Answer(key, reason),
            // Anything else than yes is no; the reason stays to be changed.
            (LineInput::Confirm(key, reason), _) => self.typing = Some(LineInput::Reason(key, reason)),
        }
        ReadRequest::Nothing
    }

    fn key_of_page(&mut self, code: KeyCode) -> ReadRequest {
        let Some(page) = &mut self.page else { return ReadRequest::Nothing };
        let last = page.lines.len().saturating_sub(self.height);
        if let Some(turn) = Motion::from_key(code) {
            page.top = turn.from(page.top, self.height, last);
        } else if BACK.contains(&code) {
            self.page = None;
        }
        ReadRequest::Nothing
    }

    /// The key of the chosen line, where a person can answer its halt here.
    fn halted(&self) -> Option<String> {
        let ordered = self.view.ordered();
        let one = ordered.get(self.place())?;
        let WatchLine::Worktree(WorktreeView { seen: WorktreeState::Loop(found), .. }) = one else {
            return None;
        };
        let answers = found.answer == Some(AnswerBy::Resume);
        answers.then(|| one.key())
    }

    fn key_of_list(&mut self, code: KeyCode) -> ReadRequest {
        if let Some(turn) = Motion::from_key(code) {
            let keys = self.keys();
            let to = turn.from(self.place(), self.height, keys.len().saturating_sub(1));
            self.chosen = keys.get(to).cloned();
            return ReadRequest::Nothing;
        }
        if END.contains(&code) {
            return ReadRequest::Quit;
        }
        if let Some((_, asked)) = ASKED.iter().find(|(key, _)| *key == code) {
            return self.chosen.clone().map_or(ReadRequest::Nothing, asked);
        }
        if code == KeyCode::Char('?') {
            self.open("Keys".to_owned(), HELP);
        } else if code == KeyCode::Char('/') {
            self.typing = Some(LineInput::Filter(self.filter.clone()));
        } else if code == KeyCode::Char('R') {
            match self.halted() {
                Some(key) => self.typing = Some(LineInput::Reason(key, String::new())),
                None => self.open("Answer".to_owned(), NOTHING_TO_ANSWER),
            }
        }
        ReadRequest::Nothing
    }
}

/// Makes a request out of the key of a line.
type Request = fn(String) -> ReadRequest;

/// Keys that ask for something of the chosen line.
const ASKED: [(KeyCode, Request); 4] = [
    (KeyCode::Enter, ReadRequest::Evidence),
    (KeyCode::Char('r'), ReadRequest::Round),
    (KeyCode::Char('d'), ReadRequest::Diff),
    (KeyCode::Char('o'), ReadRequest::File),
];

fn edited(mut text: String, code: KeyCode) -> String {
    if code == KeyCode::Backspace {
        text.pop();
    } else if let KeyCode::Char(typed) = code
        && text.chars().count() < TYPED
        && !is_hidden(typed)
    {
        text.push(typed);
    }
    text
}

/// Keys that leave a page.
const BACK: [KeyCode; 4] = [KeyCode::Esc, KeyCode::Enter, KeyCode::Backspace, KeyCode::Char('q')];
/// Keys that end it all.
const END: [KeyCode; 2] = [KeyCode::Esc, KeyCode::Char('q')];

/// A way through lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Motion {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

const MOTIONS: [(KeyCode, Motion); 9] = [
    (KeyCode::Up, Motion::Up),
    (KeyCode::Char('k'), Motion::Up),
    (KeyCode::Down, Motion::Down),
    (KeyCode::Char('j'), Motion::Down),
    (KeyCode::PageUp, Motion::PageUp),
    (KeyCode::PageDown, Motion::PageDown),
    (KeyCode::Char(' '), Motion::PageDown),
    (KeyCode::Home, Motion::First),
    (KeyCode::End, Motion::Last),
];

impl Motion {
    fn from_key(code: KeyCode) -> Option<Self> {
        MOTIONS.iter().find(|(key, _)| *key == code).map(|(_, turn)| *turn)
    }

    /// From line `at` to another one, `last` at the most.
    fn from(self, at: usize, height: usize, last: usize) -> usize {
        let to = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(height),
            Self::PageDown => at.saturating_add(height),
            Self::First => 0,
            Self::Last => last,
        };
        to.min(last)
    }
}
