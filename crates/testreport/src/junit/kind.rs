//! The type of an exception that a report tells in the text of a failure and not in its attributes: node:test
//! writes `type="testCodeFailure" message="no"` over `cause: TypeError [Error]: no`.

/// The type before the message in one of the lines below it. `error` is the message, with the type of the attribute
/// before it, if there is one.
pub(super) fn kind_of<'t>(error: &str, below: &'t str) -> Option<&'t str> {
    let message = error.split_once(": ").map_or("", |(_, message)| message);
    [error, message].into_iter().find_map(|message| in_front_of(message, error, below))
}

fn in_front_of<'t>(message: &str, error: &str, below: &'t str) -> Option<&'t str> {
    let first = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    below.lines().find_map(|line| {
        let (before, _) = line.split_once(first)?;
        let before = before.trim_end().strip_suffix(':')?.trim_end();
        // `TypeError [Error]`, `Error [ERR_TEST_FAILURE]`
        let bare =
            before.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")).map_or(before, |(kind, _)| kind);
        let name = bare.rsplit([' ', '[', '(']).next()?;
        let is_specific = name != "Error" && (name.ends_with("Error") || name.ends_with("Exception"));
        (is_specific && !error.contains(name)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_found_where_the_text_tells_it() {
        let node = "[Error [ERR_TEST_FAILURE]: no] {\n  code: 'ERR_TEST_FAILURE',\n  cause: TypeError [Error]: no\n      at f (a.js:1:2)";
        let cases = [
            ("no", node, Some("TypeError")),
            ("\nno\nmore", "RangeError: no", Some("RangeError")),
            ("TypeError: no", "cause: TypeError: no", None),
            ("testCodeFailure: no", node, Some("TypeError")),
            ("org.x.AError: no", "org.x.AError: no", None),
            ("no", "Error: no", None),
            ("no", "cannot say no", None),
            ("no", "AssertionError [ERR_ASSERTION]: no", Some("AssertionError")),
            ("", "TypeError: no", None),
        ];
        for (message, below, expected) in cases {
            assert_eq!(kind_of(message, below), expected, "{message} {below}");
        }
    }
}
