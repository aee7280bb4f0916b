//! `andon pin`: the checksum of the agent's own configuration goes into `andon.toml`
//! (docs/spec-map.md, loop rules: agentic identity).

use std::{collections::BTreeMap, io, path::Path};

use clap::Args;
use serde::Serialize;

use crate::cli::{Exit, FormatArg, Shell};
use andon_config::{self as config, MAX_BYTES};
use andon_core::domain::{
    CONFIG_FILE, Digest, Hint, Mismatch,
    identity::{checksum, drift},
};
use andon_core::escape::terminal_clip;
use andon_engine::text::{Page, Style, phrase};
use andon_engine::{OpsError, Result, Workspace, effect, gate::identity};
use andon_git::read_plain;

/// Columns of a name.
const NAME: usize = 160;

#[derive(Debug, Args)]
pub struct PinArgs {
    /// Compare the working tree with what is pinned, and write nothing
    #[arg(long)]
    pub check: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum PinState {
    /// It was pinned just now.
    Pinned,
    AsPinned,
    Drifted,
    NotPinned,
}

/// Everything that `andon pin` shows, texts raw: `andon/pin@1`.
#[derive(Debug, Serialize)]
struct PinView {
    state: PinState,
    #[serde(serialize_with = "with_scheme")]
    checksum: Digest,
    /// The files that are there, with mode and id.
    files: BTreeMap<String, String>,
    /// The globs that declare them.
    globs: Vec<String>,
    /// The differences to what is pinned, or was until now.
    differs: Vec<String>,
}

fn with_scheme<S: serde::Serializer>(checksum: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("sha256:{checksum}"))
}

/// Pins, or compares. Exit code 1 when a comparison finds a difference, or nothing pinned.
pub fn run(shell: &Shell, args: &PinArgs) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let top = ws.top()?;
    let overlay = ws.repo.worktree_overlay()?;
    let rules = &ws.config.identity;
    let files = identity::files(&ws.config, |declared| Ok(declared.of_overlay(&ws.repo, &overlay)?))?;
    let name = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let differs = drift(rules, &files);
    let mut view = PinView {
        state: PinState::AsPinned,
        checksum: checksum(&files),
        files: files.iter().map(|(path, state)| (name(path), state.to_string())).collect(),
        globs: rules.files.clone(),
        differs: differs.iter().map(Mismatch::to_string).collect(),
    };
    if args.check {
        view.state = match rules.checksum {
            None => PinState::NotPinned,
            Some(_) if differs.is_empty() => PinState::AsPinned,
            Some(_) => PinState::Drifted,
        };
    } else if let Some(marker) = shell.ctx.agent_mark() {
        return Err(OpsError::in_agent_shell("pin", &marker));
    } else if files.is_empty() {
        return Err(OpsError::usage(
            format!("no file matches identity.files: {}", rules.files.join(", ")),
            Hint::WithIdentity,
        ));
    } else if rules.checksum != Some(view.checksum)
        || rules.pinned != files.iter().map(|(path, state)| (name(path), *state)).collect()
    {
        write(&top.join(CONFIG_FILE), &files)?;
        view.state = PinState::Pinned;
    }
    if matches!(view.state, PinState::AsPinned | PinState::NotPinned) {
        view.differs.clear();
    }
    shell.show(args.format.format, "pin", &view, |style| text(&view, style));
    let is_fine = matches!(view.state, PinState::Pinned | PinState::AsPinned);
    Ok(if is_fine { Exit::Allowed } else { Exit::Refused })
}

fn write(path: &Path, files: &andon_core::domain::Files) -> Result<()> {
    let bytes = read_plain(path, MAX_BYTES as u64).map_err(OpsError::Input)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|err| OpsError::Input(io::Error::other(err)))?;
    let edited = config::with_pin(&text, files).map_err(|by_hand| {
        OpsError::usage(
            format!("{CONFIG_FILE} has a shape that cannot be edited without changing more than the pin"),
            format!("write this into it by hand:\n{by_hand}"),
        )
    })?;
    Ok(effect::replace_text(path, &edited)?)
}

fn text(view: &PinView, style: Style) -> String {
    let mut page = Page::new(style);
    let (count, sum) = (phrase::count(view.files.len(), "file"), view.checksum.short());
    page.line(&match view.state {
        PinState::Pinned => format!("pinned {count} as sha256:{sum}..., in andon.toml; commit it"),
        PinState::AsPinned => format!("as pinned: {count}, sha256:{sum}..."),
        PinState::Drifted => format!("not as it was pinned: {count} make sha256:{sum}..."),
        PinState::NotPinned if view.files.is_empty() => {
            "nothing is pinned, and no file matches identity.files".to_owned()
        }
        PinState::NotPinned => format!("nothing is pinned; {count} make sha256:{sum}..."),
    });
    for mismatch in &view.differs {
        page.line(&format!("  {}", style.yellow(&terminal_clip(mismatch, NAME))));
    }
    if view.differs.is_empty() {
        for path in view.files.keys() {
            page.line(&format!("  {}", terminal_clip(path, NAME)));
        }
    }
    match view.state {
        PinState::Drifted => {
            page.line(&format!("  help: {}", Hint::Pin.led("put it back, or pin what is there now")));
        }
        PinState::NotPinned => page.line(&format!("  help: {}", Hint::Pin)),
        PinState::Pinned | PinState::AsPinned => {}
    }
    page.finish()
}
