//! What the program prints for programs (`--format json`), and the JSON files it writes for them: one type a document.
//! docs/formats.md fixes the keys. Every key is always there, and what is not known is `null`, unless a type says
//! otherwise. Keys are printed sorted, in whatever order a type declares them.
//!
//! Here are the types, and what is made of values of the product; the types that show a view of `report` are filled there.

mod answers;
mod calibration;
mod findings;
mod installation;
mod record;
mod reviews;
mod safety;
mod status;
mod watch;
mod witnesses;

pub use answers::{
    AdviceJson, BitsJson, CompleteJson, ContextWindowJson, ErrorJson, ExplainedFailureJson, ExplainedJson,
    PinJson, ResumeJson, StopJson, SyncJson, ThresholdsJson,
};
pub use calibration::{
    BudgetHaltsJson, CalibrationChangeJson, CalibrationJson, CalibrationRuleJson, CalibrationStepJson,
};
pub use findings::{
    CheckItemJson, CheckJson, ConfigCheckJson, DecisionJson, DiagnosticJson, FindingJson, HandedInJson,
    ObservedJson, RanJson, RanScopeJson, ReplayJson, TestPlanJson, TestRunJson, TipRunJson, TipTestsJson,
    TrajectoryJson, TrajectoryStepJson,
};
pub use installation::{
    FetchJson, HookJson, InstallJson, InstallPlanJson, InstallStepJson, PurgedJson, RemoteRefJson,
    UninstallJson,
};
pub use record::{CommitJson, LogJson, RecordJson, ShowJson, TestsJson};
pub use reviews::{
    ActedJson, CareJson, ConcernJson, FlagShownJson, RoundAnswerJson, RoundShownJson, StandingJson,
    VoteShownJson,
};
pub use safety::{SafetyDetails, SafetyEventJson, SafetyLogJson};
pub use status::{CodesJson, CycleJson, RuleCountsJson, SkippedJson, StatesJson, StatusJson, TestStateJson};
pub use watch::{
    WatchJson, WatchedBranchJson, WatchedContextWindowJson, WatchedLoopJson, WatchedRunJson, WorktreeJson,
};
pub use witnesses::{OwnKeyJson, WitnessChangeJson, WitnessInitJson, WitnessKeyJson, WitnessListJson};
