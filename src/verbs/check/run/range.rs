//! Which commits are judged, and by which configuration.

use super::{Diagnostic, of_range};
use andon_config::{self as config, Config, ConfigSource, Layer, MAX_BYTES, TestSettings};
use andon_core::domain::ids::{CommitId, EntryId, Oid};
use andon_core::domain::{findings::Level, hint::Hint, paths::CONFIG_FILE};
use andon_engine::view::check::TipTests;
use andon_engine::{adapter::git_hook, context::Context, error::OpsError};
use andon_git::{Blob, Repo};

/// The request of the caller.
#[derive(Debug, Clone, Default)]
pub struct RangeRequest {
    pub range: Option<String>,
    /// `--from-ref` and `--to-ref`
    pub refs: Option<(String, String)>,
    /// The commit that is said to be the squash of the range.
    pub squash: Option<String>,
    /// The ledger whose witnesses count; default: the one that the base names.
    pub policy: Option<EntryId>,
    /// Facts that an earlier run left in the git directory are believed. A person who can edit a record can edit them.
    pub cached: bool,
    /// The tests at the tip, where the caller has them.
    pub tests: Option<TipTests>,
}

/// A range as it was asked for.
pub(super) struct RangeArgument {
    pub text: String,
    by: RangeSource,
}

/// The origin of the names of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeSource {
    /// The arguments of the command name it.
    Caller,
    /// pre-commit or prek, which also name ranges in which nothing is.
    Framework,
}

/// A range whose names were resolved to commits.
pub(super) struct Range {
    /// The range as messages show it.
    pub shown: String,
    /// The left side, whose configuration counts; `None` when the range has none.
    pub base: Option<CommitId>,
    /// The commit at which the two sides parted.
    pub fork: Option<CommitId>,
    /// The newest commit of the range.
    pub tip: CommitId,
    /// The commits of the range, oldest first.
    pub commits: Vec<CommitId>,
}

/// Finds the range: the argument, the two refs, or what the pre-commit framework names. A base of zeros is that of a new
/// branch, as forges and frameworks name it: then all that the other side reaches is judged.
pub(super) fn spelled(ctx: &Context, asked: &RangeRequest) -> Result<RangeArgument, OpsError> {
    if let Some(range) = &asked.range {
        let is_new = range.split_once("..").filter(|(from, to)| is_zero(from) && !to.starts_with('.'));
        let text = is_new.map_or(range.as_str(), |(_, to)| to).to_owned();
        return Ok(RangeArgument { text, by: RangeSource::Caller });
    }
    let by = if asked.refs.is_some() { RangeSource::Caller } else { RangeSource::Framework };
    let (from, to) = asked.refs.clone().or_else(|| git_hook::from_to(&ctx.vars)).ok_or_else(|| {
        OpsError::usage("no range given", "andon check origin/main..HEAD, or --from-ref A --to-ref B")
    })?;
    let text = if is_zero(&from) { to } else { format!("{from}..{to}") };
    Ok(RangeArgument { text, by })
}

fn is_zero(id: &str) -> bool {
    id.parse::<Oid>().is_ok_and(|id| id.is_zero())
}

/// git reads an empty side as HEAD; here it is a variable of the CI that was not set, and `..HEAD` would judge
/// nothing and pass.
fn refuse_empty(range: &str) -> Result<(), OpsError> {
    if !range.trim().is_empty() && !range.trim_start().starts_with("..") {
        return Ok(());
    }
    let what = format!("the range {range:?} has no base: is a variable empty?");
    Err(OpsError::usage(what, Hint::NameBothSides))
}

/// Resolves a range as git spells it.
pub(super) fn resolve(repo: &Repo, spelled: &RangeArgument) -> Result<Range, OpsError> {
    refuse_empty(&spelled.text)?;
    let (commits, shown) = (repo.range(&spelled.text)?, spelled.text.clone());
    let (left, tip) = both_sides(repo, spelled)?;
    let base = left.map(|left| left.id);
    if let Some(left) = left.filter(|_| commits.is_empty() && spelled.by == RangeSource::Caller) {
        return Err(nothing(repo, left, tip)?);
    }
    let fork = base.map(|base| repo.merge_base(base, tip.id)).transpose()?.flatten();
    Ok(Range { shown, base, fork, tip: tip.id, commits })
}

/// The base of a range, where it has one, and its tip.
pub(super) fn sides(repo: &Repo, spelled: &RangeArgument) -> Result<(Option<CommitId>, CommitId), OpsError> {
    let (left, tip) = both_sides(repo, spelled)?;
    Ok((left.map(|left| left.id), tip.id))
}

fn both_sides<'a>(repo: &Repo, spelled: &'a RangeArgument) -> Result<(Option<Side<'a>>, Side<'a>), OpsError> {
    let range = spelled.text.as_str();
    refuse_empty(range)?;
    let side = |name: &'a str| Ok::<_, OpsError>(Side { name, id: repo.resolve(name)? });
    match range.split_once("...").or_else(|| range.split_once("..")) {
        Some((from, to)) => Ok((Some(side(from)?), side(if to.is_empty() { "HEAD" } else { to })?)),
        None => Ok((None, side(range)?)),
    }
}

/// One side of a range.
#[derive(Clone, Copy)]
struct Side<'a> {
    name: &'a str,
    id: CommitId,
}

