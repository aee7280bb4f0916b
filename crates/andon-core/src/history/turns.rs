//! The fold of the event stream: turns begin and end, calls and outputs fall into them, a turn that ended without a
//! commit becomes an iteration (docs/concepts.md).
//!
//! Order is that of observation. Times only measure: a clock that goes back measures nothing, and is marked.

use sha2::{Digest as _, Sha256};

use super::activity::{MAX_BALLOTS, MAX_CALLS, MAX_EDITS, MAX_IDS, MAX_NODES, MAX_OUTPUTS, MAX_TURNS};
use super::timeline::{MAX_ITERATIONS, Memo};
use super::{
    Activity, Call, Cast, ContextWindows, EventEffect, Iteration, KnownRedBy, NodeOutput, NodeTotals,
    RedRuns, Timeline, Turn, TurnChange, TurnIteration, TurnStart, push_bounded,
};
use crate::domain::{
    Arguments, CallEnd, CodeId, CommitFact, DiffHash, Digest, Event, EventKind, Moment, Output, Renewal,
    SAMPLED, ShortHash, Span, TestEvidence, Timestamp, ToolCall, TurnEnd, Uptime, Usage,
};
use crate::{WordList, words};

/// Tools that change files, in lower case and without `_` and `-`. A new edit begins the window of tool calls anew.
pub const EDITORS: WordList = WordList(include_str!("editors.txt"));

/// Tools that run command lines, in the same form.
pub const SHELLS: WordList = WordList(include_str!("shells.txt"));
/// Arguments of a tool that name its file.
pub const FILE_ARGUMENTS: WordList = WordList(include_str!("file_arguments.txt"));
/// Arguments of a tool that hold a command line, as a text or as its words.
pub const COMMAND_ARGUMENTS: WordList = words!["command", "cmd", "script", "shell_command", "command_line"];
/// The argument that holds several of them.
pub const SEVERAL_COMMANDS: &str = "commands";
/// Commands of an editing tool by which it only shows a file.
pub const SHOWING: WordList = words!["view", "read", "undo_view"];

/// States of the documents that are remembered.
const MAX_DOCS_STATES: usize = 64;
/// Disarmings that are kept.
const MAX_DISARMED: usize = 64;
/// Output hashes that a turn keeps.
const TURN_OUTPUTS: usize = 16;

/// Returns whether `tool` changes files; for a tool of a server (`mcp__files__edit_file`) the last part decides. A call that
/// only shows a file is named `TOOL:view`.
pub fn is_edit(tool: &str) -> bool {
    let own = if tool.starts_with("mcp__") { tool.rsplit("__").next().unwrap_or(tool) } else { tool };
    is_one_of(own, EDITORS)
}

/// Returns whether the name of a tool is one of those `known`, which are in lower case and without `_` and `-`: clients write one name in
/// several ways.
pub fn is_one_of(tool: &str, known: WordList) -> bool {
    let letters =
        tool.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase());
    known.iter().any(|name| letters.clone().eq(name.bytes()))
}

impl Timeline {
    pub(super) fn take_event(&mut self, event: Event) -> EventEffect {
        if event.id.is_some_and(|id| self.is_duplicate(id)) {
            return EventEffect::Nothing;
        }
        self.tick_clock(event.at, event.uptime);
        let ended_by_hook = std::mem::take(&mut self.activity.ended_by_hook);
        let node = event.node.unwrap_or_else(|| self.activity.current_node().to_owned());
        self.take_context_window(&node, event.at, event.session.as_deref(), &event.what);
        match event.what {
            EventKind::TurnStart => self.begin_turn(&node, event.at),
            // `andon tick` has no id for the turn whose end the hook of a client reported under one.
            EventKind::TurnEnd(end)
                if ended_by_hook && event.id.is_none() && self.activity.code == end.code =>
            {
                return EventEffect::Within;
            }
            EventKind::TurnEnd(end) => {
                let effect = self.end_turn(&node, event.at, end);
                self.activity.ended_by_hook = event.id.is_some();
                return effect;
            }
            EventKind::ToolCall(call) => self.take_call(node, event.at, call),
            EventKind::Output(output) => self.take_output(&node, event.at, output),
            EventKind::Usage(usage) => self.take_usage(&node, event.at, &usage),
            // A session with an empty memory reads again what the session before has read, and so does an agent that is asked
            // something else.
            EventKind::Renewed(Renewal::SessionStart | Renewal::Prompt) => {
                let ended = self.activity.epoch;
                self.new_epoch();
                // A session that begins is no work: what filled the window before fills it again.
                self.activity.compactions.carry(ended, self.activity.epoch);
            }
            EventKind::Renewed(Renewal::Compaction) => {
                let epoch = self.activity.epoch;
                self.activity.compactions.one_more(epoch, event.at);
            }
            EventKind::Refused(refused) => {
                self.activity.refused.take(refused.code, self.activity.code);
                self.activity.refusals.take(refused, event.at);
            }
            EventKind::Disarmed(what) => push_bounded(&mut self.activity.disarmed, what, MAX_DISARMED),
            EventKind::Verdict(ballot) => {
                let (iteration, turn) = (self.number(), self.activity.begun);
                push_bounded(&mut self.activity.ballots, Cast { ballot, iteration, turn }, MAX_BALLOTS);
            }
        }
        EventEffect::Within
    }

