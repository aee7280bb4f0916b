//! How findings name tool calls: by their short form, and the calls of a row so that the sentence stays readable.

use crate::domain::events::ToolCall;
use crate::domain::findings::{Evidence, NamedCall};
use crate::history::Call;

use super::words;

/// Calls of a row that a sentence names.
pub(super) const NAMED: usize = 3;
/// Characters of each of them.
const CHARS: usize = 80;

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

/// A call as evidence: its hash, with the short form.
pub(super) fn evidence(call: &ToolCall) -> Evidence {
    Evidence::Call(NamedCall { exact: call.exact, shown: call.shown.clone() })
}

/// A call and what it was answered.
pub(super) fn with_answer(call: &ToolCall) -> Vec<Evidence> {
    let answer = call.result.map(|answer| Evidence::Text(format!("answer {answer}")));
    [evidence(call)].into_iter().chain(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::call;

    fn made(shown: &str) -> Call {
        let call = ToolCall { shown: Some(shown.to_owned()), ..call("Bash", 1, None) };
        Call { node: "agent".to_owned(), call, epoch: 0, iteration: 0 }
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
    fn a_call_without_known_arguments_is_named_by_its_tool() {
        assert_eq!(named(&call("Bash", 1, None)), "Bash");
        assert_eq!(evidence(&call("Bash", 1, None)).to_string(), "call 0101010101010101");
        assert_eq!(evidence(&made("Bash: a").call).to_string(), "call 0101010101010101: Bash: a");
    }
}
