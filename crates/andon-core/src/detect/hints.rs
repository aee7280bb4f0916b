//! The way out of a refusal for untested code: a function of the state in which the commit was refused, one row a state.
//! A person who follows the first command word for word and commits again passes after at most two such rounds, and loses
//! nothing: no command takes work out of the working tree or the index, none stages what was staged in part, and none
//! ends a merge, a pick, a revert or a rebase that is under way.

use super::{CommitDraft, IndexUse, PathDifference, Staging, Whereabouts};
use crate::domain::Hint;

/// The key of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct State<'a> {
    /// The commit that was refused; `None` where no commit is being made.
    pub(super) making: Option<&'a CommitDraft>,
    /// The first of the paths that differ between the tested code and that of the commit.
    pub(super) paths: &'a [PathDifference],
    /// The number of all that differ.
    pub total: u64,
    /// The state of staging, which tells if the tests ran with all that the working tree has now.
    pub(super) staging: Staging,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HintCommand {
    /// `andon test`: the working tree holds what is committed.
    Test,
    /// Tests what is being committed in a checkout of its own.
    Exact,
    /// The same, as the second choice.
    OrExact,
    /// Stages the named files.
    Add,
    /// The same, as the second choice.
    OrAdd,
    /// Makes git see the files that it is configured to skip.
    Unveil,
}

/// A state, and its ways out, the best first.
type Row = (fn(&State<'_>) -> bool, &'static [HintCommand]);

/// The first row that applies holds.
const ROWS: [Row; 9] = [
    // No commit is being made.
    (|state| state.making.is_none(), &[HintCommand::Test]),
    // The working tree holds what is committed, also where a hook changed it since.
    (|state| state.all(Whereabouts::AsCommitted), &[HintCommand::Test]),
    // Paths were given.
    (|state| state.index() == IndexUse::Paths, &[HintCommand::Exact]),
    // A merge, a cherry-pick or a revert that waits for its commit, or a rebase that stopped.
    (|state| state.making.is_some_and(|making| making.underway), &[HintCommand::Exact]),
    // A repository inside, or work that is staged in part.
    (|state| state.is_nested_or_partly_staged(), &[HintCommand::Exact]),
    // A submodule with changes of its own.
    (|state| state.any(Whereabouts::ChangedSubmodule), &[HintCommand::Exact, HintCommand::Unveil]),
    // Hidden from git.
    (|state| state.any(Whereabouts::Veiled), &[HintCommand::Exact, HintCommand::Unveil]),
    // Work that is not staged: tracked, untracked, or declared with add -N.
    (|state| state.is_unstaged(), &[HintCommand::Add, HintCommand::OrExact]),
    // Edited or taken away since.
    (|_| true, &[HintCommand::Exact, HintCommand::OrAdd]),
];

impl State<'_> {
    fn index(&self) -> IndexUse {
        self.making.map_or(IndexUse::AsIs, |making| making.index)
    }

    fn any(&self, wanted: Whereabouts) -> bool {
        self.paths.iter().any(|path| path.state == wanted)
    }

    fn all(&self, wanted: Whereabouts) -> bool {
        self.is_named() && self.paths.iter().all(|path| path.state == wanted)
    }

    fn is_nested_or_partly_staged(&self) -> bool {
        self.any(Whereabouts::Nested)
            || (self.any(Whereabouts::PartlyStaged) && !self.any(Whereabouts::ChangedSubmodule))
    }

    /// A missing file may be marked in git as left out.
    fn is_unstaged(&self) -> bool {
        self.is_named() && self.staging == Staging::OnlyUnstaged && !self.any(Whereabouts::Gone)
    }

    /// Returns whether every path that differs is known.
    fn is_named(&self) -> bool {
        u64::try_from(self.paths.len()).unwrap_or(u64::MAX) >= self.total
    }

    fn add(&self, hint: Hint) -> Option<String> {
        use Whereabouts::{Gone, Intended, Unstaged, Untracked};
        let stageable = |path: &&PathDifference| matches!(path.state, Gone | Unstaged | Untracked | Intended);
        let words: Vec<&str> = self.paths.iter().filter(stageable).map(|path| path.word.as_str()).collect();
        (self.is_named() && !words.is_empty()).then(|| hint.with([&words.join(" ")]))
    }

    fn commands(&self, way: HintCommand) -> Vec<String> {
        let exact = || self.making.map_or_else(|| Hint::Test.into(), |making| making.exact.clone());
        match way {
            HintCommand::Test => vec![Hint::Test.into()],
            HintCommand::Exact => vec![exact()],
            HintCommand::OrExact => vec![Hint::TestExactly.with([&exact()])],
            HintCommand::Add => self.add(Hint::AddListed).into_iter().collect(),
            HintCommand::OrAdd => self.add(Hint::TakeAlong).into_iter().collect(),
            HintCommand::Unveil => {
                let hints = self.paths.iter().filter_map(|path| path.hint.as_ref());
                hints.take(UNVEILED).map(|hint| hint.command.clone()).collect()
            }
        }
    }
}

