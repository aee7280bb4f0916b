//! Our hooks in settings in TOML: an array of tables `[[hooks]]`, of which each names its event and its command. Ours are put at
//! the end, and known by the command; all other lines stay as they are.

use super::template::{Template, UnreadableSettings};
use andon_core::domain::agent::Client;

const HOOKS: &str = "[[hooks]]";

fn parse(text: &str) -> Result<toml::Table, UnreadableSettings> {
    text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().and_then(|span| Some(text.get(..span.start)?.matches('\n').count() + 1));
        UnreadableSettings { line, why: error.message().to_owned() }
    })
}

/// `text` with the hooks of the template at its end.
pub(super) fn merge(text: &str, template: &Template<'_>) -> Result<String, UnreadableSettings> {
    parse(text)?;
    // A basic string of TOML is written as one of JSON.
    let quoted = serde_json::Value::from(template.quoted()).to_string();
    let added = template.with(quoted.trim_matches('"'));
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let after = format!("{text}{gap}{added}");
    // Hooks that are written as one list leave no place for others.
    parse(&after)
        .map_err(|broken| UnreadableSettings { why: format!("with our hooks: {}", broken.why), ..broken })?;
    Ok(after)
}

/// `text` without our hooks.
pub(super) fn strip(text: &str, client: Client) -> Result<String, UnreadableSettings> {
    parse(text)?;
    let mut kept = String::new();
    for table in tables(text) {
        if !(table.starts_with(HOOKS) && table.contains(&mark(client))) {
            kept.push_str(table);
        }
    }
    Ok(kept)
}

/// The text as its tables, each with its header, comments behind it included.
fn tables(text: &str) -> Vec<&str> {
    let (mut found, mut begun, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') && at > begun {
            found.extend(text.get(begun..at));
            begun = at;
        }
        at += line.len();
    }
    found.extend(text.get(begun..));
    found
}

fn mark(client: Client) -> String {
    format!(" agent hook {} ", client.as_str())
}

/// The events for which `text` starts us, and each command.
pub(super) fn found(text: &str, client: Client) -> Result<Vec<(String, Vec<String>)>, UnreadableSettings> {
    let table = parse(text)?;
    let hooks = table.get("hooks").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let one = |hook: &toml::Value| {
        let text = |name| hook.get(name)?.as_str().map(str::to_owned);
        let command = text("command").filter(|command| format!("{command} ").contains(&mark(client)))?;
        Some((text("event")?, vec![command]))
    };
    Ok(hooks.iter().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[hooks]]\nevent = \"Stop\"\ncommand = \"@ANDON@ agent hook kimi Stop\"\n";

    #[test]
    fn ours_come_and_go_beside_others() {
        let template = Template { client: Client::Kimi, text: TEXT, program: "/x/a \"n\" b/andon" };
        let others = "model = \"k\" # mine\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n";
        for text in ["", "a = 1", "a = 1\n", others, "[t]\nlist = [\n  [1],\n]\n"] {
            let merged = merge(text, &template).unwrap();
            let ours = found(&merged, Client::Kimi).unwrap();
            assert_eq!(
                ours,
                [("Stop".to_owned(), vec!["'/x/a \"n\" b/andon' agent hook kimi Stop".to_owned()])]
            );
            assert!(merged.starts_with(text));
            assert_eq!(strip(&merged, Client::Kimi).unwrap().trim_end(), text.trim_end());
        }
        assert_eq!(strip(others, Client::Kimi).unwrap(), others);
        assert_eq!(merge("a = 1\nb =\n", &template).unwrap_err().line, Some(2));
        assert!(merge("hooks = []\n", &template).is_err(), "no other table can be added to it");
    }
}
