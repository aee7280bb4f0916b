//! The place where an agent is at work: the repository, and the memory of its hooks.

use std::{ops::Deref, path::Path};

use crate::install::clients::{place::files, programs};
use crate::install::{Scope, SettingsFile};
use crate::setup::clients::roots;
use andon_agents::{HookPayload, ruling::Session};
use andon_core::domain::{
    AgentAction, AgentFact, Client, Event, EventKind, FileOwner, HookMoment, Renewal, ShortHash, Usage,
    agent::markers_of,
};
use andon_engine::{Context, Result, Workspace, adapter::events};
use andon_git::{from_end, open_plain};
use andon_store::{Journal, JournalLine, JournalLock};

/// One session of one client in one repository. Its journal is not read yet.
pub(super) struct Place<'a> {
    pub(super) ctx: &'a Context,
    pub(super) ws: &'a Workspace,
    pub(super) client: Client,
    pub(super) session: Option<String>,
}

/// A place with what its session remembers. The journal of agents is folded once in a call: this takes the [`Place`], and
/// what the call itself remembers is added to the fold.
pub(super) struct LiveSession<'a> {
    place: Place<'a>,
    pub(super) known: Session,
    /// Held while this call counts: two hooks that count at the same time would get the same number.
    alone: Option<JournalLock>,
}

impl<'a> Deref for LiveSession<'a> {
    type Target = Place<'a>;

    fn deref(&self) -> &Place<'a> {
        &self.place
    }
}

impl<'a> Place<'a> {
    /// Folds what was said and done in this session.
    pub(super) fn fold(self) -> LiveSession<'a> {
        self.fold_locked(None)
    }

    /// Folds the session for an event. `None` where another hook of the same client took in this very report.
    pub(super) fn fold_for(
        self,
        event: &str,
        moment: HookMoment,
        payload: &HookPayload,
        report: ShortHash,
    ) -> Result<Option<LiveSession<'a>>> {
        // Each prompt of a person is another one, so that a report that names it comes once, whatever settings start us for it.
        let is_unique = matches!(moment, HookMoment::Prompt | HookMoment::TurnEnd)
            && payload.prompt_id.is_some()
            && !self.client.spec().habits.prompts_itself;
        let may_be_second = is_unique || comes_without_id(moment, payload) && self.is_started_twice();
        let counts = counts_once(moment, payload);
        let alone = if may_be_second || counts { self.agents_journal().alone() } else { None };
        let mut live = self.fold_locked(alone);
        if may_be_second {
            let times = live.known.heard.get(&report).copied().unwrap_or(0);
            live.remember(AgentAction::Heard, event, Some(report))?;
            // Two files that start us report each thing twice: every second report is the same.
            if times > 0 && (is_unique || !times.is_multiple_of(2)) {
                return Ok(None);
            }
        }
        live.alone = live.alone.filter(|_| counts);
        Ok(Some(live))
    }

    fn fold_locked(self, alone: Option<JournalLock>) -> LiveSession<'a> {
        let facts = self.agents_journal().agent_facts();
        let known = Session::from_facts(&facts, self.client, self.session.as_deref());
        LiveSession { place: self, known, alone }
    }

    fn agents_journal(&self) -> Journal {
        Journal::of_agents(self.ws.repo.git_dir())
    }

    /// An action of this session, seen now.
    pub(super) fn fact(&self, deed: AgentAction, about: &str, mark: Option<ShortHash>) -> AgentFact {
        let (at, session) = (Some(self.ctx.now), self.session.clone());
        AgentFact { at, client: self.client, session, deed, about: about.to_owned(), mark }
    }

    /// Keeps what was done in the journal of agents.
    pub(super) fn remember(
        &self,
        deed: AgentAction,
        about: &str,
        mark: Option<ShortHash>,
    ) -> Result<AgentFact> {
        let fact = self.fact(deed, about, mark);
        self.agents_journal().append(&JournalLine::Agent(Box::new(fact.clone())))?;
        Ok(fact)
    }

    /// True where the settings of the project and those of the user start us: an event then comes twice and counts once.
    fn is_started_twice(&self) -> bool {
        let roots = roots(self.ctx, Some(&self.ws.repo));
        let starts = |scope| {
            let files = files(self.client, scope, &roots);
            let is_ours = |file: &SettingsFile| file.way != FileOwner::Shared || !programs(file).is_empty();
            files.iter().any(|file| file.path.is_file() && is_ours(file))
        };
        starts(Scope::User) && starts(Scope::Project)
    }

    /// The id of the `number`th fact of its kind in this session, for any client whose settings started us.
    pub(super) fn id(&self, kind: &str, about: &str, number: u64) -> ShortHash {
        let owner = self.session.as_deref().unwrap_or(self.client.as_str());
        events::mark(&[kind, owner, about, &number.to_string()])
    }

    /// The mark of something in this session.
    pub(super) fn mark(&self, parts: &[&str]) -> ShortHash {
        let own = [self.client.as_str(), self.session.as_deref().unwrap_or_default()];
        events::mark(&[&own[..], parts].concat())
    }

    /// An event of this session, seen now.
    pub(super) fn event(&self, id: Option<ShortHash>, what: EventKind) -> JournalLine {
        let (at, uptime) = (Some(self.ctx.now), self.ctx.uptime());
        let (node, session) = (self.ctx.actor().node, self.session.clone());
        JournalLine::Event(Box::new(Event { at, uptime, node, session, id, trace: None, what }))
    }

    /// Tokens, with the size of the window where the client names none.
    pub(super) fn usage(&self, id: Option<ShortHash>, mut usage: Usage) -> JournalLine {
        usage.window_tokens = usage.window_tokens.or(self.client.spec().window);
        self.event(id, EventKind::Usage(usage))
    }

    /// True where a person uses the client interactively, as far as its hooks know.
    pub(super) fn is_attended(&self) -> bool {
        self.client.spec().attended.is_some_and(|(name, value)| self.ctx.var(name) == Some(value))
    }

    /// Keeps a fact in the journal of this worktree.
    pub(super) fn append(&self, line: &JournalLine) -> Result<()> {
        Ok(Journal::open(self.ws.repo.git_dir()).append(line)?)
    }

    /// HEAD, as a text.
    pub(super) fn head(&self) -> Result<String> {
        Ok(self.ws.repo.head()?.commit().map_or_else(String::new, |head| head.to_string()))
    }
}