    fn is_duplicate(&mut self, id: ShortHash) -> bool {
        let activity = &mut self.activity;
        if activity.ids.contains(&id) {
            activity.marks.duplicates = activity.marks.duplicates.saturating_add(1);
            return true;
        }
        if activity.ids.len() >= MAX_IDS {
            activity.ids.pop_front();
        }
        activity.ids.push_back(id);
        false
    }

    /// Notes the time of a fact. A pause longer than the session gap ends the run.
    pub(super) fn tick_clock(&mut self, at: Option<Timestamp>, uptime: Option<Uptime>) {
        let pause = self.pause_before(at, uptime);
        self.activity.awake = uptime.or(self.activity.awake);
        let Some(at) = at else { return };
        self.activity.lively = self.activity.lively.max(Some(at));
        match self.activity.now {
            Some(now) if at < now => {
                self.activity.marks.backwards = self.activity.marks.backwards.saturating_add(1);
            }
            Some(_) => {
                if pause > self.session_gap {
                    self.restart();
                    self.began = Some(at);
                }
                self.activity.now = Some(at);
            }
            None => self.activity.now = Some(at),
        }
    }

    /// The pause before `at`. After one longer than the session gap, what was reported of a window says nothing any more.
    pub(super) fn pause_before(&mut self, at: Option<Timestamp>, uptime: Option<Uptime>) -> Span {
        let (Some(now), Some(at)) = (self.activity.now, at) else { return Span(0) };
        let before = Moment { at: now, uptime: self.activity.awake };
        let pause = Moment { at, uptime }.pause_since(before);
        if pause > self.session_gap {
            self.activity.windows = ContextWindows::default();
            self.known_red.retain(|_, by| *by == KnownRedBy::Configuration);
        }
        pause
    }

    fn begin_turn(&mut self, node: &str, at: Option<Timestamp>) {
        if let Some(before) = self.activity.open.remove(node) {
            if before.opening == TurnStart::Reported && before.commits == 0 {
                self.activity.marks.unended = self.activity.marks.unended.saturating_add(1);
            }
            self.close(before);
        }
        self.open_turn(node, at, TurnStart::Reported);
    }

    /// The open turn of `node`; one begins when there is none. `None` when there are too many nodes.
    fn turn_of(&mut self, node: &str, at: Option<Timestamp>) -> Option<&mut Turn> {
        if !self.activity.open.contains_key(node) {
            self.open_turn(node, at, TurnStart::Implied);
        }
        self.activity.open.get_mut(node)
    }

    fn open_turn(&mut self, node: &str, at: Option<Timestamp>, opening: TurnStart) {
        let activity = &mut self.activity;
        let known = activity.nodes.contains_key(node);
        if !known && activity.nodes.len() >= MAX_NODES {
            activity.marks.crowded = activity.marks.crowded.saturating_add(1);
            return;
        }
        activity.begun = activity.begun.saturating_add(1);
        let own = activity.nodes.entry(node.to_owned()).or_default();
        let since = std::mem::replace(&mut own.begun, activity.begun);
        for (other, totals) in activity.nodes.iter().filter(|(other, _)| *other != node) {
            if totals.begun > since {
                let passes = activity.passes.entry((other.clone(), node.to_owned())).or_default();
                *passes = passes.saturating_add(1);
            }
        }
        activity.last_node = Some(node.to_owned());
        let turn = Turn {
            node: node.to_owned(),
            number: activity.begun,
            opening,
            // The first event of an unannounced turn is not its beginning. A clock that was set back measures nothing.
            started: at
                .filter(|_| opening == TurnStart::Reported)
                .map(|at| activity.now.map_or(at, |now| now.max(at))),
            ..Turn::default()
        };
        activity.open.insert(node.to_owned(), turn);
    }

