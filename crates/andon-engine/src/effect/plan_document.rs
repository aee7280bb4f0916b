//! The document that says what is to be done, as far as its headings and its checklist tell.

use std::fs::File;
use std::io::Read as _;

use andon_core::domain::briefing::Plan;
use andon_core::policy;
use andon_git::Repo;

/// Where a task or a plan is looked for, the first that is there; from the top of the working tree.
const PLANS: [&str; 8] = [
    ".andon/TASK.md",
    "TASK.md",
    "PLAN.md",
    "TODO.md",
    "TASKS.md",
    "ROADMAP.md",
    "docs/PLAN.md",
    "docs/ROADMAP.md",
];
/// Bytes of it that are read.
const PLAN_BYTES: u64 = 256 << 10;

/// Reads it. Links are not followed: they could lead anywhere.
pub fn read(repo: &Repo) -> Option<Plan> {
    let top = repo.workdir()?.canonicalize().ok()?;
    PLANS.iter().find_map(|path| {
        let full = top.join(path);
        full.canonicalize().ok().filter(|real| *real == full && real.is_file())?;
        let mut bytes = Vec::new();
        File::open(&full).ok()?.take(PLAN_BYTES).read_to_end(&mut bytes).ok()?;
        Some(policy::plan_of(path, &String::from_utf8_lossy(&bytes)))
    })
}
