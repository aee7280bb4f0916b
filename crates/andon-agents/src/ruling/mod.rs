//! What an agent may do, decided from values: which tool calls are refused, whether a turn may end, and what was said already.
//! The client's hook (`src/verbs/agent_hook/` of the program) asks and has the words; [`crate::reply`] puts them into the
//! client's own form.

mod before;
mod readers;
mod session;
mod shell;
mod testing;
mod turn;
mod words;

pub use before::{CallRuling, RefusalReason, ToolGround, before_tool, touch};
pub use session::{OpenTurn, Session, Touch, in_order};
pub use shell::runs_git;
pub use testing::{TestPlace, Tests, as_andon_test, decided_by, plain_words};
pub use turn::{TurnRuling, TurnState, turn_end};
