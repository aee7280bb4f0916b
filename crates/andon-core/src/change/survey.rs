//! Gathers the facts of [`crate::domain::change`] together with the diff hash, in one walk over the diff: no file is
//! read twice, and only changed lines and changed documents are read.

use sha2::{Digest as _, Sha256};

use super::{nature, normalize::Normalizer, rewrites::ChangedLines};
use crate::domain::{
    Change, ChangeFacts, Checklist, DocsState, HunkHash, Nature, Oid, PathClass, PathRules, PathStep,
};

/// Text of documents beyond this in one commit is not looked at, in bytes.
const MAX_DOCS: usize = 1 << 20;

/// The facts so far.
pub(super) struct Survey<'a> {
    rules: &'a PathRules,
    normalizer: &'a Normalizer,
    facts: ChangeFacts,
    lines: ChangedLines,
    docs: Option<Docs>,
    docs_left: usize,
}

struct Docs {
    hash: Sha256,
    was: Checklist,
    now: Checklist,
}

impl<'a> Survey<'a> {
    pub(super) fn new(rules: &'a PathRules, normalizer: &'a Normalizer) -> Self {
        let (facts, lines) =
            (ChangeFacts { nature: Nature::Nothing, ..ChangeFacts::default() }, ChangedLines::default());
        Self { rules, normalizer, facts, lines, docs: None, docs_left: MAX_DOCS }
    }

    /// Notes which path changed from what to what; a move is two steps.
    pub(super) fn step(&mut self, change: &Change) {
        match &change.old_path {
            Some(old_path) => {
                self.push(old_path, change.old, None);
                self.push(&change.path, None, change.new);
            }
            None => self.push(&change.path, change.old, change.new),
        }
    }

    fn push(&mut self, path: &[u8], old: Option<(u32, Oid)>, new: Option<(u32, Oid)>) {
        if self.facts.paths.len() < ChangeFacts::MAX_PATHS {
            let hash = path_hash(path);
            self.facts.paths.push(PathStep { path: hash, old: state(old), new: state(new) });
            self.facts.pipelines.extend(is_pipeline(path).then_some(hash));
        } else {
            self.facts.truncated = true;
        }
    }

    /// The nature of a change without lines: a mode, a move, a binary file.
    pub(super) fn no_lines(&mut self, change: &Change) {
        let same = change.old.map(|side| side.1) == change.new.map(|side| side.1);
        let nature = if self.is_document(&change.path) {
            Nature::Docs
        } else if same && change.old_path.is_none() {
            Nature::Mode
        } else {
            Nature::Work
        };
        self.facts.nature = self.facts.nature.and(nature);
    }

    /// A text that changed, with the hunks that normalization left.
    pub(super) fn lines<L: AsRef<[u8]>>(&mut self, change: &Change, hunks: &[(&[L], &[L])]) {
        if hunks.is_empty() {
            return self.no_lines(change);
        }
        let document = self.is_document(&change.path);
        let whole = change.old.is_none() || change.new.is_none();
        let file = nature::FileText::of(&change.path);
        let path = path_hash(&change.path);
        for (removed, added) in hunks {
            let found = file.of_hunk(removed, added);
            let found = if matches!(found, Nature::Log | Nature::Space) {
                found
            } else if document {
                Nature::Docs
            } else if whole {
                // A new or deleted file is more than its lines.
                Nature::Work
            } else {
                found
            };
            self.facts.nature = self.facts.nature.and(found);
            if !whole && file.language.is_some() && found != Nature::Log {
                self.lines.take(path, [removed, added]);
            }
        }
        let modes = change.old.zip(change.new).is_some_and(|(old, new)| old.0 != new.0);
        self.facts.nature = self.facts.nature.and(if modes { Nature::Mode } else { Nature::Nothing });
    }

