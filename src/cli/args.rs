//! Arguments that several verbs share.

/// What verbs say that walk through a range.
pub const STOPPED: &str = "\
Ctrl-C ends it with what was found so far and exit code 3; a second one ends it at once.";

/// A chance as an argument.
pub fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err("a share lies between 0 and 1".to_owned()) }
}
