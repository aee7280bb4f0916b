//! Tool calls as findings name them: by their short form, and the calls of a row so that the sentence stays readable.
//!
//! Answers that change from call to call: an agent that waits for a build or a download repeats its call on purpose.

use std::collections::BTreeSet;

use super::words;
use crate::domain::{Arguments, Detail, Evidence, Figures, NamedCall, SAMPLED, ToolCall};
use crate::history::{Call, SHELLS, is_edit, is_one_of};

/// Calls of a row that a sentence names.
pub(super) const NAMED: usize = 3;
/// Characters of each of them.
const CHARS: usize = 80;

/// Returns whether the arguments of a call are known, and it did not wait for what the calls before it waited for. Otherwise it
/// proves nothing: two calls may be anything but the same, or be the same on purpose.
pub(super) fn is_told(call: &Call) -> bool {
    call.call.args == Arguments::Known && call.waited == 0
}

/// The short form of a call; where its arguments are not known, its tool.
pub(super) fn named(call: &ToolCall) -> String {
    call.shown.clone().unwrap_or_else(|| words::bounded(&call.tool))
}

/// `Bash: a; Bash: b; Bash: c; and 2 more`: the calls of a row, oldest first. One call alone is named in full.
pub(super) fn row(calls: &[&Call]) -> String {
    if let [only] = calls {
        return named(&only.call);
    }
    let short = |call: &&Call| match named(&call.call) {
        name if name.chars().count() > CHARS => {
            let begin: String = name.chars().take(CHARS.saturating_sub(3)).collect();
            format!("{begin}...")
        }
        name => name,
    };
    let mut parts: Vec<String> = calls.iter().take(NAMED).map(short).collect();
    if calls.len() > NAMED {
        parts.push(format!("and {} more", calls.len() - NAMED));
    }
    parts.join("; ")
}

/// `Edit(file=a.rs)`, `Bash(cmd=cargo test)`: the calls of a row as the safety event log shows them (docs/spec-map.md, loop
/// rules: signature normalization); `None` where no arguments are known.
pub(super) fn signature(calls: &[&Call]) -> Option<String> {
    let of_call = |call: &&Call| {
        let (tool, shown) = (words::bounded(&call.call.tool), call.call.shown.as_deref()?);
        let rest = shown.strip_prefix(call.call.tool.as_str())?;
        let asked = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '))?;
        // Behind a file come the other arguments, as JSON.
        let file = asked.split(" {").next().unwrap_or(asked);
        let name = file.rsplit('/').next().unwrap_or(file);
        Some(if is_edit(&tool) {
            format!("{tool}(file={name})")
        } else if is_one_of(&tool, SHELLS) {
            format!("{tool}(cmd={asked})")
        } else {
            format!("{tool}({asked})")
        })
    };
    let known: Option<Vec<String>> = calls.iter().take(NAMED).map(of_call).collect();
    known.filter(|known| !known.is_empty()).map(|known| known.join("; "))
}

/// The detail of a finding about `calls`, the newest of which came `count` times.
pub(super) fn detail(message: String, calls: &[&Call], count: u64) -> Detail {
    let tool = calls.last().map(|newest| words::bounded(&newest.call.tool)).unwrap_or_default();
    Detail::new(message).with_figures(Figures::Calls { tool, signature: signature(calls), count })
}

/// A call as evidence: its hash, with the short form.
pub(super) fn evidence(call: &ToolCall) -> Evidence {
    Evidence::Call(NamedCall { exact: call.hashes.exact, shown: call.shown.clone() })
}

/// A call and what it was answered.
pub(super) fn with_answer(call: &ToolCall) -> Vec<Evidence> {
    let answer = call.result.map(|answer| Evidence::Text(format!("answer {answer}")));
    [evidence(call)].into_iter().chain(answer).collect()
}

/// Returns whether most lines of one answer are in the other, by their samples.
pub(super) fn overlap(one: &[u64], other: &[u64]) -> bool {
    let all: BTreeSet<u64> = one.iter().chain(other).copied().collect();
    let shared = |line: &&u64| one.contains(line) && other.contains(line);
    let smallest: Vec<&u64> = all.iter().take(SAMPLED).collect();
    smallest.len() == SAMPLED && smallest.iter().filter(|line| shared(line)).count() * 2 >= SAMPLED
}