    /// Both texts of a document.
    pub(super) fn document(&mut self, change: &Change, old: &[u8], new: &[u8]) {
        let size = old.len().saturating_add(new.len());
        if !self.is_document(&change.path) || nature::is_log(&change.path) || size > self.docs_left {
            return;
        }
        self.docs_left -= size;
        let docs = self.docs.get_or_insert_with(|| Docs {
            hash: Sha256::new_with_prefix(b"andon/docs@1\n"),
            was: Checklist::default(),
            now: Checklist::default(),
        });
        docs.hash.update(Sha256::digest(&change.path));
        let mut words = Vec::with_capacity(new.len());
        for line in new.split_inclusive(|byte| *byte == b'\n') {
            let line = self.normalizer.line(line);
            line.split(u8::is_ascii_whitespace).for_each(|word| words.extend_from_slice(word));
        }
        words.push(b'\n');
        docs.hash.update(&words);
        count(&mut docs.was, old);
        count(&mut docs.now, new);
    }

    pub(super) fn finish(mut self) -> (ChangeFacts, ChangedLines) {
        self.facts.docs = self.docs.map(|docs| DocsState {
            hash: first_eight(docs.hash.finalize().into()),
            was: docs.was,
            now: docs.now,
        });
        (self.facts, self.lines)
    }

    fn is_document(&self, path: &[u8]) -> bool {
        self.rules.class(path) == PathClass::Docs && !is_pipeline(path)
    }
}

/// The beginnings of the paths of builds elsewhere.
const PIPELINES: &str =
    ".appveyor.yml .circleci/ .github/ .gitlab-ci .travis.yml appveyor.yml azure-pipelines";

/// Returns whether a path is that of a build elsewhere: who changes it works, also where it is a document for the gate.
pub fn is_pipeline(path: &[u8]) -> bool {
    PIPELINES.split(' ').any(|start| path.starts_with(start.as_bytes())) && !path.ends_with(b".md")
}

/// Adds the items of a Markdown text: `- [x]`, `* [ ]`, `1. [X]`.
fn count(list: &mut Checklist, text: &[u8]) {
    let boxes = if text.contains(&b'[') { text } else { &[] };
    for line in boxes.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_start();
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = match line.get(digits..) {
            Some([b'-' | b'*' | b'+', rest @ ..]) if digits == 0 => rest,
            Some([b'.' | b')', rest @ ..]) if digits > 0 => rest,
            Some(_) | None => continue,
        };
        if let [b'[', mark @ (b' ' | b'x' | b'X'), b']', ..] = rest.trim_ascii_start() {
            list.total = list.total.saturating_add(1);
            list.done = list.done.saturating_add(u64::from(*mark != b' '));
        }
    }
}

fn state(side: Option<(u32, Oid)>) -> HunkHash {
    side.map_or(PathStep::ABSENT, |(mode, id)| {
        let hash = Sha256::new_with_prefix(mode.to_be_bytes()).chain_update(id.as_bytes());
        first_eight(hash.finalize().into())
    })
}

/// The hash by which [`PathStep`] names a path.
pub fn path_hash(path: &[u8]) -> HunkHash {
    first_eight(Sha256::digest(path).into())
}

pub(super) fn first_eight(digest: [u8; 32]) -> HunkHash {
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    HunkHash(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_elsewhere_are_work() {
        for (path, is) in [
            (".github/workflows/ci.yml", true),
            (".github/ISSUE_TEMPLATE.md", false),
            (".gitlab-ci.yml", true),
            (".circleci/config.yml", true),
            (".travis.yml", true),
            ("azure-pipelines.yml", true),
            ("sub/azure-pipelines.yml", false),
            ("docs/.github/x.yml", false),
        ] {
            assert_eq!(is_pipeline(path.as_bytes()), is, "{path}");
        }
    }

    #[test]
    fn checklists_are_counted() {
        let mut list = Checklist::default();
        count(
            &mut list,
            b"# x\n- [ ] a\n- [x] b\n  * [X] c\n1. [ ] d\n12) [x] e\n- a [x]\n[x]\n-[ ]\n- [y] z\n",
        );
        assert_eq!(list, Checklist { done: 3, total: 6 });
    }
}
