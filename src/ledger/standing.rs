//! Which halts stand: a fold over this clone's own entries, kept beside the ref's tip it holds for, so that a hook
//! looks at new entries only. The cache is safe to delete.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use super::{Ledger, LedgerError, PREFIX, file};
use crate::domain::decision::{LedgerEvent, StandingHalt};
use crate::domain::ids::{CommitId, EntryId};

const FILE: &str = "andon/cache/standing";
const HEAD: &str = "andon/standing@1";
const MAX_CACHE: u64 = 1 << 20;

/// Open halts by worktree.
type Open = BTreeMap<String, (EntryId, CommitId)>;

pub(super) fn find(ledger: &Ledger<'_>, worktree: &str) -> Result<Option<StandingHalt>, LedgerError> {
    // Without a writer id this clone has never written: no need to make one just to look.
    let Some(writer) = ledger.known_writer()? else { return Ok(None) };
    let Some(tip) = ledger.repo.ref_commit(&format!("{PREFIX}{writer}"))? else { return Ok(None) };
    let open = fold(ledger, tip)?;
    let Some((id, commit)) = open.get(worktree).copied() else { return Ok(None) };
    let entry = ledger.read(commit).map_err(|skip| LedgerError::Unreadable { commit, why: skip.why })?;
    match entry.event {
        Some(LedgerEvent::Halted(halt)) => Ok(Some(StandingHalt { id, halt: *halt })),
        Some(LedgerEvent::Acknowledged(_)) | None => {
            Err(LedgerError::Unreadable { commit, why: "it is no halt".to_owned() })
        }
    }
}

/// Whether this clone has ever looked at entries of its own.
pub(super) fn was_written(common_dir: &Path) -> bool {
    common_dir.join(FILE).is_file()
}

fn fold(ledger: &Ledger<'_>, tip: CommitId) -> Result<Open, LedgerError> {
    let path = ledger.repo.common_dir().join(FILE);
    let cached = read(&path);
    if let Some((_, open)) = cached.as_ref().filter(|(known, _)| *known == tip) {
        return Ok(open.clone());
    }
    let (mut chain, mut open) = (Vec::new(), Open::new());
    let mut at = Some(tip);
    while let Some(commit) = at {
        if let Some((_, known)) = cached.as_ref().filter(|(known, _)| *known == commit) {
            open = known.clone();
            break;
        }
        chain.push(commit);
        at = own_parent(ledger, commit)?;
    }
    for commit in chain.into_iter().rev() {
        // An unreadable entry neither halts nor answers; `check` and `doctor` name it.
        if let Ok(entry) = ledger.read(commit) {
            apply(&mut open, entry.id, commit, entry.event);
        }
    }
    // A cache that cannot be written only costs time.
    let _ = write(&path, tip, &open);
    Ok(open)
}

/// The writer's previous entry. The first entry's first parent may be another writer's head; walking on into it
/// would take that writer's halts for ours.
fn own_parent(ledger: &Ledger<'_>, commit: CommitId) -> Result<Option<CommitId>, LedgerError> {
    let Some(parent) = ledger.repo.commit(commit)?.parents.first().copied() else { return Ok(None) };
    let writers =
        (ledger.read(commit).map(|entry| entry.writer), ledger.read(parent).map(|entry| entry.writer));
    Ok(match writers {
        (Ok(own), Ok(before)) if own != before => None,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => Some(parent),
    })
}

fn apply(open: &mut Open, id: EntryId, commit: CommitId, event: Option<LedgerEvent>) {
    match event {
        Some(LedgerEvent::Halted(halt)) => {
            open.insert(halt.worktree, (id, commit));
        }
        Some(LedgerEvent::Acknowledged(ack)) => open.retain(|_, (halt, _)| Some(*halt) != ack.halt),
        None => {}
    }
}

fn read(path: &Path) -> Option<(CommitId, Open)> {
    parse(&file::read(path, MAX_CACHE).ok()??)
}

fn parse(bytes: &[u8]) -> Option<(CommitId, Open)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let tip = lines.next()?.parse().ok()?;
    let mut open = Open::new();
    for line in lines {
        if line == "end" {
            return Some((tip, open));
        }
        let mut words = line.splitn(3, ' ');
        let (id, commit, worktree) = (words.next()?, words.next()?, words.next()?);
        open.insert(worktree.to_owned(), (id.parse().ok()?, commit.parse().ok()?));
    }
    // Without its last line the file is cut short.
    None
}

fn write(path: &Path, tip: CommitId, open: &Open) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut text = format!("{HEAD}\n{tip}\n");
    for (worktree, (id, commit)) in open {
        // A name with a line break cannot be kept; then nothing is, and the fold runs each time.
        if worktree.contains('\n') {
            return Ok(());
        }
        let _ = writeln!(text, "{id} {commit} {worktree}");
    }
    text.push_str("end\n");
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(|_| ()).map_err(|err| err.error)
}
