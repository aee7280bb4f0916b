//! Manual pages: one for `andon` and one for each of its commands, from the definitions of `--help`; and what no definition
//! says: exit codes, files, examples.

use std::io::Write;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::examples::{self, TABLES};
use super::help;
use testreport::WordList;

/// The date of the pages. A release sets it, so that the same sources give the same bytes.
const DATE: &str = "2026-11-27";

/// Exit codes that more than one command has.
const EXIT_CODES: WordList = WordList::section(TABLES, "exit codes");

const FILES: WordList = WordList::section(TABLES, "files");

const ENVIRONMENT: WordList = WordList::section(TABLES, "environment");

/// A page of the manual.
pub struct ManualPage {
    /// Its words, such as `andon agent install`.
    pub title: String,
    /// Its definition.
    pub command: Command,
}

impl ManualPage {
    /// The name of its file without the section, such as `andon-agent-install`.
    pub fn name(&self) -> String {
        self.title.replace(' ', "-")
    }

    /// The page as roff.
    ///
    /// # Errors
    /// Never in practice: it is written to memory.
    pub fn roff(&self) -> std::io::Result<Vec<u8>> {
        let command = self.command.clone().name(self.name()).display_name(self.name());
        let after = command.get_after_help().map(ToString::to_string);
        let has_commands = command.get_subcommands().any(|one| !one.is_hide_set());
        let is_top = self.title == "andon";
        let man = Man::new(command)
            .date(DATE)
            .source(concat!("andon ", env!("CARGO_PKG_VERSION")))
            .manual("Andon manual");
        let mut out = Vec::new();
        man.render_title(&mut out)?;
        man.render_name_section(&mut out)?;
        man.render_synopsis_section(&mut out)?;
        man.render_description_section(&mut out)?;
        man.render_options_section(&mut out)?;
        if has_commands {
            man.render_subcommands_section(&mut out)?;
        }
        // The exit codes of the whole program have a section of their own.
        if let Some(text) = after.filter(|_| !is_top) {
            notes(&text).to_writer(&mut out)?;
        }
        self.closing(&mut out)?;
        // A blank line between two breaks is a space, as mandoc says.
        Ok(String::from_utf8_lossy(&out).replace(".br\n\n.br\n", ".sp\n").into_bytes())
    }

    fn closing(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut roff = Roff::default();
        roff.control("SH", ["EXIT STATUS"]);
        if let Some(own) = examples::exit_status(&self.title) {
            roff.text([roman(own)]);
        }
        terms(&mut roff, EXIT_CODES);
        roff.control("SH", ["ENVIRONMENT"]);
        terms(&mut roff, ENVIRONMENT);
        roff.control("SH", ["FILES"]);
        terms(&mut roff, FILES);
        let shown: Vec<_> = examples::for_command(&self.title).collect();
        if !shown.is_empty() {
            roff.control("SH", ["EXAMPLES"]);
            for (command, what) in shown {
                roff.control("TP", []).text([bold(command)]).text([roman(what)]);
            }
        }
        roff.control("SH", ["SEE ALSO"]);
        roff.text([
            bold("andon"),
            roman("(1), "),
            bold("git"),
            roman("(1), "),
            bold("githooks"),
            roman("(5)"),
        ]);
        roff.to_writer(out)
    }
}

fn terms(roff: &mut Roff, table: WordList) {
    for (term, what) in examples::rows(table) {
        roff.control("TP", []).text([bold(term)]).text([roman(what)]);
    }
}

/// The text behind the options: paragraphs, and rows as they are.
fn notes(text: &str) -> Roff {
    let mut roff = Roff::default();
    roff.control("SH", ["NOTES"]);
    let mut is_within = false;
    for line in text.lines() {
        if line.trim().is_empty() {
            roff.control("PP", []);
            is_within = false;
            continue;
        }
        if is_within {
            roff.control("br", []);
        }
        roff.text([roman(line.trim_start())]);
        is_within = true;
    }
    roff
}

/// All pages: that of `andon`, then those of its commands and of theirs, in order.
pub fn pages() -> Vec<ManualPage> {
    let mut found = Vec::new();
    let mut cli = without_help(help::definition());
    cli.build();
    collect(&cli, "andon", &mut found);
    found
}

/// Without what clap adds: `help` has no page of its own.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

fn collect(command: &Command, title: &str, found: &mut Vec<ManualPage>) {
    found.push(ManualPage { title: title.to_owned(), command: command.clone() });
    let shown = |one: &&Command| !one.is_hide_set() && one.get_name() != "help";
    for one in command.get_subcommands().filter(shown) {
        collect(one, &format!("{title} {}", one.get_name()), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(title: &str) -> String {
        let page = pages().into_iter().find(|page| page.title == title).unwrap();
        String::from_utf8(page.roff().unwrap()).unwrap()
    }

    #[test]
    fn each_command_has_a_page_with_what_a_manual_has() {
        let pages = pages();
        assert!(pages.len() > 60, "{}", pages.len());
        let names: Vec<String> = pages.iter().map(ManualPage::name).collect();
        assert!(names.contains(&"andon-agent-install".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("help") || name == "andon-hook"), "{names:?}");
        for page in &pages {
            let roff = text(&page.title);
            assert!(!roff.contains(".br\n\n"), "mandoc warns: {roff}");
            let title = format!(".TH {} 1 {DATE} \"andon ", page.name());
            assert!(roff.contains(&title), "{title}: {}", roff.lines().take(5).collect::<String>());
            for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
                assert!(roff.contains(section), "{}: {section}", page.title);
            }
            // Each page that another points at is there.
            for word in roff.split("andon\\-").skip(1) {
                let Some((word, _)) = word.split_once("(1)") else { continue };
                let word = word.replace("\\-", "-");
                if word.chars().all(|one| one.is_alphanumeric() || one == '-') {
                    assert!(names.contains(&format!("andon-{word}")), "{}: {word}", page.title);
                }
            }
        }
        assert!(text("andon sync").contains("Exit codes: 0 both sides agree"));
        assert!(text("andon resume").contains("EXAMPLES"));
    }

    #[test]
    fn the_date_is_one() {
        assert!(DATE.parse::<jiff::civil::Date>().is_ok());
    }
}
