//! The strength of an assertion: it asks nothing, that something is there, or more.

use crate::source::{holds, is_name, outer_bytes};
use crate::words::WORDS;
use andon_core::WordList;

/// The strength of an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It holds whatever the code does.
    Trivial,
    /// Something is there, or counts as true.
    Existence,
    /// Anything else.
    Strong,
}

/// Values that are always true.
const TRUE: &[&str] = &["true", "True"];

/// Words that ask only whether something is there.
const EXISTENCE: WordList = WordList::section(WORDS, "existence");

/// Assertions that always pass.
const PASSES: &[&str] = &["Assert.Pass(", "SUCCEED(", "pass()"];

pub(super) fn strength(text: &str, shape: &str) -> Strength {
    if is_trivial(text, shape) {
        Strength::Trivial
    } else if EXISTENCE.iter().any(|word| shape.contains(word)) || is_missing(shape) {
        Strength::Existence
    } else {
        Strength::Strong
    }
}

/// `if x == nil { t.Errorf(…) }`
fn is_missing(shape: &str) -> bool {
    let missing = shape.ends_with("==nil") || shape.ends_with("==null");
    // An error that is asked for is more than that.
    shape.starts_with("if ") && missing && !shape.ends_with("err==nil")
}

fn is_trivial(text: &str, shape: &str) -> bool {
    let or_true = ["||true", "or True", "or true"].iter().any(|word| holds(shape, word));
    let and_false = shape.starts_with("if ") && shape.ends_with("&&false");
    if or_true || and_false || PASSES.iter().any(|word| shape.starts_with(word)) {
        return true;
    }
    let operands = operands(text, shape);
    // A type between angle brackets may be the subject.
    let generic = shape.split('(').next().is_some_and(|head| head.contains('<'));
    let values: Vec<&&str> = operands.iter().filter(|it| !it.starts_with(['"', '\'', '`'])).collect();
    let constant = values.first().is_some_and(|it| TRUE.contains(it));
    let only = values.iter().all(|it| TRUE.contains(it));
    // Both sides of a comparison are the same, or the subject is what it is compared with.
    let same = |pair: &[&str]| pair[0] == pair[1] && !pair[0].is_empty();
    let subject = operands.first().filter(|subject| !subject.is_empty());
    let again = subject.is_some_and(|subject| {
        let rest = text.get(subject_of(shape).end..).unwrap_or_default();
        rest.contains(&format!("({subject})")) || rest == format!(").to eq {subject}")
    });
    constant && only && !generic || operands.windows(2).any(same) || again
}

/// The subjects of an assertion: the values of its first call, or the two sides of a comparison.
pub(super) fn operands<'t>(text: &'t str, shape: &str) -> Vec<&'t str> {
    if let Some(at) =
        shape.find("shouldBe").filter(|at| !shape.get(at + 8..).is_some_and(|it| it.starts_with(is_name)))
    {
        let side = |text: Option<&'t str>| text.unwrap_or_default().trim();
        return vec![side(text.get(..at)), side(text.get(at + 8..))];
    }
    let subject = subject_of(shape);
    let mut found = Vec::new();
    for range in split(shape, subject.clone()) {
        let Some(part) = text.get(range.clone()) else { continue };
        let part = part.trim_start_matches('!').trim();
        if matches!(part, "t" | "s.T()") {
            continue;
        }
        let inner = shape.get(range.clone()).unwrap_or_default();
        let sides = compared(inner);
        match sides {
            Some((left, right)) => {
                let side = |from: usize, to: usize| text.get(range.start + from..range.start + to);
                found.extend(side(0, left));
                found.extend(side(right, inner.len()));
            }
            None => found.push(bare(part)),
        }
    }
    found.iter().map(|part| part.trim()).collect()
}

/// A value without what it is wrapped in: `Is.EqualTo(x)`, `&x`.
fn bare(part: &str) -> &str {
    let wrapped =
        ["Is.EqualTo(", "eq(", "equalTo(", "is(", "Equal("].iter().find_map(|word| part.strip_prefix(word));
    wrapped.and_then(|rest| rest.strip_suffix(')')).unwrap_or(part).trim_start_matches('&')
}

/// The places of the values that a statement asserts something about.
fn subject_of(shape: &str) -> std::ops::Range<usize> {
    for word in ["assert ", "if ", "refute "] {
        if shape.starts_with(word) {
            return word.len()..shape.len();
        }
    }
    // `x.Should().Be(1)`, `x shouldBe 1`, `assert_equal x, 1`
    if let Some(at) = [".Should", ".should", " should"].iter().find_map(|word| shape.find(word)) {
        return 0..at;
    }
    let name = shape.find(|c| !is_name(c)).unwrap_or(shape.len());
    let open = shape.get(name..).is_some_and(|rest| rest.starts_with([' ', '\'', '"', '[', '-', ':']));
    if open && ["assert", "refute", "must", "wont"].iter().any(|word| shape.starts_with(word)) {
        return name..shape.len();
    }
    let Some(open) = shape.find('(') else { return 0..shape.len() };
    let end = super::declaration::closing(shape.get(open..).unwrap_or_default());
    open + 1..end.map_or(shape.len(), |end| open + end - 1)
}

/// The parts between the commas of a range.
fn split(shape: &str, range: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let (mut from, mut parts) = (range.start, Vec::new());
    let code = shape.get(range.clone()).unwrap_or_default();
    for (at, _) in outer_bytes(code).filter(|(_, byte)| *byte == b',') {
        parts.push(from..range.start + at);
        from = range.start + at + 1;
    }
    parts.push(from..range.end);
    parts
}

/// The end of the left side of a comparison, and the beginning of the right one.
fn compared(shape: &str) -> Option<(usize, usize)> {
    let signs = outer_bytes(shape).filter(|(_, byte)| matches!(byte, b'=' | b'!'));
    signs.into_iter().find_map(|(at, _)| {
        let rest = shape.get(at..).unwrap_or_default();
        let sign = ["===", "!==", "==", "!="].iter().find(|sign| rest.starts_with(**sign))?;
        Some((at, at + sign.len()))
    })
}

/// Words of comparisons that leave room.
const TOLERANT: WordList = WordList::section(WORDS, "tolerant");

/// The factor by which a tolerance has to grow to be another one.
const WIDER: f64 = 1000.0;

/// True for an assertion that leaves much more room for the same value than another one did.
pub(super) fn is_wider(old: &str, new: &str) -> bool {
    let (mut before, mut after) = (numbers(old), numbers(new));
    // `be_within(1e-9).of(3.2)`
    if old.contains("be_within(") && new.contains("be_within(") {
        before.reverse();
        after.reverse();
    }
    let (Some((was, rest)), Some((now, same))) = (before.split_last(), after.split_last()) else {
        return false;
    };
    let tolerant = TOLERANT.iter().any(|word| new.contains(word));
    tolerant && *now >= 1.0 && *now >= was * WIDER && rest.iter().any(|value| same.contains(value))
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let named = rest.get(..at).and_then(|text| text.chars().next_back()).is_some_and(is_name);
        let tail = rest.get(at..).unwrap_or_default();
        let mut end = 0;
        for (at, byte) in tail.bytes().enumerate() {
            let exponent =
                matches!(byte, b'-' | b'+') && at > 0 && matches!(tail.as_bytes()[at - 1], b'e' | b'E');
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || exponent) {
                break;
            }
            end = at + 1;
        }
        let (number, after) = tail.split_at(end);
        if let (false, Ok(value)) = (named, number.trim_end_matches('.').parse()) {
            found.push(value);
        }
        rest = after;
    }
    found
}
