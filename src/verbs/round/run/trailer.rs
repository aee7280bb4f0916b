//! The trailer of a verdict: the last fenced JSON block, or the whole text.

use serde::Deserialize;
use serde_json::Value;

/// Where it begins.
const FENCE: &str = "```json";

/// What a judge decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) deferred: bool,
    pub(super) recommendation: Option<String>,
    /// The text before it.
    pub(super) prose: Option<String>,
}

#[derive(Deserialize)]
struct Wire {
    deferred: bool,
    recommendation: Option<Value>,
}

/// Reads it.
///
/// # Errors
/// Why it cannot be read, for the judge's second try.
pub(super) fn parse(text: &str) -> Result<Trailer, String> {
    let wire: Wire = serde_json::from_str(block(text)).map_err(|err| {
        format!("the last ```json block is no trailer ({err}): end with ```json {{\"deferred\": false, \"recommendation\": \"...\"}} ```")
    })?;
    let recommendation = match wire.recommendation {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text).filter(|text| !text.trim().is_empty()),
        Some(_) => return Err("recommendation must be a text".to_owned()),
    };
    if !wire.deferred && recommendation.is_none() {
        return Err("deferred is false, so a recommendation is asked for".to_owned());
    }
    let prose = text.rfind(FENCE).map(|at| text[..at].trim().to_owned()).filter(|text| !text.is_empty());
    Ok(Trailer { deferred: wire.deferred, recommendation, prose })
}

fn block(text: &str) -> &str {
    let Some(begin) = text.rfind(FENCE) else { return text.trim() };
    let inner = &text[begin + FENCE.len()..];
    inner.split("```").next().unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_or_the_whole_text_is_the_trailer() {
        let yes = |text: &str| parse(text).unwrap();
        assert_eq!(
            yes("{\"deferred\": true}"),
            Trailer { deferred: true, recommendation: None, prose: None }
        );
        let two = "```json\n{\"deferred\": true}\n```\nno:\n```json\n{\"deferred\": false, \"recommendation\": \"Do it.\", \"x\": 1}\n```\n";
        assert_eq!(
            yes(two),
            Trailer {
                deferred: false,
                recommendation: Some("Do it.".into()),
                prose: Some("```json\n{\"deferred\": true}\n```\nno:".into()),
            }
        );
        for bad in [
            "I would say yes.",
            "{\"deferred\": \"no\"}",
            "{\"deferred\": false}",
            "{\"deferred\": false, \"recommendation\": \" \"}",
            "{\"deferred\": false, \"recommendation\": 3}",
            "```json\n{\"deferred\": tru",
            "[]",
            "",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,100}(```json)?.{0,100}") {
            let _ = parse(&text);
        }
    }
}
