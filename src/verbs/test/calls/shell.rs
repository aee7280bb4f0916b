//! The programs that a plain line of `sh` is sure to start with our output, where it ends with 0.

use andon_core::WordList;
use andon_core::shell_reading::{End, Reading, Redirection, SimpleCommand};

const TEXT: &str = include_str!("shell.txt");
/// Words after which a line is no plain one.
const UNCLEAR: WordList = WordList::section(TEXT, "unclear");
/// Programs that end with 0 whatever was before them.
const CONTENT: WordList = WordList::section(TEXT, "content");
/// Words by which an earlier program may end the line with its own exit code.
const LEAVING: WordList = WordList::section(TEXT, "leaving");
/// Programs that pass on all of what they read.
const PASSING: WordList = WordList::section(TEXT, "passing");

/// The commands of a line; `None` where it is no plain one.
fn plain(read: &Reading) -> Option<Vec<SimpleCommand<'_>>> {
    let commands = read.commands();
    // A brace may be a group, a list or the name of a variable.
    let groups = |command: &SimpleCommand<'_>| {
        command.words.iter().any(|word| (word.raw.contains('{') || word.raw == "}") && !is_quoted(&word.raw))
    };
    (read.is_whole && !commands.iter().any(groups)).then_some(commands)
}

/// True where a word is in quotes that keep everything in it.
fn is_quoted(raw: &str) -> bool {
    raw.starts_with('\'') && raw.ends_with('\'')
}

/// The lines that a loop over plain words comes to, or a line in parentheses: each begins in the directory of the whole.
pub(super) fn unrolled(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if let Some(inside) = line.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return (!inside.contains(['(', ')'])).then(|| vec![inside.to_owned()]);
    }
    let (name, rest) = line.strip_prefix("for ")?.strip_suffix("done")?.split_once(" in ")?;
    let (words, body) = rest.split_once([';', '\n'])?;
    let body = body.trim_start().strip_prefix("do")?.trim_end_matches([';', '\n', ' ']);
    let (name, is_plain) = (name.trim(), |one: char| one.is_ascii_alphanumeric() || " _-./".contains(one));
    let of_word = |word: &str| {
        let ways = [format!("\"${name}\""), format!("${{{name}}}"), format!("${name}")];
        ways.iter().fold(body.to_owned(), |body, way| body.replace(way.as_str(), word))
    };
    words.chars().all(is_plain).then(|| words.split_whitespace().map(of_word).collect())
}

/// The words of each such program; `None` where the line is no plain one.
pub(super) fn sure_programs(line: &str) -> Option<Vec<Vec<String>>> {
    let read = Reading::parse(line);
    let commands = plain(&read)?;
    let unclear = |command: &SimpleCommand<'_>| {
        matches!(command.end, End::Or | End::Background) || UNCLEAR.contains(&command.words[0].value)
    };
    if commands.iter().any(unclear) {
        return None;
    }
    let keeps_exit = keeps_exit(&commands);
    let pipelines = pipelines(&commands);
    let after = |stages: &[SimpleCommand<'_>]| stages.last().map(|last| last.end);
    // Of `a && b; c` only `a` and `c` are sure to run.
    let last =
        pipelines.iter().rev().skip(1).take_while(|stages| after(stages) == Some(End::And)).count() + 1;
    let first_of_last = pipelines.len().saturating_sub(last);
    let mut sure = Vec::new();
    let mut before = Some(End::Next);
    for (at, stages) in pipelines.into_iter().enumerate() {
        if at >= first_of_last || before == Some(End::Next) {
            let shown = shown(stages).filter(|(_, cuts)| cuts.is_none() || !keeps_exit);
            sure.extend(shown.map(|(words, _)| words));
        }
        before = after(stages);
    }
    Some(sure)
}

/// The program at the end of the last pipeline that shows only a part of what the first one prints, and whose exit code is
/// that of the line.
pub(super) fn cuts_the_end(line: &str) -> Option<String> {
    let read = Reading::parse(line);
    let commands = plain(&read)?;
    if keeps_exit(&commands)
        || commands.iter().any(|command| matches!(command.end, End::Or | End::Background))
    {
        return None;
    }
    shown(pipelines(&commands).pop()?)?.1
}

/// The program whose exit code this line ends with, where that is 0 whatever the programs before it said.
pub(super) fn masks_exit(line: &str) -> Option<String> {
    let read = Reading::parse(line);
    let commands = plain(&read)?;
    let (last, before) = commands.split_last()?;
    if last.end == End::Background {
        return Some("&".to_owned());
    }
    let words = last.values();
    let name = words[0];
    // `wait` for one of them has its exit code.
    let all = words.len() == 1 || name != "wait";
    let leaves = words.starts_with(&["exit", "0"]);
    let begins = |command: &SimpleCommand<'_>| CONTENT.contains(&command.words[0].value);
    if before.iter().all(begins) || !(begins(last) && all || leaves) {
        return None;
    }
    let at_once = |word: &&str| *word == "errexit" || word.starts_with('-') && word.contains('e');
    let stops = |command: &SimpleCommand<'_>| {
        let words = command.values();
        words[0] == "set" && words.iter().any(at_once) || words.iter().any(|word| LEAVING.contains(word))
    };
    let masks = match before.last()?.end {
        End::And | End::Script | End::Unread => false,
        End::Pipe => !keeps_exit(&commands),
        End::Or => true,
        End::Next | End::Background => !before.iter().any(stops),
    };
    masks.then(|| name.to_owned())
}

fn keeps_exit(commands: &[SimpleCommand<'_>]) -> bool {
    commands.iter().any(|command| command.values().contains(&"pipefail"))
}

/// The stages of each pipeline.
fn pipelines<'c, 'a>(commands: &'c [SimpleCommand<'a>]) -> Vec<&'c [SimpleCommand<'a>]> {
    commands.split_inclusive(|command| command.end != End::Pipe).collect()
}

/// The first program of a pipeline that shows what it prints, and the program behind it that shows a part of that (`tail`, `head`,
/// `grep`), by its name. The exit code of that one hides the runner's, so that what it shows has to tell the result.
fn shown(stages: &[SimpleCommand<'_>]) -> Option<(Vec<String>, Option<String>)> {
    let (first, rest) = stages.split_first()?;
    let cuts = rest.iter().rev().map(|stage| &stage.words[0].value).find(|name| !PASSING.contains(name));
    let is_hidden = first.redirections.iter().any(|found| **found != Redirection::Copies);
    (!is_hidden).then(|| (first.values().into_iter().map(str::to_owned).collect(), cuts.cloned()))
}
