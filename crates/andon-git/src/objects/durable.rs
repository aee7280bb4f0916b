//! A power cut may cost as much as `core.fsync` allows, or the older `core.fsyncObjectFiles`. libgit2 knows only the
//! latter, so what git would harden is hardened here.

use std::{fs::File, path::Path};

use crate::{GitError, Repo, Result};
use andon_core::domain::Oid;

/// The parts that have to be on the disk before we continue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SyncedParts {
    objects: bool,
    references: bool,
}

impl SyncedParts {
    /// From `core.fsync`. git's own default hardens neither loose objects nor references.
    fn parse(setting: &str) -> Self {
        let mut hardened = Self::default();
        for word in setting.split(',').map(str::trim) {
            hardened.objects |= matches!(word, "loose-object" | "objects" | "committed" | "added" | "all");
            hardened.references |= matches!(word, "reference" | "all");
        }
        hardened
    }
}

impl Repo {
    /// The parts that the repository wants hardened.
    pub(crate) fn hardened(&self) -> SyncedParts {
        self.config_string("core.fsync").as_deref().map_or_else(
            // As git does it: the older word counts where the newer is missing.
            || SyncedParts {
                objects: self
                    .inner
                    .config()
                    .is_ok_and(|config| config.get_bool("core.fsyncObjectFiles").unwrap_or(false)),
                ..SyncedParts::parse("")
            },
            SyncedParts::parse,
        )
    }

    /// Hardens loose objects, before a ref leads to them.
    pub(crate) fn harden_objects(&self, what: SyncedParts, ids: &[Oid]) -> Result<()> {
        if !what.objects {
            return Ok(());
        }
        for id in ids {
            match sync(&self.loose_path(*id)) {
                // It was packed meanwhile, or taken by a gc: then it is written again.
                Err(GitError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Hardens a ref that was moved.
    pub(crate) fn harden_reference(&self, what: SyncedParts, name: &str) -> Result<()> {
        let path = self.common_dir().join(name);
        if !what.references || !path.exists() {
            return Ok(());
        }
        sync(&path)?;
        path.parent().map_or(Ok(()), sync)
    }
}

fn sync(path: &Path) -> Result<()> {
    let io = |source| GitError::Io { path: path.to_owned(), source };
    File::open(path).and_then(|file| file.sync_all()).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewCommit, Update, testkit::Scratch};
    use andon_core::domain::Timestamp;

    #[test]
    fn core_fsync_is_read_as_git_reads_it() {
        let hardened = |objects, references| SyncedParts { objects, references };
        for (setting, wanted) in [
            ("", hardened(false, false)),
            ("none", hardened(false, false)),
            ("none,pack-metadata", hardened(false, false)),
            ("pack,index", hardened(false, false)),
            ("-loose-object", hardened(false, false)),
            ("-pack", hardened(false, false)),
            ("committed,-pack", hardened(true, false)),
            ("reference, -all", hardened(false, true)),
            ("committed", hardened(true, false)),
            ("added, reference", hardened(true, true)),
            ("all", hardened(true, true)),
        ] {
            assert_eq!(SyncedParts::parse(setting), wanted, "{setting}");
        }
    }

    #[test]
    fn refs_are_written_with_everything_hardened() {
        let scratch = Scratch::new();
        scratch.git(&["config", "core.fsync", "all"]);
        let repo = scratch.open();
        let update = |tip: Option<andon_core::domain::CommitId>| {
            let tree = repo.write_tree_entries(&[])?;
            let new = NewCommit { tree, parents: tip.as_slice(), message: "m", at: Timestamp(1) };
            Ok(Update::Set(repo.write_commit(&new)?, ()))
        };
        repo.update_ref("refs/andon/test", "", update).unwrap();
        scratch.git(&["pack-refs", "--all"]);
        repo.update_ref("refs/andon/test", "", update).unwrap();
        assert_eq!(scratch.git(&["rev-list", "--count", "refs/andon/test"]), "2");
    }
}
