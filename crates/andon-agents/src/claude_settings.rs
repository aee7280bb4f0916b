//! Claude Code reads its settings again while it runs: emptying them removes the guard.

use serde_json::Value;

use super::tools;
use andon_core::domain::agent_door::ToolKind;

pub fn switches_off(settings: &[u8]) -> bool {
    parsed(settings).is_some_and(|settings| is_off(&settings))
}

/// True where settings keep hooks from being started, or from guarding: all at once, by a variable, or in a hook of ours.
fn is_off(settings: &Value) -> bool {
    let variables = settings.get("env").and_then(Value::as_object);
    let disarms = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        name.starts_with("GIT_CONFIG_") || name == "ANDON" && value == "0"
    };
    settings.get("disableAllHooks").and_then(Value::as_bool) == Some(true)
        || variables.into_iter().flatten().any(disarms)
        || ours(settings).any(|hook| !hook.is_started())
}

/// A hook of ours in settings.
struct OwnHook<'a> {
    event: &'a str,
    group: &'a Value,
    handler: &'a Value,
    line: String,
}

impl OwnHook<'_> {
    /// True where it is started at its event, for some tool, with time to answer.
    fn is_started(&self) -> bool {
        let known = |name: &str| {
            name.contains(['*', '.']) || tools::called(name, None, None).used.kind != ToolKind::Unknown
        };
        let matcher = self.group.get("matcher").and_then(Value::as_str).unwrap_or_default();
        let is_command = self.handler.get("type").is_none_or(|kind| kind == "command");
        let has_time =
            self.handler.get("timeout").is_none_or(|time| time.as_f64().is_some_and(|time| time > 0.0));
        let of_event = self.line.split_whitespace().last() == Some(self.event);
        of_event && is_command && has_time && (matcher.is_empty() || matcher.split('|').any(known))
    }
}

fn ours(settings: &Value) -> impl Iterator<Item = OwnHook<'_>> {
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let groups = events
        .flat_map(|(event, groups)| groups.as_array().into_iter().flatten().map(move |group| (event, group)));
    let handlers = groups.flat_map(|(event, group)| {
        let handlers = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
        handlers.map(move |handler| (event, group, handler))
    });
    handlers.filter_map(|(event, group, handler)| {
        let words = handler.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
        let line = format!("{command} {}", words.join(" "));
        line.contains("agent hook ").then_some(OwnHook {
            event,
            group,
            handler,
            line: line.trim_end().to_owned(),
        })
    })
}

/// Settings may hold comments and begin with a byte order mark.
fn parsed(settings: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(settings).ok()?.trim_start_matches('\u{feff}');
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default()).ok()
}

/// True if settings still start Andon before a tool runs. A text that is no JSON starts nothing.
pub fn calls_us(settings: &[u8]) -> bool {
    let Some(settings) = parsed(settings).filter(|settings| !is_off(settings)) else { return false };
    ours(&settings).any(|hook| hook.line.contains("agent hook claude PreToolUse"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(handler: &str, group: &str) -> String {
        format!(
            r#"{{"hooks":{{"PreToolUse":[{{{group}"hooks":[{{"command":"andon agent hook claude PreToolUse",{handler}}}]}}]}}}}"#
        )
    }

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
            (&ours("\"timeout\":0", ""), false),
            (&ours("\"type\":\"prompt\"", ""), false),
            (&ours("\"timeout\":5", "\"matcher\":\"NoSuchTool\","), false),
            (&ours("\"timeout\":5", "\"matcher\":\"Bash|Edit\","), true),
            (&ours("\"timeout\":5}]}]},\"env\":{\"ANDON\":\"0\"},\"x\":{\"y\":[{\"z\":[{\"w\":0", ""), false),
            (
                r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"andon agent hook claude Nothing"}]}]}}"#,
                false,
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