    /// Adds a turn that is over to the totals of its node and to the turns of the window.
    fn close(&mut self, turn: Turn) {
        if let Some(totals) = self.activity.nodes.get_mut(&turn.node) {
            if turn.commits == 0 {
                totals.turns = totals.turns.saturating_add(1);
            }
            totals.runtime.0 = totals.runtime.0.saturating_add(turn.runtime(None).0);
        }
        push_bounded(&mut self.activity.turns, turn, MAX_TURNS);
    }

    /// A commit was made: it belongs to the turn of its node. An unannounced turn holds one commit.
    pub(super) fn commit_in_turn(&mut self, node: &str, at: Option<Timestamp>) {
        let open = self.activity.open.get(node);
        let full = open.is_some_and(|turn| turn.opening == TurnStart::Implied && turn.commits > 0);
        // The usage until now is in the record of this commit.
        if let Some(turn) = self.activity.open.get_mut(node) {
            turn.committed = turn.usage.clone();
        }
        if full && let Some(before) = self.activity.open.remove(node) {
            self.close(before);
        }
        self.activity.ran = None;
        self.activity.red = RedRuns::default();
        self.activity.docs_states.clear();
        self.activity.ended_by_hook = false;
        if self.turn_of(node, at).is_some() {
            self.move_in_turn(node);
            self.new_epoch();
        }
    }

    /// A commit was moved: that is not idle, and no other turn begins with it.
    pub(super) fn move_in_turn(&mut self, node: &str) {
        let Some(turn) = self.activity.open.get_mut(node) else { return };
        turn.commits = turn.commits.saturating_add(1);
        if turn.commits == 1
            && let Some(totals) = self.activity.nodes.get_mut(node)
        {
            totals.turns = totals.turns.saturating_add(1);
        }
    }

    /// The code changed: a call repeated after this may well answer something else.
    fn new_epoch(&mut self) {
        self.activity.epoch = self.activity.epoch.saturating_add(1);
    }

    /// Takes the code of the working tree. Rows of calls begin anew where it is another than the one before, by the agent, a
    /// program or a person.
    pub(super) fn saw(&mut self, code: CodeId) {
        if self.activity.seen.replace(code).is_some_and(|before| before != code) {
            self.new_epoch();
            self.activity.state = self.activity.state.saturating_add(1);
        }
    }

    fn end_turn(&mut self, node: &str, at: Option<Timestamp>, end: TurnEnd) -> EventEffect {
        if self.turn_of(node, None).is_none() {
            return EventEffect::Within;
        }
        let Some(mut turn) = self.activity.open.remove(node) else { return EventEffect::Within };
        if let Some(code) = end.code {
            self.saw(code);
        }
        // A clock that was set back takes nothing from what was measured before.
        turn.ended = at.map(|at| self.activity.now.map_or(at, |now| now.max(at)));
        let (commits, outputs) = (turn.commits, turn.outputs.clone());
        self.close(turn);
        if commits > 0 {
            self.activity.ran = None;
            self.activity.code = end.code.or(self.activity.code);
            self.activity.docs = end.docs.or(self.activity.docs);
            if let Some(newest) = self.iterations.last_mut() {
                let fresh = outputs.into_iter().filter(|hash| !newest.outputs.contains(hash));
                let fresh: Vec<Digest> = fresh.collect();
                newest.outputs.extend(fresh);
            }
            return EventEffect::Iteration;
        }
        self.push_turn(node, end, outputs);
        EventEffect::Iteration
    }