/// Most commands for hidden paths.
const UNVEILED: usize = 3;

/// The commands that lead out, the best first.
pub(super) fn ways(state: &State<'_>) -> Vec<String> {
    let row = ROWS.iter().find(|(is, _)| is(state));
    row.into_iter().flat_map(|(_, ways)| *ways).flat_map(|way| state.commands(*way)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::situation::{PathHint, Side};
    use crate::domain::Tracking;

    fn path(name: &str, state: Whereabouts) -> PathDifference {
        let hint = matches!(state, Whereabouts::Veiled | Whereabouts::ChangedSubmodule)
            .then(|| PathHint { reason: "r".to_owned(), command: format!("see {name}") });
        PathDifference {
            path: name.as_bytes().to_vec(),
            word: name.to_owned(),
            tracking: Tracking::Tracked,
            hint,
            side: Side::Run,
            state,
        }
    }

    fn making(git: &str, index: IndexUse) -> CommitDraft {
        let exact = if index == IndexUse::AsIs { "andon test --staged" } else { "andon test --tree T" };
        CommitDraft { underway: git != IDLE, index, exact: exact.to_owned() }
    }

    const IDLE: &str = "nothing";

    type Case<'a> = (&'a str, Option<CommitDraft>, Vec<PathDifference>, Staging, Vec<&'a str>);

    /// Each row by the state that it is for, with the commands that lead out of it.
    #[test]
    #[allow(clippy::too_many_lines, reason = "one table")]
    fn each_state_has_its_way_out() {
        use IndexUse::{All, AsIs, Paths};
        use Whereabouts::*;
        let staged = "andon test --staged";
        let only = Staging::OnlyUnstaged;
        let at = |under, index| Some(making(under, index));
        let a = |state| vec![path("a", state)];
        let table: Vec<Case<'_>> = vec![
            ("no commit", None, a(Unstaged), only, vec!["andon test"]),
            ("never ran", at(IDLE, AsIs), vec![], Staging::Edited, vec!["andon test"]),
            ("as committed", at("merge", Paths), a(AsCommitted), Staging::Edited, vec!["andon test"]),
            ("paths given", at(IDLE, Paths), a(Unstaged), only, vec!["andon test --tree T"]),
            ("merge", at("merge", AsIs), a(Unstaged), only, vec![staged]),
            ("pick", at("pick", AsIs), a(Unstaged), only, vec![staged]),
            ("revert", at("revert", AsIs), a(PartlyStaged), only, vec![staged]),
            ("rebase", at("rebase", AsIs), a(Untracked), only, vec![staged]),
            ("nested", at(IDLE, AsIs), a(Nested), only, vec![staged]),
            ("submodule", at(IDLE, AsIs), a(ChangedSubmodule), only, vec![staged, "see a"]),
            (
                "partly",
                at(IDLE, AsIs),
                vec![path("a", PartlyStaged), path("b", Unstaged)],
                only,
                vec![staged],
            ),
            ("veiled", at(IDLE, AsIs), a(Veiled), only, vec![staged, "see a"]),
            (
                "unstaged",
                at(IDLE, AsIs),
                vec![path("a", Unstaged), path("b", Untracked), path("c", Intended)],
                only,
                vec!["git add -- a b c", "or test exactly what is committed: andon test --staged"],
            ),
            (
                "untracked with commit -a",
                at(IDLE, All),
                a(Untracked),
                only,
                vec!["git add -- a", "or test exactly what is committed: andon test --tree T"],
            ),
            ("gone", at(IDLE, AsIs), a(Gone), only, vec![staged, "or take these files along: git add -- a"]),
            (
                "edited since",
                at(IDLE, AsIs),
                a(Unstaged),
                Staging::Edited,
                vec![staged, "or take these files along: git add -- a"],
            ),
        ];
        let mut rows = std::collections::BTreeSet::new();
        for (name, making, paths, staging, wanted) in &table {
            let total = u64::try_from(paths.len()).unwrap();
            let state = State { making: making.as_ref(), paths, total, staging: *staging };
            assert_eq!(ways(&state), *wanted, "{name}");
            rows.insert(ROWS.iter().position(|(is, _)| is(&state)).unwrap());
        }
        assert_eq!(rows.len(), ROWS.len(), "each row has its case");
    }

    #[test]
    fn what_is_not_named_is_not_staged() {
        let (making, paths) = (making(IDLE, IndexUse::AsIs), [path("a", Whereabouts::Unstaged)]);
        let state = State { making: Some(&making), paths: &paths, total: 40, staging: Staging::OnlyUnstaged };
        assert_eq!(ways(&state), ["andon test --staged"]);
    }
}
