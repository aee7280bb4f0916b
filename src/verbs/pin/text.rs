//! `andon pin`: what is pinned, or how the configuration differs from it.

use crate::verbs::pin::view::{PinState, PinView};
use andon_core::domain::identity::Mismatch;

use crate::json::PinJson;
use andon_core::escape::terminal_clip;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;

/// Columns of a name.
const NAME: usize = 160;

/// The pin for a person.
pub fn text(view: &PinView, style: Style) -> String {
    let mut page = Page::new(style);
    let count = phrase::count(view.files.len(), "file");
    let sum = view.checksum.short();
    let (said, found): (String, &[Mismatch]) = match &view.state {
        PinState::Pinned(was) => {
            (format!("pinned {count} as sha256:{sum}..., in andon.toml; commit it"), was)
        }
        PinState::AsPinned => (format!("as pinned: {count}, sha256:{sum}..."), &[]),
        PinState::Drifted(found) => (format!("not as it was pinned: {count} make sha256:{sum}..."), found),
        PinState::NotPinned if view.files.is_empty() => {
            ("nothing is pinned, and no file matches identity.files".to_owned(), &[])
        }
        PinState::NotPinned => (format!("nothing is pinned; {count} make sha256:{sum}..."), &[]),
    };
    page.line(&said);
    for mismatch in found {
        page.line(&format!("  {}", style.yellow(&terminal_clip(&mismatch.to_string(), NAME))));
    }
    if found.is_empty() {
        for path in view.files.keys() {
            page.line(&format!("  {}", terminal_clip(&String::from_utf8_lossy(path), NAME)));
        }
    }
    match view.state {
        PinState::Drifted(_) => page.line("  help: put it back, or pin what is there now: andon pin"),
        PinState::NotPinned => page.line("  help: andon pin"),
        PinState::Pinned(_) | PinState::AsPinned => {}
    }
    page.finish()
}

/// `andon/pin@1`.
pub fn json(view: &PinView) -> PinJson<'_> {
    let (state, found): (&str, &[Mismatch]) = match &view.state {
        PinState::Pinned(was) => ("pinned", was),
        PinState::AsPinned => ("as_pinned", &[]),
        PinState::Drifted(found) => ("drifted", found),
        PinState::NotPinned => ("not_pinned", &[]),
    };
    let file = |(path, state): (&Vec<u8>, &andon_core::domain::identity::FileState)| {
        (String::from_utf8_lossy(path).into_owned(), state.to_string())
    };
    PinJson {
        schema: "andon/pin@1",
        state,
        checksum: format!("sha256:{}", view.checksum),
        files: view.files.iter().map(file).collect(),
        globs: &view.globs,
        differs: found.iter().map(ToString::to_string).collect(),
    }
}
