//! Code that is tested in a checkout of its own: what is staged, or any tree. The working tree, the index and any
//! operation that git is in the middle of stay unchanged, so that nothing can be lost.

use std::{ffi::OsString, path::Path};

use crate::effect::{CopiedDependencies, PrivateDir, dependencies};
use crate::{Context, OpsError, Result, Workspace, text::phrase::some_of};
use andon_core::domain::{CodeId, Hint, TreeId};
use andon_git::{Repo, RepoEnv};

/// The code that is tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestedSubject {
    /// The working tree as it is.
    WorkTree,
    /// The staged code: the tree of the index.
    Staged,
    /// This tree, or that of this commit.
    Tree(String),
}

/// A checkout of its own; it goes when this value does.
pub struct Checkout {
    /// The workspace in it, with the configuration that holds in the working tree.
    pub ws: Workspace,
    pub tree: TreeId,
    pub code: CodeId,
    taken: CopiedDependencies,
    missing: Vec<Vec<u8>>,
    _place: PrivateDir,
}

/// The checkout of the subject; `None` of the working tree.
///
/// # Errors
/// The subject names no tree, paths are unmerged, or there is no room.
pub fn checkout(ctx: &Context, ws: &Workspace, subject: &TestedSubject) -> Result<Option<Checkout>> {
    let top = ws.top()?;
    let tree = match subject {
        TestedSubject::WorkTree => return Ok(None),
        TestedSubject::Staged => ws.repo.write_tree()?,
        TestedSubject::Tree(named) => named_tree(ws, named)?,
    };
    let io = |source| {
        OpsError::usage(
            format!("no directory for a checkout: {source}"),
            "df, or set TMPDIR to a directory that can be written",
        )
    };
    let place = PrivateDir::outside().or_else(|_| PrivateDir::create(ws.repo.git_dir())).map_err(io)?;
    let apart = ws.repo.check_out_apart(tree, place.path())?;
    let env = RepoEnv {
        object_dir: ctx.repo_env.object_dir.clone(),
        alternate_objects: ctx.repo_env.alternate_objects.clone(),
        ..RepoEnv::default()
    };
    let repo = Repo::open(&apart.top, &env)?;
    let taken = dependencies::take_along(top, &apart.top);
    let code = ws.fingerprinter().of_tree(tree)?;
    let inner = Workspace {
        tracked_alone: true,
        variables: variables(ctx, &apart.top, &taken),
        ..Workspace::at(repo, ws.config.clone(), ws.opened)
    };
    Ok(Some(Checkout { ws: inner, tree, code, taken, missing: apart.missing, _place: place }))
}

fn named_tree(ws: &Workspace, named: &str) -> Result<TreeId> {
    ws.repo.tree_named(named).map_err(|_| {
        OpsError::usage(
            format!("{named} names no tree of this repository"),
            Hint::TestStaged.led("commit again and take the command from the refusal, or"),
        )
    })
}

/// Variables that the tests need there: packages of Python that are installed as links to the working tree are looked for
/// in the checkout first.
fn variables(ctx: &Context, top: &Path, taken: &CopiedDependencies) -> Vec<(OsString, OsString)> {
    if !taken.python {
        return Vec::new();
    }
    let inherited = ctx.environment_without(&[]).into_iter().find(|(name, _)| name == PYTHON_PATH);
    let mut path = top.as_os_str().to_owned();
    for more in std::iter::once(top.join("src").into_os_string()).chain(inherited.map(|(_, value)| value)) {
        path.push(if cfg!(windows) { ";" } else { ":" });
        path.push(more);
    }
    vec![(PYTHON_PATH.into(), path)]
}

/// The variable with the places where Python looks for packages first.
const PYTHON_PATH: &str = "PYTHONPATH";

impl Checkout {
    /// The remark about a run that did not pass there.
    pub fn differs(&self) -> Vec<String> {
        let taken: Vec<String> = self.taken.paths.iter().map(|path| path.display().to_string()).collect();
        let named = if taken.is_empty() { "" } else { " but " };
        let with = format!("{named}{}", some_of(&taken, NAMED, Clone::clone));
        let mut said = vec![format!(
            "the tests ran in a checkout of their own, without what git ignores{with}: what they miss of it, they \
             find only in the working tree ({})",
            Hint::Test
        )];
        let missing = self.missing.iter().take(NAMED).map(|path| String::from_utf8_lossy(path));
        said.extend(
            missing.map(|path| format!("the commit of the submodule {path} is not here: it is empty")),
        );
        said
    }
}

/// Most paths that are named.
const NAMED: usize = 3;
