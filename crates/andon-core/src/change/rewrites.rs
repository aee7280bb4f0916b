//! The share of what a commit removes from a file that its author had only just written there: the member `rewrites` of
//! [`ChangeFacts`](crate::domain::ChangeFacts).
//!
//! Lines are compared by their content after normalization, wherever in the file they are. Those of a few characters, such
//! as a closing bracket, are in every change and tell nothing; those that came with the file itself are its first draft; and
//! those that are only moved or indented otherwise are not removed.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::domain::{HunkHash, Rewrite};

/// Lines that are kept of each side of a file.
const MAX_LINES: usize = 1024;
/// So many times more lines are added than removed where a file grows, and is not rewritten.
const GROWTH: usize = 2;
/// Letters and digits of a line that tells something.
const TELLING: usize = 3;

/// The telling lines that a commit removes from files and adds to them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangedLines {
    files: BTreeMap<HunkHash, [BTreeSet<u64>; 2]>,
}

impl ChangedLines {
    /// Takes in a hunk of the file `path`: the lines that it removes, and those that it adds.
    pub(super) fn take<L: AsRef<[u8]>>(&mut self, path: HunkHash, sides: [&[L]; 2]) {
        let file = self.files.entry(path).or_default();
        for (kept, lines) in file.iter_mut().zip(sides) {
            let telling = lines.iter().filter_map(|line| telling(line.as_ref()));
            kept.extend(telling.take(MAX_LINES.saturating_sub(kept.len())));
        }
    }

    /// Returns whether lines of the file `path` are removed.
    pub fn removes_from(&self, path: HunkHash) -> bool {
        self.files.get(&path).is_some_and(|[removed, _]| !removed.is_empty())
    }

    /// Returns whether lines of any file are removed.
    pub fn removes(&self) -> bool {
        self.files.values().any(|[removed, _]| !removed.is_empty())
    }

    /// The files that lose lines which `before` had added, each with their share of all that it loses.
    pub fn rewrites(&self, before: &[impl Borrow<Self>]) -> Vec<Rewrite> {
        let of = |(path, [removed, added]): (&HunkHash, &[BTreeSet<u64>; 2])| {
            let written = |line: &&u64| {
                let mut earlier = before.iter().filter_map(|one| one.borrow().files.get(path));
                earlier.any(|[_, added]| added.contains(*line))
            };
            let (gone, new) = (removed.difference(added), added.difference(removed).count());
            let again = gone.clone().filter(written).count();
            let all = gone.count().max(new / GROWTH).max(1);
            let percent = u64::try_from(again * 100 / all).unwrap_or(0);
            (percent > 0).then_some(Rewrite { path: *path, percent })
        };
        self.files.iter().filter_map(of).collect()
    }
}

/// The hash of a line without the white space around it; `None` where it tells nothing.
fn telling(line: &[u8]) -> Option<u64> {
    let tells = line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).nth(TELLING - 1);
    tells.map(|_| {
        let mut hash = DefaultHasher::new();
        line.trim_ascii().hash(&mut hash);
        hash.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: HunkHash = HunkHash([1; 8]);

    fn lines(removed: &[&str], added: &[&str]) -> ChangedLines {
        let mut all = ChangedLines::default();
        all.take(FILE, [removed, added]);
        all
    }

    #[test]
    fn what_was_just_written_is_told_from_what_was_there() {
        let before = [lines(&[], &["let a = one;", "}", "let b = two;"]), lines(&[], &["let c = three;"])];
        let share = |removed: &[&str]| {
            let found = lines(removed, &[]).rewrites(&before);
            found.first().map_or(0, |file| file.percent)
        };
        for (removed, percent) in [
            (&["let a = one;", "    let b = two;"][..], 100),
            (&["let a = one;", "let z = old;"], 50),
            (&["let a = one;", "let c = three;", "let z = old;"], 66),
            (&["let a = one;", "}", ");", ""], 100),
            (&["}"], 0),
            (&["let z = old;"], 0),
            (&[], 0),
        ] {
            assert_eq!(share(removed), percent, "{removed:?}");
        }
        let moved = lines(&["let a = one;", "let z = old;"], &["  let a = one;"]);
        assert!(moved.rewrites(&before).is_empty(), "indented otherwise");
        let grown = lines(&["let a = one;"], &["new one", "new two", "new three", "new four"]);
        assert_eq!(grown.rewrites(&before)[0].percent, 50, "half of what a file grows by");
        assert!(lines(&["let a = one;"], &[]).rewrites(&[] as &[ChangedLines]).is_empty());
    }

    #[test]
    fn lines_are_bounded() {
        let many: Vec<String> = (0..MAX_LINES + 9).map(|at| format!("line {at}")).collect();
        let mut all = ChangedLines::default();
        all.take(FILE, [&many, &many]);
        all.take(FILE, [&many, &[]]);
        assert_eq!(all.files[&FILE].clone().map(|side| side.len()), [MAX_LINES; 2]);
        assert!(all.removes() && all.removes_from(FILE) && !all.removes_from(HunkHash([2; 8])));
    }
}
