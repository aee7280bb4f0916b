//! What the screen shows and what a key does to it. Values alone: nothing is drawn and nothing is read here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::view::watch::{WatchLine, WatchView};

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
}

/// A text over the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    /// The first line that is shown.
    pub(super) top: usize,
}

/// What is shown, and which line of it is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) view: WatchView,
    /// The key of the chosen line: it stays chosen wherever it moves.
    pub(super) chosen: Option<String>,
    pub(super) page: Option<Page>,
    /// Why the last look failed; what is shown is older then.
    pub(super) stale: Option<String>,
    /// Lines of the page that were shown last, for the keys that turn it.
    pub(super) height: usize,
}

impl Screen {
    pub(super) fn new(view: WatchView) -> Self {
        let chosen = view.ordered().first().map(WatchLine::key);
        Self { view, chosen, page: None, stale: None, height: 1 }
    }

    /// Takes a newer view. A chosen line that is gone gives way to the one in its place.
    pub(super) fn take(&mut self, view: WatchView) {
        let at = self.place();
        self.view = view;
        self.stale = None;
        let keys = self.keys();
        if self.chosen.as_ref().is_none_or(|key| !keys.contains(key)) {
            self.chosen = keys.get(at).or(keys.last()).cloned();
        }
    }

    /// Shows a text.
    pub(super) fn open(&mut self, title: String, text: &str) {
        self.page = Some(Page { title, lines: text.lines().map(str::to_owned).collect(), top: 0 });
    }

    fn keys(&self) -> Vec<String> {
        self.view.ordered().iter().map(WatchLine::key).collect()
    }

    /// The place of the chosen line.
    pub(super) fn place(&self) -> usize {
        let ordered = self.view.ordered();
        ordered.iter().position(|one| Some(one.key()) == self.chosen).unwrap_or(0)
    }

    /// What follows from a key.
    pub(super) fn key(&mut self, key: KeyEvent) -> ReadRequest {
        if key.kind == KeyEventKind::Release {
            return ReadRequest::Nothing;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { ReadRequest::Quit } else { ReadRequest::Nothing };
        }
        if self.page.is_some() { self.key_of_page(key.code) } else { self.key_of_list(key.code) }
    }

    fn key_of_page(&mut self, code: KeyCode) -> ReadRequest {
        let Some(page) = &mut self.page else { return ReadRequest::Nothing };
        let last = page.lines.len().saturating_sub(self.height);
        if let Some(turn) = Turn::from_key(code) {
            page.top = turn.from(page.top, self.height, last);
        } else if BACK.contains(&code) {
            self.page = None;
        }
        ReadRequest::Nothing
    }

    fn key_of_list(&mut self, code: KeyCode) -> ReadRequest {
        if let Some(turn) = Turn::from_key(code) {
            let keys = self.keys();
            let to = turn.from(self.place(), self.height, keys.len().saturating_sub(1));
            self.chosen = keys.get(to).cloned();
            return ReadRequest::Nothing;
        }
        let asked: Option<fn(String) -> ReadRequest> = if END.contains(&code) {
            return ReadRequest::Quit;
        } else if code == KeyCode::Enter {
            Some(ReadRequest::Evidence)
        } else if code == KeyCode::Char('r') {
            Some(ReadRequest::Round)
        } else {
            None
        };
        asked.zip(self.chosen.clone()).map_or(ReadRequest::Nothing, |(asked, key)| asked(key))
    }
}

/// Keys that leave a page.
const BACK: [KeyCode; 4] = [KeyCode::Esc, KeyCode::Enter, KeyCode::Backspace, KeyCode::Char('q')];
/// Keys that end it all.
const END: [KeyCode; 2] = [KeyCode::Esc, KeyCode::Char('q')];

/// A way through lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

const TURNS: [(KeyCode, Turn); 9] = [
    (KeyCode::Up, Turn::Up),
    (KeyCode::Char('k'), Turn::Up),
    (KeyCode::Down, Turn::Down),
    (KeyCode::Char('j'), Turn::Down),
    (KeyCode::PageUp, Turn::PageUp),
    (KeyCode::PageDown, Turn::PageDown),
    (KeyCode::Char(' '), Turn::PageDown),
    (KeyCode::Home, Turn::First),
    (KeyCode::End, Turn::Last),
];

impl Turn {
    fn from_key(code: KeyCode) -> Option<Self> {
        TURNS.iter().find(|(key, _)| *key == code).map(|(_, turn)| *turn)
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
