//! Guesses how a project runs its tests, for the first `andon.toml` and for projects without a test command.
//!
//! Pure: the caller lists names and reads the beginnings of a few files ([`listing`]). A guess is written into a file
//! that people own, and then decides what counts as tested. A command that runs a part of the tests is worse than none:
//! where several commands are possible, or one leaves something out, the guess says so.

pub mod listing;
pub mod members;
mod node;
mod project_kinds;
mod python;
mod table;
mod tasks;

use self::listing::Listing;
use andon_core::WordList;
use andon_core::shell_reading::{Reading, SimpleCommand};
use testreport::command_words::{innermost, program_name};

pub(crate) use self::python::is_test_module;

/// The lists of names and words of this module.
const WORDS: &str = include_str!("guess/words.txt");

/// A test command, and what it follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedCommand {
    /// For `sh -c`.
    pub command: String,
    /// The lines that it runs: its own, or those of the script or recipe behind it.
    script: String,
    /// The sign for it, such as a file.
    pub because: String,
    /// A remark for people.
    pub note: Option<&'static str>,
}

/// Programs that name no test in what they print: compilers, linters, and builds that keep the names to themselves.
const NAMELESS: WordList = WordList::section(WORDS, "naming no test");
/// Words before such a program.
const STARTERS: [&str; 6] = ["npx", "python", "python3", "-m", "uv", "run"];

impl GuessedCommand {
    /// True where all that it runs names no test: its exit code is all there is to know.
    pub fn names_no_test(&self) -> bool {
        let is_nameless = |command: &SimpleCommand<'_>| {
            let words: Vec<&str> = command.values().iter().map(|word| word.trim_start_matches('@')).collect();
            let words: Vec<&str> = innermost(&words).iter().map(|word| program_name(word)).collect();
            let starters = words.iter().take_while(|word| STARTERS.contains(word)).count();
            NAMELESS.beginning(words.get(starters..).unwrap_or_default()).is_some()
        };
        let read = Reading::through(&self.script);
        read.is_whole && !read.commands().is_empty() && read.commands().iter().all(is_nameless)
    }
}

/// A guess at the test command of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guess {
    /// By this command: there is no sign of another one.
    Sure(GuessedCommand),
    /// By one of these, or by more than one of them.
    Unsure { seen: String, candidates: Vec<GuessedCommand> },
    /// There is no sign of tests, and this command shows at least that the code compiles. It is proposed, and never written
    /// for people: a check that they did not choose is no test.
    Compiles(GuessedCommand),
    /// There is no sign of any command.
    None,
}

impl Guess {
    /// The command, where it is sure.
    pub fn command(&self) -> Option<&str> {
        if let Self::Sure(candidate) = self { Some(&candidate.command) } else { None }
    }

    /// The reason for no command, in one line; `None` where there is a command.
    pub fn doubt(&self) -> Option<String> {
        match self {
            Self::Sure(_) => None,
            Self::None => Some("nothing here says how the tests run".to_owned()),
            Self::Compiles(check) => Some(format!(
                "nothing here says how the tests run: saw {}; the cheapest check is whether the code compiles: {}",
                check.because, check.command
            )),
            Self::Unsure { seen, candidates } => {
                let commands = candidates.iter().take(MAX_NAMED).map(|candidate| candidate.command.as_str());
                let commands: Vec<&str> = commands.collect();
                let may = if commands.is_empty() { "" } else { "; may be: " };
                let line =
                    format!("not sure how the tests run: saw {}{may}{}", short(seen), commands.join(" | "));
                Some(line.chars().map(|each| if each.is_control() { ' ' } else { each }).collect())
            }
        }
    }
}

/// Commands that the one line names.
const MAX_NAMED: usize = 4;

/// Longest part of the line that says what was seen, in characters.
const MAX_SEEN: usize = 240;

fn short(seen: &str) -> String {
    let cut: String = seen.chars().take(MAX_SEEN).collect();
    if cut.len() < seen.len() { format!("{cut}...") } else { cut }
}

fn guessed(command: impl Into<String>, because: impl Into<String>) -> GuessedCommand {
    let command = command.into();
    GuessedCommand { script: command.clone(), command, because: because.into(), note: None }
}

