//! The decisions at a commit, a turn or a completion: facts and rules in, a decision out.

pub mod compaction;
pub mod completion;
pub mod fallback;
pub mod guard;
pub mod identity;
pub mod outcomes;
pub mod rule_feed;
pub mod safety;
pub mod turn;
pub mod working_tree;

pub use self::guard::{Judged, UntestedTree};
pub use self::rule_feed::{FeedStage, RuleFeed};
pub use self::{turn::TurnOwner, working_tree::WorkingTree};

use crate::{Context, Workspace, recording::LoadedTimeline};

/// A process that decides, the repository that it decides in, and what it knows of that.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    pub ctx: &'a Context,
    pub ws: &'a Workspace,
    pub loaded: &'a LoadedTimeline,
}
