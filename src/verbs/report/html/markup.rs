//! What several sections are made of. `maud` keeps markup and text apart; a text of a stranger goes through [`text`] or
//! [`clipped`], which make characters visible that a reader would not see.

use andon_core::domain::time::Timestamp;
use andon_core::escape;
use maud::{Markup, PreEscaped, html};

/// A text, for an element or an attribute.
pub(super) fn text(text: &str) -> Markup {
    PreEscaped(escape::xml(text))
}

/// A text cut to so many columns.
pub(super) fn clipped(long: &str, columns: usize) -> Markup {
    text(&escape::terminal_clip(long, columns))
}

/// A command to be copied.
pub(super) fn command(command: &str) -> Markup {
    html! { code.cmd { (text(command)) } }
}

/// A time, to the minute.
pub(super) fn time(at: Timestamp) -> Markup {
    let full = at.to_string();
    let shown = full.get(..16).map_or_else(|| full.clone(), |minute| minute.replace('T', " "));
    html! { time datetime=(full) { (shown) } }
}

/// What is shown elsewhere too: a link, where there is a page of it.
pub(super) fn linked(page: Option<String>, shown: &Markup) -> Markup {
    html! { @match page { Some(page) => { a href=(page) { (shown) } } None => (shown) } }
}

/// What a person looks at next: the command that shows all of it.
pub(super) fn look(again: &str) -> Markup {
    html! { p.derived { "All of it: " (command(again)) } "\n" }
}

/// A section under its heading, by which it is labelled.
pub(super) fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (body) } "\n" }
}

/// A name and a value of a list of them.
pub(super) fn field(name: &str, value: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
