//! The text of a line without the parts that change on every run: trailing white space, line endings, timestamps, UUIDs,
//! addresses, and what `[normalize]` names. A loop that only moves a date makes no progress (docs/rules.md).
//!
//! The built-in patterns are part of the diff hash: other clones derive it, so they change only with a new version
//! of the hash. Therefore they are not those of `testreport`, which make failures comparable and are part of the
//! signature: these match bytes of a line of code, where a date alone is noise, a duration is a value, and a hexadecimal
//! number of seven digits a constant. Only the patterns of `[normalize]` ([`Mask`]) mean the same in both.

use std::{borrow::Cow, sync::OnceLock};

use testreport::Mask;

/// Most `[normalize]` patterns.
pub const MAX_PATTERNS: usize = Mask::MAX;
/// Longest pattern, in bytes.
pub const MAX_PATTERN: usize = 1024;
/// Longest name of a pattern, in bytes.
pub const MAX_NAME: usize = 64;

/// A check for what a line must have for a pattern to match. It comes first, since compiling a pattern costs a hook more than
/// everything else it does with a diff.
type Hint = fn(&[u8]) -> bool;

/// Name, hint and pattern, applied in this order. None looks at Unicode.
const BUILT_IN: [(&str, Hint, &str); 6] = [
    // 2026-11-20T15:30:00.123Z, 2026-11-20 15:30, 2026-11-20
    (
        "time",
        |line| has_pairs(line, b'-'),
        r"(?-u)\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?(?:[Zz]|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?)?\b",
    ),
    // Fri Nov 20 21:59:45 UTC 2026
    (
        "time",
        has_month_and_clock,
        r"(?-u)\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?: [A-Z]{3,5})? [0-9]{4}\b",
    ),
    // Fri, 20 Nov 2026 21:59:45 GMT
    (
        "time",
        has_month_and_clock,
        r"(?-u)\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?[0-9]{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}(?: (?:[A-Z]{3,5}|[+-][0-9]{4}))?\b",
    ),
    // 21:59:45.001
    ("time", has_clock, r"(?-u)\b[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\b"),
    (
        "uuid",
        has_long_hex_group,
        r"(?-u)\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b",
    ),
    // 0x7ffd5e8c and longer: shorter ones are constants that a person wrote.
    ("address", has_hex_prefix, r"(?-u)\b0[xX][0-9A-Fa-f]{8,16}\b"),
];

/// Two digits, `separator`, two digits.
fn has_pairs(line: &[u8], separator: u8) -> bool {
    line.windows(5)
        .any(|at| at[2] == separator && [at[0], at[1], at[3], at[4]].iter().all(u8::is_ascii_digit))
}

fn has_clock(line: &[u8]) -> bool {
    has_pairs(line, b':')
}

fn has_month_and_clock(line: &[u8]) -> bool {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    has_clock(line) && line.windows(3).any(|at| MONTHS.chunks_exact(3).any(|month| month == at))
}

/// Eight hexadecimal digits and a dash.
fn has_long_hex_group(line: &[u8]) -> bool {
    line.windows(9).any(|at| at[8] == b'-' && at[..8].iter().all(u8::is_ascii_hexdigit))
}

fn has_hex_prefix(line: &[u8]) -> bool {
    line.windows(2).any(|at| at[0] == b'0' && matches!(at[1], b'x' | b'X'))
}

/// A `[normalize]` entry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NormalizeError {
    /// Too many entries.
    #[error("[normalize] has {count} patterns, more than {MAX_PATTERNS}")]
    TooMany { count: usize },
    /// A name or pattern beyond its bound; the name is cut to 80 characters.
    #[error("[normalize] {name:?}: a name has at most {MAX_NAME} bytes, a pattern at most {MAX_PATTERN}")]
    TooLong { name: String },
    /// No regular expression, or one too large to compile.
    #[error("[normalize] {name:?} is no usable regular expression: {message}")]
    Pattern { name: String, message: String },
    /// A pattern that matches everywhere.
    #[error("[normalize] {name:?} matches the empty text, so that it would match everywhere")]
    MatchesNothing { name: String },
}

/// Normalizes lines. Cheap to build: each built-in pattern is compiled when the first line may need it.
pub struct Normalizer {
    built_in: [OnceLock<Option<Mask>>; BUILT_IN.len()],
    extra: Vec<Mask>,
}

impl Normalizer {
    /// With the `[normalize]` patterns of the configuration, as (name, pattern) in order; they are applied after the
    /// built-in ones, and what they match becomes `<name>`. Patterns match bytes, `\w` and `\d` are ASCII.
    pub fn new(extra: &[(String, String)]) -> Result<Self, NormalizeError> {
        if extra.len() > MAX_PATTERNS {
            return Err(NormalizeError::TooMany { count: extra.len() });
        }
        let extra = extra.iter().map(|(name, pattern)| compile(name, pattern)).collect::<Result<_, _>>()?;
        Ok(Self { built_in: Default::default(), extra })
    }