impl LiveSession<'_> {
    /// Keeps what was done, in the journal and in the fold.
    pub(super) fn remember(&mut self, deed: AgentAction, about: &str, mark: Option<ShortHash>) -> Result<()> {
        let fact = self.place.remember(deed, about, mark)?;
        self.known.take(&fact, self.place.client, self.place.session.as_deref());
        Ok(())
    }

    /// The context window was compacted: several hooks report one compaction.
    pub(super) fn compacted(&mut self) -> Result<()> {
        if self.known.just_compacted {
            return Ok(());
        }
        let number = self.known.compacted;
        self.remember(AgentAction::Compacted, &number.to_string(), None)?;
        let id = self.session.is_some().then(|| self.id("compacted", "", number));
        self.append(&self.event(id, EventKind::Renewed(Renewal::Compaction)))
    }
}

/// True for reports that nothing but their bytes tells apart.
fn comes_without_id(moment: HookMoment, payload: &HookPayload) -> bool {
    if moment == HookMoment::AfterTool {
        return payload.calls.is_empty() || payload.calls.iter().any(|call| call.used.id.is_none());
    }
    !matches!(moment, HookMoment::BeforeTool | HookMoment::SettingsChanged | HookMoment::Aside)
}

/// True for reports that count something once in the session, by its id or by its number: a client starts all hooks of an event at
/// the same time.
fn counts_once(moment: HookMoment, payload: &HookPayload) -> bool {
    let is_compacted = || payload.source.as_deref() == Some("compact");
    matches!(moment, HookMoment::AfterTool | HookMoment::Compacting | HookMoment::Compacted)
        || moment == HookMoment::SessionStart && is_compacted()
}

/// The context as the shell of the client would have it: what is seen here is seen by an agent.
pub(super) fn of_agent(ctx: &Context, client: Client) -> Context {
    let mut ctx = ctx.clone();
    let own = markers_of(client).next();
    let (name, value) = own.map_or(("AGENT", "1"), |marker| (marker.name, marker.value.unwrap_or("1")));
    ctx.vars.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    ctx
}

/// Bytes of a transcript that are read, from its end.
const TAIL: u64 = 256 << 10;

/// The last bytes of a plain file; nothing where there is none.
pub(super) fn tail_of(path: &Path) -> Option<Vec<u8>> {
    from_end(&mut open_plain(path).ok()??, &[TAIL], |_, bytes| Some(bytes)).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tail_of_a_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        std::fs::write(&path, vec![b'a'; 10]).unwrap();
        assert_eq!(tail_of(&path).unwrap().len(), 10);
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(tail_of(&path).unwrap().len() as u64, TAIL);
        assert_eq!((tail_of(dir.path()), tail_of(&dir.path().join("none"))), (None, None));
    }
}
