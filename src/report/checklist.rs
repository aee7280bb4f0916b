//! Lists of things that are in order or not, each with its mend: `andon doctor`, `install` and `uninstall`.

use serde_json::{Value, json};

use super::message;
use super::page::Page;
use super::phrase;
use super::style::Style;

/// Whether a thing is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemState {
    /// In order, or done.
    Ok,
    /// A way around, or not as it could be.
    Warn,
    /// Not in order.
    Fail,
}

impl ItemState {
    /// The word in text and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecklistItem {
    /// What: `hook pre-commit`, `notes ref`, ...
    pub name: String,
    /// Whether it is in order.
    pub state: ItemState,
    /// What was found or done, in a few words; may be empty.
    pub detail: String,
    /// Commands or steps that mend it; shown unless the state is `Ok`.
    pub hint: Vec<String>,
}

/// A list with a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitledList {
    /// The title; empty for none.
    pub title: String,
    /// The items, in the order shown.
    pub items: Vec<ChecklistItem>,
}

impl TitledList {
    /// The worst state among the items; `Ok` for none.
    pub fn worst(&self) -> ItemState {
        self.items.iter().map(|item| item.state).max().unwrap_or(ItemState::Ok)
    }
}

/// The list for a person.
pub fn text(list: &TitledList, style: Style) -> String {
    let mut page = Page::new(style);
    if !list.title.is_empty() {
        let title = style.bold(&phrase::message(&list.title));
        page.line(&title);
    }
    for item in &list.items {
        let word = format!("{:<4}", item.state.as_str());
        let word = match item.state {
            ItemState::Ok => style.green(&word),
            ItemState::Warn => style.yellow(&word),
            ItemState::Fail => style.red(&word),
        };
        let colon = if item.detail.is_empty() { "" } else { ": " };
        page.line(&format!(
            "{word}  {}{colon}{}",
            phrase::message(&item.name),
            phrase::message(&item.detail)
        ));
        if item.state != ItemState::Ok {
            for hint in &item.hint {
                page.line(&format!("      {}", message::help_line(hint, style)));
            }
        }
    }
    page.finish()
}

/// The list for a program: `andon/checklist@1`.
pub fn json(list: &TitledList) -> Value {
    let item = |item: &ChecklistItem| json!({ "name": item.name, "state": item.state.as_str(), "detail": item.detail, "mend": item.hint });
    json!({
        "schema": "andon/checklist@1",
        "title": list.title,
        "state": list.worst().as_str(),
        "items": list.items.iter().map(item).collect::<Value>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, state: ItemState, detail: &str) -> ChecklistItem {
        ChecklistItem {
            name: name.to_owned(),
            state,
            detail: detail.to_owned(),
            hint: vec!["andon install".to_owned()],
        }
    }

    fn list() -> TitledList {
        TitledList {
            title: "Andon in this repository".to_owned(),
            items: vec![
                item("hook pre-commit", ItemState::Ok, ""),
                item("hook post-commit", ItemState::Fail, "removed\u{1b}"),
                item("core.hooksPath", ItemState::Warn, "a -c option gets around every hook"),
            ],
        }
    }

    #[test]
    fn mends_are_shown_where_needed() {
        let expected = "Andon in this repository
ok    hook pre-commit
fail  hook post-commit: removed\\u{1b}
      help: andon install
warn  core.hooksPath: a -c option gets around every hook
      help: andon install
";
        assert_eq!(text(&list(), Style::Plain), expected);
    }

    #[test]
    fn json_has_the_worst_state() {
        let value = json(&list());
        assert_eq!(value["state"], "fail");
        assert_eq!(
            value["items"][0],
            json!({
                "name": "hook pre-commit", "state": "ok", "detail": "", "mend": ["andon install"]
            })
        );
        assert_eq!(TitledList { title: String::new(), items: vec![] }.worst(), ItemState::Ok);
    }
}