    /// `line` (with or without its line end) as it counts for the diff hash.
    pub fn line<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        let mut result = Cow::Borrowed(trimmed(line));
        // No pattern matches where all of these are missing; both are looked for in one pass.
        let seen = result.iter().fold((false, false), |(mark, digit), byte| {
            (mark | matches!(byte, b'-' | b':' | b'x' | b'X'), digit | byte.is_ascii_digit())
        });
        if seen == (true, true) {
            for ((name, hint, pattern), compiled) in BUILT_IN.iter().zip(&self.built_in) {
                if hint(&result) {
                    // A test compiles every one of them.
                    let compiled = compiled.get_or_init(|| Mask::new(name, pattern).ok());
                    if let Some(compiled) = compiled {
                        result = compiled.apply(result);
                    }
                }
            }
        }
        result = self.extra.iter().fold(result, |line, pattern| pattern.apply(line));
        match result {
            Cow::Borrowed(bytes) => Cow::Borrowed(trimmed(bytes)),
            Cow::Owned(mut bytes) => {
                bytes.truncate(trimmed(&bytes).len());
                Cow::Owned(bytes)
            }
        }
    }
}

impl std::fmt::Debug for Normalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Normalizer").field("extra", &self.extra.len()).finish_non_exhaustive()
    }
}

fn compile(name: &str, pattern: &str) -> Result<Mask, NormalizeError> {
    if name.len() > MAX_NAME || pattern.len() > MAX_PATTERN {
        return Err(NormalizeError::TooLong { name: name.chars().take(80).collect() });
    }
    let compiled = Mask::new(name, pattern)
        .map_err(|message| NormalizeError::Pattern { name: name.to_owned(), message })?;
    if compiled.matches_empty() {
        return Err(NormalizeError::MatchesNothing { name: name.to_owned() });
    }
    Ok(compiled)
}

/// Without white space (and so without CR and LF) at its end.
fn trimmed(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(*byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
    &line[..end.map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(normalizer: &Normalizer, line: &str) -> String {
        String::from_utf8(normalizer.line(line.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn every_built_in_pattern_compiles() {
        for (name, _, pattern) in BUILT_IN {
            assert!(compile(name, pattern).is_ok(), "{pattern}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_hint_never_hides_a_match(line in "(?:[0-9]{1,4}|-|:|T| |Z|, |0x|[a-f0-9]{4,12}|Nov|Fri|UTC|GMT){0,24}") {
            for (name, hint, pattern) in BUILT_IN {
                let masked = compile(name, pattern).unwrap().apply(Cow::Borrowed(line.as_bytes()));
                let matches = matches!(masked, Cow::Owned(_));
                proptest::prop_assert!(!matches || hint(line.as_bytes()), "{pattern}: {line}");
            }
        }
    }

    #[test]
    fn what_changes_on_every_run_is_masked_and_nothing_else() {
        let plain = Normalizer::new(&[]).unwrap();
        for (line, wanted) in [
            ("let x = 1; \t\r\n", "let x = 1;"),
            ("\r\n", ""),
            ("at 2026-11-20T15:30:00Z.", "at <time>."),
            ("at 2026-11-20 15:30:00.123456 +01:00|", "at <time>|"),
            ("on 2026-11-20,", "on <time>,"),
            ("Fri Nov 20 21:59:45 UTC 2026", "<time>"),
            ("Date: Fri, 20 Nov 2026 21:59:45 GMT", "Date: <time>"),
            ("[21:59:45.001] ok", "[<time>] ok"),
            ("id=123e4567-e89b-12d3-a456-426614174000;", "id=<uuid>;"),
            ("<object at 0x7ffd5e8c>", "<object at <address>>"),
            ("mask = 0xff00; colour = 0xFFAA00;", "mask = 0xff00; colour = 0xFFAA00;"),
            ("version 1.2.3, 4096 of 10", "version 1.2.3, 4096 of 10"),
            ("12026-11-201", "12026-11-201"),
        ] {
            assert_eq!(shown(&plain, line), wanted, "{line}");
        }
        assert_eq!(*plain.line(b"\xff\xfe \r"), *b"\xff\xfe");
    }

    #[test]
    fn configured_patterns_come_after_the_built_in_ones() {
        let pairs =
            [("build".to_owned(), r"build #\d+".to_owned()), ("user".to_owned(), "/home/[a-z]+".to_owned())];
        let normalizer = Normalizer::new(&pairs).unwrap();
        assert_eq!(
            shown(&normalizer, "build #17 of 2026-11-20 in /home/me/x "),
            "<build> of <time> in <user>/x"
        );
        assert_eq!(shown(&normalizer, "/home/$1"), "/home/$1");
    }

    #[test]
    fn unusable_patterns_are_named() {
        let one = |name: &str, pattern: &str| {
            Normalizer::new(&[(name.to_owned(), pattern.to_owned())]).unwrap_err()
        };
        assert!(one("broken", "(").to_string().contains("broken"));
        assert!(one("huge", &format!("{}a{{1000}}", "(?:.{1000}){1000}")).to_string().contains("huge"));
        assert!(matches!(one("empty", "a*"), NormalizeError::MatchesNothing { .. }));
        assert!(matches!(one(&"n".repeat(65), "a"), NormalizeError::TooLong { .. }));
        assert!(matches!(one("n", &"a".repeat(2000)), NormalizeError::TooLong { .. }));
        let many = vec![("n".to_owned(), "a".to_owned()); 65];
        assert!(matches!(Normalizer::new(&many), Err(NormalizeError::TooMany { count: 65 })));
    }
}
