//! Takes out of ids and error texts what changes while the failure stays the same.
//!
//! A list of small named steps in a fixed order: a new step is one function and one line in a list. What
//! the hashes mean depends on them, so a change of any step's result is a new signature format.

mod ids;
mod steps;

pub use ids::normalize_id;
pub(super) use steps::strip_ansi;

use std::borrow::Cow;

/// The project's root directory, whose absolute path is taken out of ids and errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(Option<String>);

impl Root {
    /// From an absolute path. A path without any name in it (`/`) is no root that could be taken out.
    pub fn new(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        Self((path.len() > 1).then(|| path.to_owned()))
    }

    /// No root: paths stay as they are.
    pub fn none() -> Self {
        Self(None)
    }

    fn path(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// One step of a normalization; its function's name says what it takes out.
type Step = for<'t> fn(&Root, &'t str) -> Cow<'t, str>;

fn run(steps: &[Step], root: &Root, text: &str) -> String {
    let mut text = text.to_owned();
    for step in steps {
        if let Cow::Owned(changed) = step(root, &text) {
            text = changed;
        }
    }
    text
}

/// The steps for error texts. The order matters: paths before the digits in them, timestamps before
/// durations, whole shapes (UUIDs, addresses) before bare digits.
const ERROR_STEPS: [Step; 12] = [
    |_, text| strip_ansi(text),
    |_, text| steps::drop_controls(text),
    steps::strip_root,
    |_, text| steps::mask_temp_paths(text),
    |_, text| steps::mask_timestamps(text),
    |_, text| steps::mask_durations(text),
    |_, text| steps::mask_uuids(text),
    |_, text| steps::mask_addresses(text),
    |_, text| steps::mask_threads(text),
    |_, text| steps::mask_long_hex(text),
    |_, text| steps::mask_positions(text),
    |_, text| steps::mask_long_numbers(text),
];

/// Normalizes the first error of a failure. Lines are trimmed at their ends and empty ones dropped.
pub fn normalize_error(text: &str, root: &Root) -> String {
    let normalized = run(&ERROR_STEPS, root, text);
    let lines: Vec<&str> = normalized.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_failure_elsewhere_and_later_reads_the_same() {
        let one = "thread 'tests::b' (12345) panicked at /home/ann/p/src/lib.rs:10:9:\n\
                   assertion `left == right` failed: took 12.5ms at 0x7ffd1234abcd\n  left: 1\n right: 2\n";
        let two = "thread 'tests::b' (999) panicked at /ci/p/src/lib.rs:44:13:\n\n\
                   assertion `left == right` failed: took 7ms at 0x55d012349999   \n  left: 1\n right: 2";
        let one = normalize_error(one, &Root::new("/home/ann/p"));
        assert_eq!(one, normalize_error(two, &Root::new("/ci/p/")));
        assert_eq!(
            one,
            "thread 'tests::b' panicked at src/lib.rs:<pos>:\nassertion `left == right` failed: took <duration> \
             at <address>\n  left: 1\n right: 2"
        );
    }

    #[test]
    fn another_value_in_the_message_stays_another_failure() {
        let pairs = [
            ("left: 1\nright: 2", "left: 1\nright: 3"),
            ("assert 41 == 42", "assert 40 == 42"),
            ("TypeError: x", "ValueError: x"),
            ("expected 0xff", "expected 0xfe"),
            ("got 12345", "got 12346"),
        ];
        for (one, two) in pairs {
            assert_ne!(normalize_error(one, &Root::none()), normalize_error(two, &Root::none()));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String, root: String) {
            let root = Root::new(&root);
            normalize_error(&text, &root);
            normalize_id(&text, &root);
        }
    }
}
