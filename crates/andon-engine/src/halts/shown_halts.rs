//! Whether the file of a halt is here, and which halts of other clones this worktree has shown: `<git dir>/andon/shown`, an
//! entry id a line.
//!
//! A missing report file means a deletion only where the file was written before. For a halt of this worktree that is
//! always so; a halt that came by a sync has no report file until it is written here.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use crate::effect::FilePresence;
use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::domain::findings::ReportFile;
use andon_core::domain::ids::EntryId;
use andon_store::RecordError;

/// Most bytes that are read: some thousand halts.
const MAX_BYTES: u64 = 1 << 18;

/// Whether a file that shows the halt is still there. Only one that is known to be gone is not: when `.andon` is no
/// directory any more, that is no answer.
pub fn report_file_present(ws: &Workspace, report_file: ReportFile) -> bool {
    ws.andon_dir().is_some_and(|dir| dir.look(report_file.file_name()) != FilePresence::Gone)
}

fn path(ws: &Workspace) -> PathBuf {
    ws.repo.git_dir().join("andon").join("shown")
}

/// Whether the report file of `halt` was written here.
pub(crate) fn was(ws: &Workspace, halt: EntryId) -> bool {
    let mut text = String::new();
    let read = fs::File::open(path(ws)).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    let halt = halt.to_string();
    read.is_ok() && text.lines().any(|line| line == halt)
}

/// Remembers that the report file of `halt` was written here.
pub(crate) fn mark(ws: &Workspace, halt: EntryId) -> Result<(), OpsError> {
    if was(ws, halt) {
        return Ok(());
    }
    let path = path(ws);
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        OpenOptions::new().append(true).create(true).open(&path)?.write_all(format!("{halt}\n").as_bytes())
    };
    write().map_err(|source| RecordError::Io { doing: "append to", path: path.clone(), source }.into())
}
