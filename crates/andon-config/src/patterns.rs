//! Globs and regular expressions: bad ones are named with their place, and none can cost much.

use std::ops::Range;

use super::mistake::quoted;
use super::value::{Problem, ReadResult, wrong};

// The bounds and options of `record::normalize`: what passes here compiles there.

/// Most patterns of `[normalize]`, all layers together.
pub(super) const MAX_PATTERNS: usize = 64;
/// Longest pattern, in bytes.
const MAX_PATTERN: usize = 1024;
/// Largest compiled pattern, in bytes.
const REGEX_SIZE: usize = 1 << 20;
/// Deepest nesting of a pattern.
const REGEX_DEPTH: u32 = 50;

/// Checks each glob of `name`; says all that are wrong.
pub(super) fn check_globs(name: &str, globs: &[(String, Range<usize>)]) -> ReadResult<()> {
    let wrongs: Vec<Problem> = globs.iter().filter_map(|(glob, span)| check_glob(name, glob, span)).collect();
    if wrongs.is_empty() { Ok(()) } else { Err(wrongs) }
}

fn check_glob(name: &str, glob: &str, span: &Range<usize>) -> Option<Problem> {
    let (what, hint) = if glob.is_empty() {
        (format!("an empty glob in {}", quoted(name)), "remove it".to_owned())
    } else if glob.starts_with('/') || glob.split('/').any(|part| part == ".." || part == ".") {
        (
            format!("{} in {} can match nothing", quoted(glob), quoted(name)),
            "write it from the repository root, without a leading `/`, `.` or `..`".to_owned(),
        )
    } else {
        let error = globset::GlobBuilder::new(glob).literal_separator(true).build().err()?;
        (
            format!("{} in {} is no glob: {}", quoted(glob), quoted(name), error.kind()),
            "fix or remove it".to_owned(),
        )
    };
    Some(Problem { span: span.clone(), what, hint })
}

/// Checks a pattern of `[normalize]`. Compiling is the only check there is; it happens for the few who
/// have patterns of their own.
pub(super) fn check_regex(name: &str, pattern: &str, span: Range<usize>) -> ReadResult<()> {
    if pattern.len() > MAX_PATTERN {
        let what = format!("the pattern of {} is longer than {MAX_PATTERN} bytes", quoted(name));
        return wrong(span, what, "shorten it, or make two of it");
    }
    let mut builder = regex::bytes::RegexBuilder::new(pattern);
    let built = builder.unicode(false).size_limit(REGEX_SIZE).nest_limit(REGEX_DEPTH).build();
    let reason = match built {
        Ok(regex) if regex.is_match(b"") => {
            let what = format!("the pattern of {} matches the empty text", quoted(name));
            return wrong(span, what, "use `+` for `*`, or name what must be there");
        }
        Ok(_) => return Ok(()),
        Err(regex::Error::CompiledTooBig(_)) => "it is too large when compiled".to_owned(),
        Err(error) => last_line(&error.to_string()),
    };
    let what = format!("the pattern of {} is no regular expression: {reason}", quoted(name));
    wrong(span, what, "fix or remove it; https://docs.rs/regex shows the syntax")
}

/// The parser draws the pattern with a caret; its last line says what is wrong.
fn last_line(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.trim().trim_start_matches("error: ").chars().take(120).flat_map(char::escape_debug).collect()
}
