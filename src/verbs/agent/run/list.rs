//! `andon agent list`: which clients have our hooks, and whether they run them.

use crate::setup::clients::{ClientHooks, gather};
use andon_engine::context::Context;
use andon_git::Repo;

/// Looks at every client, in this repository and for this user. Outside of a repository the user's settings are looked at.
pub fn list(ctx: &Context) -> Vec<ClientHooks> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env).ok();
    gather(ctx, repo.as_ref())
}
