//! Context windows as values: what was reported about each since it was cleared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Timestamp, Usage};

/// The kind of the newest event: what happens within a turn passes through another door than its beginning and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Door {
    /// A tool was called, something was said or judged.
    Within,
    /// A turn began or ended, or the window itself was reported or cleared.
    #[default]
    Turn,
}

/// The reports about one context window since it was cleared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContextWindow {
    /// Tokens in it, by the last report of the client.
    pub reported: Option<u64>,
    /// Input and cached tokens of the newest request that reported them.
    pub request: Option<(u64, u64)>,
    /// Its size, where the client says so.
    pub size: Option<u64>,
    /// Lines of output.
    pub lines: u64,
    /// When it was cleared, or the first word about it came.
    pub since: Option<Timestamp>,
    /// The session that it belongs to, where it was reported.
    pub session: Option<String>,
}

impl ContextWindow {
    pub(super) fn report(&mut self, usage: &Usage) {
        // A request that has not been answered yet, or failed, is reported as nothing: no window is emptied by it.
        self.reported = usage.context_tokens.filter(|tokens| *tokens > 0).or(self.reported);
        let request = (usage.input_tokens.unwrap_or(0), usage.cached_tokens.unwrap_or(0));
        if request != (0, 0) {
            self.request = Some(request);
        }
        self.size = usage.window_tokens.filter(|tokens| *tokens > 0).or(self.size);
        self.say(usage.output_lines);
    }

    pub(super) fn say(&mut self, lines: Option<u64>) {
        self.lines = self.lines.saturating_add(lines.unwrap_or(0));
    }
}

/// The windows of all nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContextWindows {
    pub of: BTreeMap<String, ContextWindow>,
    /// The node of the newest event.
    pub newest: Option<String>,
    /// The kind of the newest event.
    pub door: Door,
}