    /// A turn that ended without a commit is an iteration.
    fn push_turn(&mut self, node: &str, end: TurnEnd, outputs: Vec<Digest>) {
        let before = self.activity.code;
        // A turn whose end names no state has the state of its tests.
        let ran = self.activity.ran.take();
        self.activity.red = RedRuns::default();
        let end = TurnEnd { code: end.code.or(ran.as_ref().map(|tests| tests.code)), ..end };
        let change = change(before, self.activity.docs, end);
        let docs_before = self.activity.docs;
        self.activity.docs = end.docs.or(docs_before);
        match (change, docs_before, end.docs) {
            (TurnChange::Changed, _, _) => self.activity.docs_states.clear(),
            (TurnChange::Documents, Some(before), Some(now)) => {
                let states = &mut self.activity.docs_states;
                if states.is_empty() {
                    states.push(before);
                }
                push_bounded(states, now, MAX_DOCS_STATES);
            }
            (TurnChange::Documents | TurnChange::Unchanged | TurnChange::Unknown, _, _) => {}
        }
        if change == TurnChange::Changed {
            self.new_epoch();
        }
        self.activity.code = end.code.or(before);
        let code = end.code.or(before).unwrap_or(CodeId([0; 32]));
        let highest = self.iterations.iter().map(|one| one.number).max().unwrap_or(0);
        let refused = std::mem::take(&mut self.activity.refused);
        let spent = refused.given_up.saturating_add(self.rewritten());
        let number = highest.max(self.passed.unwrap_or(0)).saturating_add(spent).saturating_add(1);
        // A failure belongs to this turn wherever and by whomever its code was tested: the attempt was made. It does
        // not if the iteration before was tested after its end.
        let failed = ran.and_then(|tests| self.failed_before(tests));
        let tests = self.proof(code).cloned().or(failed);
        self.newest_tests = tests.clone().or(self.newest_tests.take());
        let hash = DiffHash(
            Sha256::new_with_prefix(before.unwrap_or(code).0).chain_update(code.0).finalize().into(),
        );
        let at = self.activity.now.unwrap_or_default();
        let node = node.to_owned();
        let turn = TurnIteration { node, number, change, code, hash, at, outputs, tests };
        self.amended.clear();
        self.known_flaky = Memo::default();
        push_bounded(&mut self.iterations, Iteration::of_turn(turn), MAX_ITERATIONS);
    }

    /// The failure that a run showed before an iteration ended, unless it is that of the iteration before.
    pub(super) fn failed_before(&self, tests: TestEvidence) -> Option<TestEvidence> {
        let newest = self.newest().filter(|newest| newest.code == tests.code);
        // In the first part of a long journal a commit is known by its code alone.
        let passed = self.passed.is_some() && self.activity.passed_code == Some(tests.code);
        let is_told = passed || newest.is_some_and(|newest| newest.tests.as_ref() == Some(&tests));
        (!is_told && !tests.is_green()).then_some(tests)
    }

    fn take_call(&mut self, node: String, at: Option<Timestamp>, call: ToolCall) {
        if let Some(turn) = self.turn_of(&node, at) {
            turn.calls = turn.calls.saturating_add(1);
        }
        // The change that a repeated edit itself makes is no other code than that before it.
        let is_known = call.args == Arguments::Known && self.activity.edits.contains(&call.hashes.exact);
        let differs = is_known && self.left_another_code(&call);
        if differs {
            self.activity.state = self.activity.state.saturating_add(1);
        } else if let Some(code) = call.code.filter(|_| !is_known) {
            self.saw(code);
        }
        let edits = (is_edit(&call.tool) || call.writes) && call.end != CallEnd::Failed;
        // An edit of unknown content may well be a new one.
        if edits && (!is_known || differs) {
            self.new_epoch();
            if self.activity.edits.len() >= MAX_EDITS {
                self.activity.edits.pop_front();
            }
            self.activity.edits.push_back(call.hashes.exact);
        }
        let Activity { epoch, state, .. } = self.activity;
        let waited = self.waited(&node, &call);
        let made = Call { node, call, epoch, state, iteration: self.number(), waited };
        push_bounded(&mut self.activity.calls, made, MAX_CALLS);
    }

    /// Returns whether the same edit left another code behind when it was asked for last: its arguments do not say all that it does.
    fn left_another_code(&self, call: &ToolCall) -> bool {
        let before = self.activity.calls.iter().rev().find(|one| one.call.hashes.exact == call.hashes.exact);
        before
            .and_then(|one| one.call.code)
            .is_some_and(|before| call.code.is_some_and(|code| code != before))
    }