/// Returns whether one quantity of the answers of `alike`, calls that are equal as they are compared, only rises or only falls in
/// their newest ones, and does so in at least every other of them.
pub(super) fn is_moving<'a>(newest_first: impl Iterator<Item = &'a Call>, most: usize) -> bool {
    let answers: Vec<&[u64]> = newest_first.take(most).map(|call| call.call.moves.as_slice()).collect();
    let places = answers.iter().map(|quantities| quantities.len()).min().unwrap_or(0);
    (0..places).any(|place| {
        let at: Vec<u64> = answers.iter().map(|quantities| quantities[place]).collect();
        moves(&at, |newer, older| newer >= older) || moves(&at, |newer, older| newer <= older)
    })
}

fn moves(row: &[u64], way: fn(u64, u64) -> bool) -> bool {
    let steps = row.len().saturating_sub(1);
    let moved = row.windows(2).filter(|pair| pair[0] != pair[1]).count();
    moved > 0 && moved * 2 >= steps && row.windows(2).all(|pair| way(pair[0], pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::call;

    fn made(shown: &str) -> Call {
        let call = ToolCall { shown: Some(shown.to_owned()), ..call("Bash", 1, None) };
        Call { node: "agent".to_owned(), call, epoch: 0, state: 0, iteration: 0, waited: 0 }
    }

    #[test]
    fn a_row_names_its_first_calls_and_counts_the_others() {
        let calls: Vec<Call> = ["a", "b", "c", "d", "e"].map(|text| made(&format!("Bash: {text}"))).into();
        let all: Vec<&Call> = calls.iter().collect();
        assert_eq!(row(&all[..2]), "Bash: a; Bash: b");
        assert_eq!(row(&all), "Bash: a; Bash: b; Bash: c; and 2 more");
        let long = made(&"é".repeat(200));
        assert_eq!(row(&[&long]), "é".repeat(200));
        assert_eq!(row(&[&long, all[0]]), format!("{}...; Bash: a", "é".repeat(77)));
    }

    #[test]
    fn a_signature_has_the_file_or_the_command() {
        let of = |tool: &str, shown: &str| {
            let mut made = made(shown);
            made.call.tool = tool.to_owned();
            signature(&[&made])
        };
        for (tool, shown, expected) in [
            ("Edit", "Edit: src/a.rs {\"new_string\":\"y\"}", Some("Edit(file=a.rs)")),
            ("Write", "Write: a.rs", Some("Write(file=a.rs)")),
            ("Bash", "Bash: cargo test --lib", Some("Bash(cmd=cargo test --lib)")),
            ("mcp: find", "mcp: find {\"x\":1}", Some("mcp: find({\"x\":1})")),
            ("Read", "Read", None),
        ] {
            assert_eq!(of(tool, shown).as_deref(), expected, "{shown}");
        }
        let calls = [made("Bash: a"), made("Bash: b")];
        assert_eq!(signature(&[&calls[0], &calls[1]]).unwrap(), "Bash(cmd=a); Bash(cmd=b)");
        assert_eq!(signature(&[]), None);
    }

    #[test]
    fn a_call_without_known_arguments_is_named_by_its_tool() {
        assert_eq!(named(&call("Bash", 1, None)), "Bash");
        assert_eq!(evidence(&call("Bash", 1, None)).to_string(), "call 0101010101010101");
        assert_eq!(evidence(&made("Bash: a").call).to_string(), "call 0101010101010101: Bash: a");
    }
}

#[cfg(test)]
mod moving_tests {
    use super::moves;

    fn rises(row: &[u64]) -> bool {
        moves(row, |newer, older| newer >= older)
    }

    #[test]
    fn what_stands_still_every_other_time_moves() {
        assert!(rises(&[5, 4, 3, 2, 1]));
        assert!(rises(&[3, 3, 2, 2, 1]));
        assert!(!rises(&[3, 3, 3, 3, 2]), "it moved once");
        assert!(!rises(&[3, 3]), "not at all");
        assert!(!rises(&[5, 4, 6, 2, 1]));
        assert!(!rises(&[1]));
    }
}
