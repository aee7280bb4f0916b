//! What the hooks would have seen, had this test command run on each commit: it runs in a checkout of its own, oldest
//! first, and nothing of it is kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use andon_core::domain::ids::{CodeId, CommitId};
use andon_core::domain::tests::TestEvidence;
use andon_engine::context::Context;
use andon_engine::effect::program::StopCause;
use andon_engine::error::OpsError;
use andon_engine::evidence::separate_checkout::{self, TestedSubject};
use andon_engine::evidence::tested_code::CommandResult;
use andon_engine::workspace::Workspace;

/// Runs the command in a workspace; the text says why it could not be started.
pub type CheckoutRunner<'a> = dyn FnMut(&Workspace) -> Result<Result<CommandResult, String>, OpsError> + 'a;

/// One commit whose tests have run.
pub struct TestedCommit<'a> {
    /// The commit.
    pub commit: CommitId,
    /// Its place in the range, from 1.
    pub number: usize,
    /// Commits in the range.
    pub of: usize,
    /// What the tests said; the text says why nothing is known.
    pub result: Result<&'a TestEvidence, &'a str>,
}

/// The results by commit; `None` where a signal stopped the command.
///
/// # Errors
/// The range cannot be read, or a commit not checked out.
pub fn evidence(
    ctx: &Context,
    ws: &Workspace,
    (range, command): (&str, &str),
    runner: &mut CheckoutRunner<'_>,
    tell: &mut dyn FnMut(TestedCommit<'_>),
) -> Result<Option<BTreeMap<CommitId, TestEvidence>>, OpsError> {
    let commits = ws.repo.range(range)?;
    let mut known: BTreeMap<CodeId, Result<TestEvidence, String>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (at, commit) in commits.iter().copied().enumerate() {
        let subject = TestedSubject::Tree(commit.to_string());
        let Some(checkout) = separate_checkout::checkout(ctx, ws, &subject)? else { continue };
        let code = checkout.code;
        // A commit of documents alone has the code, and so the result, of the one before.
        let result = match known.entry(code) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match one(runner(&checkout.ws)?, code, command) {
                Some(result) => place.insert(result),
                None => return Ok(None),
            },
        };
        let result = result.as_ref().map_err(String::as_str);
        tell(TestedCommit { commit, number: at + 1, of: commits.len(), result });
        if let Ok(evidence) = result {
            found.insert(commit, evidence.clone());
        }
    }
    Ok(Some(found))
}

/// What a run says; `None` where a signal stopped it.
fn one(
    executed: Result<CommandResult, String>,
    code: CodeId,
    command: &str,
) -> Option<Result<TestEvidence, String>> {
    match executed {
        Ok(CommandResult { end, .. }) if matches!(end.stopped, StopCause::Forwarded(_)) => None,
        Ok(CommandResult { mut parsed, .. }) => Some(match parsed.not_started.take() {
            Some(why) => Err(why),
            None => Ok(TestEvidence::from_run(parsed, code, command)),
        }),
        Err(why) => Some(Err(why)),
    }
}
