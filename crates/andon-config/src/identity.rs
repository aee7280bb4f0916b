//! The values of `[identity]` that are no plain words: a checksum, and the table of pinned files.

use toml::Spanned;
use toml::de::DeValue;

use super::mistake::quoted;
use super::pin::SCHEME;
use super::problem::{Problem, ReadResult, wrong};
use super::value::Value;
use andon_core::domain::identity::{FileState, MAX_FILES};
use andon_core::domain::ids::Digest;

/// Between state and path of a pinned file, in its text.
const BETWEEN: char = '\t';

/// The checksum in a text.
pub(super) fn checksum(text: &str) -> Option<Digest> {
    text.strip_prefix(SCHEME)?.parse().ok()
}

/// Reads `pinned`: path by path its mode and the id of its content. Each becomes one text.
pub(super) fn read_pinned(name: &str, item: &Spanned<DeValue<'_>>) -> ReadResult<Value> {
    let hint = "let `andon pin` write it";
    let Some(table) = item.get_ref().as_table() else {
        return wrong(item.span(), format!("{} must be a table of files", quoted(name)), hint);
    };
    if table.len() > MAX_FILES {
        return wrong(item.span(), format!("{} lists more than {MAX_FILES} files", quoted(name)), hint);
    }
    let (mut texts, mut wrongs) = (Vec::new(), Vec::new());
    for (path, item) in table {
        match item.get_ref().as_str().and_then(|text| text.parse::<FileState>().ok()) {
            Some(state) => texts.push(format!("{state}{BETWEEN}{}", path.get_ref())),
            None => wrongs.push(Problem {
                span: item.span(),
                what: format!("{} must be a mode and an id, as \"100644 <id>\"", quoted(path.get_ref())),
                hint: hint.to_owned(),
            }),
        }
    }
    texts.sort();
    if wrongs.is_empty() { Ok(Value::Texts(texts)) } else { Err(wrongs) }
}

/// The pinned file of a text of [`read_pinned`].
pub(super) fn pinned(text: &str) -> Option<(String, FileState)> {
    let (state, path) = text.split_once(BETWEEN)?;
    Some((path.to_owned(), state.parse().ok()?))
}