/// A range without commits judges nothing: said, because the caller thinks that something passed.
fn nothing(repo: &Repo, from: Side<'_>, to: Side<'_>) -> Result<OpsError, OpsError> {
    let (left, right) = (from.name, to.name);
    if from.id != to.id {
        let what = format!(
            "the range is the wrong way round: {right} is an ancestor of {left}, so it holds no commit"
        );
        return Ok(OpsError::usage(what, format!("andon check {right}..{left}")));
    }
    let from = if repo.commit(to.id)?.parents.is_empty() { String::new() } else { format!("{right}~1..") };
    let what = format!("nothing to check: {left} and {right} are the same commit, {}", to.id.short());
    Ok(OpsError::usage(what, format!("to judge its newest commit: andon check {from}{right}")))
}

/// The configuration of the left side: what a branch says about its own guard does not count for it, whether it changed
/// that or is older than the guard. Without a left side the tip's own counts, for there is no other.
pub(super) fn configuration(repo: &Repo, range: &Range) -> Result<(Config, Vec<Diagnostic>), OpsError> {
    let at_tip = source(repo, range.tip)?;
    let Some(base) = range.base else { return Ok((config::load(at_tip.as_slice())?, Vec::new())) };
    let at_base = source(repo, base)?;
    let at_fork = range.fork.map(|fork| source(repo, fork)).transpose()?.flatten();
    let text = |source: &Option<ConfigSource>| source.as_ref().map(|source| source.text.clone());
    let [left, fork, tip] = [&at_base, &at_fork, &at_tip].map(text);
    let changed_settings = (left != tip).then(|| {
        let changed = ConfigDifference { in_range: fork != tip, left: left.is_some(), tip: tip.is_some() };
        settings_changed(changed, base, range.tip)
    });
    Ok((counting(repo, base, range.fork, range.tip)?, changed_settings.into_iter().collect()))
}

/// The configuration of the left side `base`. Where that alone changed since the branch left it, at `fork`, the branch is
/// tested as it was there: it cannot know of a command that came later.
pub(super) fn counting(
    repo: &Repo,
    base: CommitId,
    fork: Option<CommitId>,
    tip: CommitId,
) -> Result<Config, OpsError> {
    let of = |commit| source(repo, commit);
    let text = |source: &Option<ConfigSource>| source.as_ref().map(|source| source.text.clone());
    let mut config = config::load(of(base)?.as_slice())?;
    let Some(fork) = fork.filter(|fork| *fork != base) else { return Ok(config) };
    let at_fork = of(fork)?;
    if text(&at_fork) != text(&of(base)?) && text(&at_fork) == text(&of(tip)?) {
        let then = config::load(at_fork.as_slice())?.test;
        if then.command.is_some() {
            config.test = TestSettings { handed_in: config.test.handed_in, ..then };
        }
    }
    Ok(config)
}

/// The difference of the configuration of the tip from the one that counts.
#[derive(Clone, Copy)]
struct ConfigDifference {
    /// The range changed it; otherwise the left side did since.
    in_range: bool,
    /// True when the left side has one.
    left: bool,
    /// True when the tip has one.
    tip: bool,
}

fn settings_changed(changed: ConfigDifference, base: CommitId, tip: CommitId) -> Diagnostic {
    let (left, right) = (base.short(), tip.short());
    let diff = format!("git diff {left} {right} -- {CONFIG_FILE}");
    match changed {
        ConfigDifference { in_range: true, left: true, tip: false } => {
            let what =
                format!("{CONFIG_FILE} was removed in this range; the one of its base was used, {left}");
            let back = Hint::BringConfigBack.with([&left]);
            let mut removed = of_range("config-removed", Level::Block, what, &back);
            removed.help.push(
                "where the project leaves Andon, a person does it: docs/ci.md#leaving-andon".to_owned(),
            );
            removed
        }
        ConfigDifference { in_range: true, left: true, .. } => {
            let what = format!("{CONFIG_FILE} changed in this range; the one of its base was used, {left}");
            of_range("config-changed", Level::Warn, what, &diff)
        }
        ConfigDifference { in_range: true, left: false, .. } => {
            let what = format!(
                "{CONFIG_FILE} is new in this range; its base {left} has none, so the defaults were used"
            );
            of_range("config-added", Level::Warn, what, &diff)
        }
        ConfigDifference { in_range: false, .. } => {
            let what = format!(
                "{CONFIG_FILE} is another one at {left} than here, where it is older; that of {left} was used, with the \
                 tests that the branch knows"
            );
            of_range("config-older", Level::Note, what, &diff)
        }
    }
}

/// `andon.toml` as a commit has it.
pub(super) fn source(repo: &Repo, commit: CommitId) -> Result<Option<ConfigSource>, OpsError> {
    let tree = repo.tree_of(commit)?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes())? else { return Ok(None) };
    let name = format!("{}:{CONFIG_FILE}", commit.short());
    match repo.read_blob(blob, MAX_BYTES)? {
        Blob::Content(text) => Ok(Some(ConfigSource { layer: Layer::Repository, name, text })),
        Blob::TooLarge(size) => Err(OpsError::usage(
            format!("{name} has {size} bytes; at most {MAX_BYTES} are read"),
            "make it smaller",
        )),
    }
}