    /// Counts the calls that waited for what `call` waits for: nothing else is known by how often a call is made.
    fn waited(&self, node: &str, call: &ToolCall) -> u64 {
        let Activity { calls, epoch, .. } = &self.activity;
        let is_same = |one: &&Call| {
            one.node == node
                && one.call.by == call.by
                && one.call.hashes.exact == call.hashes.exact
                && one.epoch == *epoch
        };
        let waits = call.duration_ms.is_some() && call.end != CallEnd::Failed && call.lines.len() < SAMPLED;
        let before = calls.iter().rev().find(is_same).filter(|one| waits && one.call.result == call.result);
        before.filter(|one| one.call.duration_ms.is_some()).map_or(0, |one| one.waited.saturating_add(1))
    }

    fn take_output(&mut self, node: &str, at: Option<Timestamp>, output: Output) {
        let Some(turn) = self.turn_of(node, at) else { return };
        // "Done." says nothing in any turn.
        let Some(hash) = output.hash else { return };
        push_bounded(&mut turn.outputs, hash, TURN_OUTPUTS);
        let (kind, turn) = (output.kind, turn.number);
        let said = NodeOutput { node: node.to_owned(), kind, hash, turn, iteration: self.number() };
        push_bounded(&mut self.activity.outputs, said, MAX_OUTPUTS);
    }

    /// Returns the usage of the turn of `node` since its newest commit, as the record of the next commit has it.
    pub fn spent(&self, node: &str) -> Option<Usage> {
        let spent = self.activity.open.get(node)?.uncommitted();
        let spent = Usage { cached_tokens: None, window_tokens: None, output_lines: None, ..spent };
        Some(spent).filter(|spent| *spent != Usage::default())
    }

    fn take_usage(&mut self, node: &str, at: Option<Timestamp>, usage: &Usage) {
        if let Some(turn) = self.turn_of(node, at) {
            turn.usage.add(usage);
            let totals: &mut NodeTotals = self.activity.nodes.entry(node.to_owned()).or_default();
            totals.tokens = totals.tokens.saturating_add(usage.tokens());
            totals.cost = totals.cost.saturating_add(usage.cost_micros());
        }
        let newest = self.activity.usage.get_or_insert_with(Usage::default);
        newest.input_tokens = usage.input_tokens.or(newest.input_tokens);
        newest.output_tokens = usage.output_tokens.or(newest.output_tokens);
        newest.cost_usd = usage.cost_usd.clone().or(newest.cost_usd.take());
        newest.context_tokens = usage.context_tokens.or(newest.context_tokens);
    }

    /// The node of a commit fact: that of its record, or in event streams the current one.
    pub(super) fn node_of(&self, fact: &CommitFact) -> String {
        if fact.record.node.is_empty() {
            self.activity.current_node().to_owned()
        } else {
            fact.record.node.clone()
        }
    }

    /// An answer also re-arms the budgets of an open turn: otherwise they would halt again at once.
    pub(super) fn answer_turns(&mut self, at: Timestamp) {
        let now = self.activity.now.map_or(at, |now| now.max(at));
        for turn in self.activity.open.values_mut() {
            turn.started = turn.started.map(|_| now);
            turn.answered = turn.usage.tokens();
        }
    }

    /// Removes from the activity what an acknowledgement or a new run clears; an open turn stays.
    pub(super) fn restart_activity(&mut self) {
        let before = std::mem::take(&mut self.activity);
        let activity = &mut self.activity;
        activity.now = before.now;
        activity.lively = before.lively;
        activity.awake = before.awake;
        activity.marks = before.marks;
        activity.ids = before.ids;
        activity.usage = before.usage;
        activity.windows = before.windows;
        activity.docs = before.docs;
        activity.code = before.code;
        activity.seen = before.seen;
        for (node, turn) in before.open {
            activity.begun += 1;
            activity
                .nodes
                .insert(node.clone(), NodeTotals { begun: activity.begun, ..NodeTotals::default() });
            activity.last_node = Some(node.clone());
            activity.open.insert(node, Turn { number: activity.begun, ..turn });
        }
        if activity.last_node.is_some() {
            activity.last_node = before.last_node;
        }
    }
}

/// Returns whether a turn changed something. A document that moved is a change; what is unknown is none.
fn change(before: Option<CodeId>, docs_before: Option<Digest>, end: TurnEnd) -> TurnChange {
    match (before, end.code) {
        (Some(before), Some(code)) if before != code => TurnChange::Changed,
        _ if docs_before.is_some() && end.docs.is_some() && docs_before != end.docs => TurnChange::Documents,
        (Some(_), Some(_)) => TurnChange::Unchanged,
        (None, _) | (_, None) => TurnChange::Unknown,
    }
}

#[cfg(test)]
mod tests;
