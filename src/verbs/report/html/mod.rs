//! `andon report`: one page that stands alone. Nothing is fetched, nothing runs but a filter for the list of commits, and the
//! same facts make the same bytes: there is no time of making on it, and times are in UTC.

mod chart;
mod commits;
mod halts;
mod lanes;
mod lists;
mod markup;
mod now;
#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use self::markup::Html;
use crate::view::history::HistoryView;
use andon_core::escape::shell_quote;
use andon_engine::text::phrase;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page. `gate` is the rule that stands for the gate as a whole.
pub fn page(view: &HistoryView, gate: &str) -> String {
    let mut html = Html::default();
    head(&mut html, view);
    html.raw("<body>\n<a class=skip href=\"#main\">Skip to the report</a>\n<header>\n");
    now::section(&mut html, view);
    html.raw("</header>\n<main id=main>\n");
    warnings(&mut html, view);
    chart::section(&mut html, view);
    lanes::section(&mut html, view);
    halts::section(&mut html, view);
    lists::flaky(&mut html, view);
    lists::passed_over(&mut html, view);
    lists::rounds(&mut html, view);
    lists::costs(&mut html, view);
    commits::section(&mut html, view, gate);
    html.raw("</main>\n<footer><p>Made by andon ").text(env!("CARGO_PKG_VERSION"));
    html.raw(" from the records and the ledger. Times are in UTC. The same page again: ");
    html.command(&format!("andon report {} -o report.html", shell_quote(&view.range)));
    html.raw("</p></footer>\n<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    html.finish()
}

/// The policy lets the two inlined texts through by their hashes, and nothing else: should a text of a stranger ever be taken
/// for markup, it still cannot run or fetch anything.
fn head(html: &mut Html, view: &HistoryView) {
    html.raw("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
    html.raw("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src '");
    html.text(&hash(STYLE)).raw("'; script-src '").text(&hash(SCRIPT)).raw("'\">\n");
    html.raw("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=color-scheme content=\"light dark\">\n<title>");
    html.text(now::title(view)).raw(": ").clipped(&view.range, 100).raw(" - Andon</title>\n");
    html.raw("<style>").raw(STYLE).raw("</style>\n</head>\n");
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn warnings(html: &mut Html, view: &HistoryView) {
    if view.warnings.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=h-missing class=warn>\n<h2 id=h-missing>What could not be read</h2>\n<ul>\n");
    for warning in view.warnings.iter().take(SHOWN) {
        html.raw("<li>").clipped(&warning.to_string(), 500);
        for help in &warning.help {
            html.raw(" ").command(help);
        }
        html.raw("</li>\n");
    }
    more(html, view.warnings.len());
    html.raw("</ul>\n</section>\n");
}

/// Lines of a list that are shown.
const SHOWN: usize = 100;

/// That a list has more lines than are shown.
fn more(html: &mut Html, all: usize) {
    if all > SHOWN {
        html.raw("<li>and ").count(all - SHOWN).raw(" more</li>\n");
    }
}

/// The line below a figure: the command that derives it again.
fn derived(html: &mut Html, command: &str) {
    html.raw("<p class=derived>Derived again by ").command(command).raw("</p>\n");
}

/// `andon log` over what the page shows.
fn log_command(view: &HistoryView) -> String {
    let tip = view.range.rsplit("..").next().filter(|tip| !tip.is_empty()).unwrap_or("HEAD");
    format!("andon log -n {} {} --format json", view.commits.len().max(1), shell_quote(tip))
}

/// `12 commits`, as a text.
fn counted(html: &mut Html, number: usize, noun: &str) {
    html.text(&phrase::count(number, noun));
}
