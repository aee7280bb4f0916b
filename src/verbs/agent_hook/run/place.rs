//! Where an agent is at work: the repository, what guards it, and what its hooks remember.

use std::path::PathBuf;

use andon_agents::ruling::Session;
use andon_core::domain::agent::{Client, markers_of};
use andon_core::domain::agent_door::{AgentAction, AgentFact};
use andon_core::domain::events::{Event, EventKind, Renewal};
use andon_core::domain::ids::ShortHash;
use andon_core::domain::usage::Usage;
use andon_engine::adapter::events;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_store::journal::{Journal, JournalLine, JournalLock};

/// One session of one client in one repository.
pub(super) struct Place<'a> {
    pub(super) ctx: &'a Context,
    pub(super) ws: &'a Workspace,
    pub(super) client: Client,
    pub(super) session: Option<String>,
}

impl Place<'_> {
    /// What was said and done in this session.
    pub(super) fn remembered(&self) -> Session {
        let facts = Journal::of_agents(self.ws.repo.git_dir()).agent_facts();
        Session::from_facts(&facts, self.client, self.session.as_deref())
    }

    /// Keeps what was done.
    pub(super) fn remember(
        &self,
        deed: AgentAction,
        about: &str,
        mark: Option<ShortHash>,
    ) -> Result<(), OpsError> {
        let (at, session) = (Some(self.ctx.now), self.session.clone());
        let fact = AgentFact { at, client: self.client, session, deed, about: about.to_owned(), mark };
        Ok(Journal::of_agents(self.ws.repo.git_dir()).append(&JournalLine::Agent(Box::new(fact)))?)
    }

    /// Waits until no other hook counts.
    pub(super) fn alone(&self) -> Option<JournalLock> {
        Journal::of_agents(self.ws.repo.git_dir()).alone()
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

    /// The context window was compacted: several hooks report one compaction.
    pub(super) fn compacted(&self) -> Result<(), OpsError> {
        let _alone = self.alone();
        let session = self.remembered();
        if session.just_compacted {
            return Ok(());
        }
        self.remember(AgentAction::Compacted, &session.compacted.to_string(), None)?;
        let id = self.session.is_some().then(|| self.id("compacted", "", session.compacted));
        self.append(&self.event(id, EventKind::Renewed(Renewal::Compaction)))
    }

    /// Whether a person uses the client interactively, as far as its hooks know.
    pub(super) fn is_attended(&self) -> bool {
        self.client.spec().attended.is_some_and(|(name, value)| self.ctx.var(name) == Some(value))
    }

    /// Keeps a fact.
    pub(super) fn append(&self, line: &JournalLine) -> Result<(), OpsError> {
        Ok(Journal::open(self.ws.repo.git_dir()).append(line)?)
    }

    /// HEAD, as a text.
    pub(super) fn head(&self) -> Result<String, OpsError> {
        Ok(self.ws.repo.head()?.commit().map_or_else(String::new, |head| head.to_string()))
    }
}

/// The context as the shell of the client would have it: what is seen here is seen by an agent.
pub(super) fn of_agent(ctx: &Context, client: Client) -> Context {
    let mut ctx = ctx.clone();
    let own = markers_of(client).next();
    let (name, value) = own.map_or(("AGENT", "1"), |marker| (marker.name, marker.value.unwrap_or("1")));
    ctx.vars.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    ctx
}

/// Where git looks for hooks, as far as its configuration shows without starting it.
pub(super) fn hooks_dir(ws: &Workspace) -> Option<PathBuf> {
    let top = ws.repo.workdir()?;
    let own = || ws.repo.common_dir().join("hooks");
    Some(
        ws.repo
            .config_string("core.hooksPath")
            .filter(|path| !path.is_empty())
            .map_or_else(own, |path| top.join(path)),
    )
}
