//! Claude Code reads its settings again while it runs: emptying them removes the guard.

use serde_json::Value;

pub fn switches_off(settings: &[u8]) -> bool {
    parsed(settings).is_some_and(|settings| is_off(&settings))
}

fn is_off(settings: &Value) -> bool {
    settings.get("disableAllHooks").and_then(Value::as_bool) == Some(true)
}

/// Settings may hold comments and begin with a byte order mark.
fn parsed(settings: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(settings).ok()?.trim_start_matches('\u{feff}');
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default()).ok()
}

/// True if settings still start Andon before a tool runs. A text that is no JSON starts nothing.
pub fn calls_us(settings: &[u8]) -> bool {
    let Some(settings) = parsed(settings).filter(|settings| !is_off(settings)) else { return false };
    let groups = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    let handlers = groups.into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    handlers.into_iter().any(|handler| {
        let words = handler.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
        let line = format!("{command} {}", words.join(" "));
        line.contains("agent hook claude PreToolUse")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_that_are_gone_are_seen() {
        for (settings, expected) in [
            (
                r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"andon","args":["agent","hook","claude","PreToolUse"]}]}]}}"#,
                true,
            ),
            (
                r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"/x/andon agent hook claude PreToolUse"}]}]}}"#,
                true,
            ),
            (
                r#"{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[{"command":"andon agent hook claude PreToolUse"}]}]}}"#,
                false,
            ),
            (r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"true"}]}]}}"#, false),
            (r#"{"hooks":[]}"#, false),
            (
                "\u{feff}// mine\n{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"andon agent hook claude PreToolUse\"}]},]}}",
                true,
            ),
            ("{}", false),
            ("{", false),
        ] {
            assert_eq!(calls_us(settings.as_bytes()), expected, "{settings}");
        }
        assert!(
            switches_off(b"{\"disableAllHooks\": true} // x") && !switches_off(b"{}") && !switches_off(b"{")
        );
    }
}