fn sure(command: impl Into<String>, because: impl Into<String>) -> Guess {
    Guess::Sure(guessed(command, because))
}

fn unsure(seen: impl Into<String>, candidates: Vec<GuessedCommand>) -> Guess {
    Guess::Unsure { seen: seen.into(), candidates }
}

/// Two kinds of projects in one repository: neither is the whole.
fn beside(this: Guess, other: Guess) -> Guess {
    let ((one, mut candidates), (two, more)) = (parts(this), parts(other));
    candidates.extend(more);
    unsure(format!("{one} beside {two}"), candidates)
}

fn parts(guess: Guess) -> (String, Vec<GuessedCommand>) {
    match guess {
        Guess::Sure(candidate) | Guess::Compiles(candidate) => (candidate.because.clone(), vec![candidate]),
        Guess::Unsure { seen, candidates } => (seen, candidates),
        Guess::None => (String::new(), Vec::new()),
    }
}

/// Guesses the test command of this project.
pub fn guess(listing: &Listing) -> Guess {
    let computed = [
        project_kinds::cargo,
        node::guess,
        python::guess,
        project_kinds::go,
        project_kinds::dotnet,
        project_kinds::ruby,
    ];
    let mut found: Vec<Guess> = computed.into_iter().filter_map(|kind| kind(listing)).collect();
    found.extend(table::guesses(listing));
    let mut tasks = tasks::tasks(listing);
    if let Some(at) = whole(&found, &tasks) {
        return Guess::Sure(tasks.swap_remove(at));
    }
    let recipes = tasks.into_iter().map(Guess::Sure);
    match found.into_iter().chain(recipes).reduce(beside) {
        Some(Guess::Sure(candidate)) => match strays(listing).as_slice() {
            [] => Guess::Sure(candidate),
            strays => unsure(format!("{} beside {}", candidate.because, strays.join(", ")), vec![candidate]),
        },
        Some(found) => found,
        None => match strays(listing).as_slice() {
            [] => project_kinds::compiles(listing).map_or(Guess::None, Guess::Compiles),
            strays => unsure(format!("nothing at the top, and {}", strays.join(", ")), Vec::new()),
        },
    }
}

/// The recipe that runs everything else that was found: the project's own word.
fn whole(found: &[Guess], tasks: &[GuessedCommand]) -> Option<usize> {
    let runs = |task: &GuessedCommand, command: &str| {
        let through = |other: &GuessedCommand| task.runs(&other.command) && other.runs(command);
        task.runs(command) || tasks.iter().any(through)
    };
    tasks.iter().position(|task| {
        let all = found.iter().all(|found| match found {
            Guess::Sure(candidate) | Guess::Compiles(candidate) => runs(task, &candidate.command),
            Guess::None => true,
            Guess::Unsure { candidates, .. } => {
                !candidates.is_empty() && candidates.iter().any(|candidate| runs(task, &candidate.command))
            }
        });
        let others = tasks.iter().map(|other| other.command.as_str());
        all && others.filter(|command| *command != task.command).all(|command| runs(task, command))
    })
}

/// Directories whose projects are no part of what the tests of the whole are for.
const ASIDE: WordList = WordList::section(WORDS, "aside");

/// Manifests that are looked for one level below, each with the files at the top that speak for all of its kind.
const FAMILIES: WordList = WordList::section(WORDS, "families");

/// Projects of another kind than those at the top, one level below: `web/package.json` with a `go.mod` at the top.
fn strays(listing: &Listing) -> Vec<String> {
    let mut strays = Vec::new();
    for (manifest, top) in FAMILIES.iter().filter_map(|row| row.split_once(':')) {
        let workspaces = manifest == "package.json"
            && listing.text("package.json").is_some_and(|text| text.contains("\"workspaces\""));
        if workspaces || top.split_whitespace().any(|name| listing.has(name)) {
            continue;
        }
        let below = listing.below(manifest).into_iter().filter(|dir| !ASIDE.contains(dir));
        strays.extend(below.take(3).map(|dir| format!("{dir}/{manifest}")));
    }
    strays
}

#[cfg(test)]
mod tests;
