//! `andon agent hook`: what the hooks of agents' clients ask and tell.

mod armed;
mod by_git;
mod decided;
mod halted;
pub mod hook;
mod observed;
mod place;
mod reported;
mod rewrite;
mod seen;
mod tail;
mod turn;
mod twice;
