//! `andon report`: one complete page. Nothing is fetched, nothing runs but a filter for the list of commits, and the
//! same facts make the same bytes: there is no time of making on it, and times are in UTC.

mod chart;
mod commits;
mod halts;
mod now;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use andon_core::domain::{Hint, Timestamp};
use andon_core::escape::{self, shell_quote};
use andon_engine::view::HistoryView;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub fn page(view: &HistoryView) -> String {
    let again = Hint::Report.with([&shell_quote(&view.range)]);
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            (head(view))
            body {
                a.skip href="#main" { "Skip to the report" }
                header { (now::section(view)) }
                main id="main" {
                    (warnings(view))
                    (chart::section(view))
                    (chart::lanes_section(view))
                    (halts::section(view))
                    (now::flaky(view))
                    (now::passed_over(view))
                    (now::rounds(view))
                    (now::costs(view))
                    (commits::section(view))
                }
                footer {
                    (reproduce(view))
                    p {
                        "Made by andon " (env!("CARGO_PKG_VERSION"))
                        " from the records and the ledger. Times are in UTC. The same page again: " (command(&again))
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// The command behind each figure, in one fold.
fn reproduce(view: &HistoryView) -> Markup {
    let log = log_command(view);
    let check = Hint::Check.with([&shell_quote(&view.range)]);
    let figures = [
        ("State, tests of HEAD", Hint::Status.text()),
        ("Charts, iterations, costs, commits, flaky tests", log.as_str()),
        ("Halts and answers", Hint::LogEvents.text()),
        ("Skipped and bypassed", check.as_str()),
        ("Rounds", Hint::Precedents.text()),
    ];
    html! {
        details {
            summary { "Reproduce" }
            dl { @for (name, again) in figures { (field(name, &command(again))) } }
        }
        "\n"
    }
}

/// The policy lets the two inlined texts through by their hashes, and nothing else: should a stranger's text ever
/// become markup, it still cannot run or fetch anything.
fn head(view: &HistoryView) -> Markup {
    let policy = format!("default-src 'none'; style-src '{}'; script-src '{}'", hash(STYLE), hash(SCRIPT));
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (now::title(view)) ": " (clipped(&view.range, 100)) " - Andon" }
            style { (PreEscaped(STYLE)) }
        }
        "\n"
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn warnings(view: &HistoryView) -> Markup {
    html! {
        @if !view.warnings.is_empty() {
            section.warn aria-labelledby="h-missing" {
                h2 id="h-missing" { "What could not be read" }
                ul {
                    @for warning in view.warnings.iter().take(SHOWN) {
                        li {
                            (clipped(&warning.to_string(), 500))
                            @for help in &warning.help { " " (command(help)) }
                        }
                        "\n"
                    }
                    (more(view.warnings.len()))
                }
            }
        }
    }
}

/// Lines of a list that are shown.
const SHOWN: usize = 100;

/// That a list has more lines than are shown.
fn more(all: usize) -> Markup {
    html! { @if all > SHOWN { li { "and " (all - SHOWN) " more" } } }
}

/// `andon log` over what the page shows.
fn log_command(view: &HistoryView) -> String {
    let tip = view.range.rsplit("..").next().filter(|tip| !tip.is_empty()).unwrap_or("HEAD");
    Hint::LogJson.with([&view.commits.len().max(1).to_string(), &shell_quote(tip)])
}

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

/// Shows something that is shown elsewhere too: as a link, where there is a page of it.
pub(super) fn linked(page: Option<String>, shown: &Markup) -> Markup {
    html! { @match page { Some(page) => { a href=(page) { (shown) } } None => (shown) } }
}

/// Shows what a person looks at next: the command that shows all of it.
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

#[cfg(test)]
mod tests;
