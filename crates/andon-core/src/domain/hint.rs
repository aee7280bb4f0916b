//! The hints of the program in one list: each is a row of `hints.txt`, word for word as it is shown. The end-to-end tests walk all
//! rows: they make the state, run the command, and hold that it leads out and loses nothing, and no other text names a command.

use std::{fmt, sync::LazyLock};

/// The rows: name, effect and text. A name in braces is a fact of the state, given in the order in which the names come. The
/// command is all of the text, or what follows its last colon. It `changes` files, refs or settings, is a line that `edits`
/// andon.toml, `asks` a person, who knows or chooses something that the state does not tell, or only `shows` something.
static ROWS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("hints.txt").lines().collect());

macro_rules! hints {
    ($($name:ident)+) => {
        /// A hint, by the name of its row.
        #[allow(missing_docs, reason = "the row has the text")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Hint { $($name),+ }

        impl Hint {
            /// Every hint, in the order of the rows.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

hints! {
    Abort Accept AddListed AddOne AddWitness AdviseRecord AgentCommand AgentInstall AgentInstallAny
    AgentList AgentRun AgentSchema AgentUninstall AllowDirectory AmendRed AmendTested AmendTestedElse
    Answer AnswerAtTerminal AnswerByFlags AnswerUnsigned AsPerson AskForMore AskForPanel AtCommit
    AtCommitOr Backfill BeginPolicy Brief BringConfigBack ByExitCode Calibrate CalibrateEvents
    CalibrateGood CatFile Check CheckConfig CheckJson CheckReport CheckTest ChooseEditor ChooseRemote
    CloneWithSha1 CloseRounds Complete Concerns ConfigFileStays Continue CountHandedIn CountHandedInOr
    Countersign DeletePushed DeleteRef Diff DiffConfig DiffSince DirectoryInTheWay Doctor DoctorLive
    DropFetch DropHooksPath DropRewriteRef EditNote EndWithTests FetchAgain FetchBranch FetchCommit
    FetchLedger FetchRecords FetchRecordsAgain FileInTheWay FindCode FindId Flag FreeName Fsck GitShow
    GitStatus Githooks GoBack GrantAccess Help HooksConfigured HooksPath HooksPathOrigin Init
    InitOrFetch Install InstallBehind InstallBeside InstallByShims InstallFetch InstallFirst
    InstallLefthook InstallMode InstallOpenssh KeepNote LedgerElsewhere LedgerId LiftAssumeUnchanged
    LiftFileMode LiftSkipWorktree LiftStat ListLedgers ListWitnesses LoadKey Log LogAll LogBetween
    LogBoth LogConfig LogEvents LogHead LogJson LogLedger LogNewest LogPatches LogShort LoosenRules
    LsRemote MakeCheckout MakeDirectory MakeExecutable MakeHuskyExecutable MakeKey MakeWritable
    MarkPartial MigrateRefs MoreTime MoveFileAway NameBothSides NameCommand NameReport NarrowScope NewId
    NoPush NoPushFromNowOn Observe ObserveCompaction OpenGate OpenRound OtherCommand OtherRemote
    PanelOfThree Pin PinAndCommit PinAnew Policy Precedents PruneWorktrees Purge PushFewer PushLedger
    PutAside PutNoRefAside PutRefAside ReadAndResolve ReadNotes ReadNotesAndLog ReadNotesOf RecordsLog
    Reinstate RemoveConfigLock RemoveLock RemoveStaleLock RepairWorktree Report ReportUsage
    ResolveAndSync ResolveHalt RestoreId RestoreLedger Reveal RevealThere Review ReviewShow RoundHelp
    SayWhy SayWhyLater SendsAlong SendsBranchesAlone SetAside SetGraftAside SetManifestAside SetSigning
    ShortenShown Show ShowAuthor ShowBoth ShowConfig ShowConfigOf ShowEvidence ShowFallback ShowNotes ShowStat SignRound
    SkipWithReason Status StatusEvidence StatusJson StatusOf Stop Sync SyncOrAnswer SyncRemote SyncThere
    TakeAlong TakeFetched TakeLedgersOut TakeSeat TakeSeats Test TestAgain TestAll TestAllOf TestAtTip
    TestCommand TestExactly TestJson TestScopes TestStaged TestTree Uninstall Unreplace Unshallow
    UseSharedHooks UseTestCommand VerifyLedger Vote VoteOnPanel WatchPlainly WithIdentity WithReport
    WithoutPipe WitnessKey WrapBash WriteBundle
}

impl Hint {
    /// The text, with the names of facts in braces where it has any.
    pub fn text(self) -> &'static str {
        let row = ROWS.get(self as usize).copied().unwrap_or_default();
        row.splitn(3, " | ").last().unwrap_or_default()
    }

    /// The row of that name.
    pub fn named(name: &str) -> Option<Self> {
        let row =
            ROWS.iter().position(|row| row.split_once(" | ").is_some_and(|(found, _)| found == name))?;
        Self::ALL.get(row).copied()
    }

    /// The text behind words that say why.
    pub fn led(self, lead: &str) -> String {
        format!("{lead}: {self}")
    }

    /// The text with the facts of a state.
    pub fn with<const N: usize>(self, facts: [&str; N]) -> String {
        let (mut names, mut text) = (Vec::new(), String::new());
        for (at, part) in self.text().split(['{', '}']).enumerate() {
            if at % 2 == 0 {
                text.push_str(part);
                continue;
            }
            let known = names.iter().position(|name| *name == part).unwrap_or(names.len());
            if known == names.len() {
                names.push(part);
            }
            text.push_str(facts.get(known).unwrap_or(&part));
        }
        debug_assert_eq!(names.len(), N, "{self:?}");
        text
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<Hint> for String {
    fn from(hint: Hint) -> Self {
        hint.text().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hint_is_the_row_of_its_name() {
        assert_eq!(ROWS.len(), Hint::ALL.len());
        for hint in Hint::ALL {
            let row = ROWS[*hint as usize];
            let [name, effect, text] = row.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
            let named: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
            assert_eq!(named, format!("{hint:?}"));
            assert_eq!(hint.text(), text);
            assert!(["changes", "edits", "asks", "shows"].contains(&effect), "{row}");
        }
    }

    #[test]
    fn facts_fill_the_names_in_their_order() {
        assert_eq!(Hint::FileInTheWay.with(["'a {b}'"]), "a file belongs there: mv 'a {b}' 'a {b}'.old");
        assert_eq!(Hint::ReadNotesOf.with(["x", "c"]), "git notes --ref=x show c | head");
    }
}
