//! The programs that a plain line of `sh` is sure to start with our output, where it ends with 0.

/// The operator between two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `&&`
    And,
    /// `;` or a line end.
    Then,
    /// `|`
    Pipe,
    /// `||`
    Or,
    /// `&`
    Beside,
}

/// Words after which a line is no plain one.
const UNCLEAR: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function",
    "trap", "eval", "exit", "return", "!", "[", "test",
];

/// Programs that end with 0 whatever was before them.
const CONTENT: [&str; 22] = [
    "true", ":", "echo", "printf", "wait", "sleep", "cat", "tee", "ts", "tail", "head", "cut", "sort",
    "uniq", "wc", "tr", "nl", "fold", "fmt", "column", "sed", "date",
];

/// Words by which an earlier program may end the line with its own exit code.
const LEAVING: [&str; 5] = ["exit", "return", "exec", "trap", "kill"];

/// Programs that pass on all of what they read.
const PASSING: [&str; 3] = ["tee", "cat", "ts"];

/// The end of a pipeline whose first program may be a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LastStage {
    /// In what shows all.
    Shows,
    /// In a program that shows a part (`tail`, `head`, `grep`), by its name. Its exit code hides that of the runner, so that
    /// what it shows has to tell the result.
    Cuts(String),
}

/// The words of each such program; `None` where the line is no plain one.
pub(super) fn sure_programs(line: &str) -> Option<Vec<Vec<String>>> {
    let parts = Splitter::default().split(line)?;
    let unclear = |(words, between): &(Vec<String>, Operator)| {
        matches!(between, Operator::Or | Operator::Beside)
            || words.first().is_some_and(|word| UNCLEAR.contains(&word.as_str()))
    };
    if parts.iter().any(unclear) {
        return None;
    }
    let keeps_exit = keeps_exit(&parts);
    let pipelines = pipelines(parts);
    // Of `a && b; c` only `a` and `c` are sure to run.
    let last = pipelines.iter().rev().skip(1).take_while(|(_, after)| *after == Operator::And).count() + 1;
    let first_of_last = pipelines.len().saturating_sub(last);
    let mut sure = Vec::new();
    let mut before = Operator::Then;
    for (at, (stages, after)) in pipelines.into_iter().enumerate() {
        if at >= first_of_last || before == Operator::Then {
            let shown = shown(stages).filter(|(_, last)| *last == LastStage::Shows || !keeps_exit);
            sure.extend(shown.map(|(words, _)| words));
        }
        before = after;
    }
    Some(sure)
}

/// The program at the end of the last pipeline that shows only a part of what the first one prints, and whose exit code is
/// that of the line.
pub(super) fn cuts_the_end(line: &str) -> Option<String> {
    let parts = Splitter::default().split(line)?;
    if keeps_exit(&parts) {
        return None;
    }
    if parts.iter().any(|(_, between)| matches!(between, Operator::Or | Operator::Beside)) {
        return None;
    }
    let (stages, _) = pipelines(parts).pop()?;
    match shown(stages)?.1 {
        LastStage::Cuts(name) => Some(name),
        LastStage::Shows => None,
    }
}

/// The program whose exit code this line ends with, where that is 0 whatever the programs before it said.
pub(super) fn masks_exit(line: &str) -> Option<String> {
    let parts = Splitter::default().split(line)?;
    let ((last, after), before) = parts.split_last()?;
    if *after == Operator::Beside {
        return Some("&".to_owned());
    }
    let says = |words: &[String], known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let begins = |words: &[String]| words.first().is_some_and(|word| CONTENT.contains(&word.as_str()));
    // `wait` for one of them has its exit code.
    let all = last.len() == 1 || last.first().is_some_and(|word| word != "wait");
    let leaves =
        last.first().is_some_and(|word| word == "exit") && last.get(1).is_some_and(|code| code == "0");
    if before.iter().all(|(words, _)| begins(words)) || !(begins(last) && all || leaves) {
        return None;
    }
    let set = |words: &[String]| words.first().is_some_and(|word| word == "set");
    let at_once = |word: &String| word == "errexit" || word.starts_with('-') && word.contains('e');
    let stops = before.iter().any(|(words, _)| set(words) && words.iter().any(at_once));
    let name = last.first().cloned();
    match before.last()?.1 {
        Operator::And => None,
        Operator::Pipe => name.filter(|_| !keeps_exit(&parts)),
        Operator::Or => name,
        Operator::Then | Operator::Beside => {
            name.filter(|_| !stops && !before.iter().any(|(words, _)| says(words, &LEAVING)))
        }
    }
}

fn keeps_exit(parts: &[(Vec<String>, Operator)]) -> bool {
    parts.iter().any(|(words, _)| words.iter().any(|word| word == "pipefail"))
}

/// The stages of each pipeline, and what follows it.
fn pipelines(parts: Vec<(Vec<String>, Operator)>) -> Vec<(Vec<Vec<String>>, Operator)> {
    let mut pipelines: Vec<(Vec<Vec<String>>, Operator)> = Vec::new();
    let mut open = false;
    for (words, between) in parts {
        match pipelines.last_mut() {
            Some((stages, after)) if open => {
                stages.push(words);
                *after = between;
            }
            _ => pipelines.push((vec![words], between)),
        }
        open = between == Operator::Pipe;
    }
    pipelines
}

/// The first program of a pipeline that shows what it prints, and how much of it is shown.
fn shown(stages: Vec<Vec<String>>) -> Option<(Vec<String>, LastStage)> {
    let mut stages = stages.into_iter();
    let mut words = stages.next()?;
    let mut last = LastStage::Shows;
    for stage in stages {
        let name = stage.first()?;
        if !PASSING.contains(&name.as_str()) {
            last = LastStage::Cuts(name.clone());
        }
    }
    words.retain(|word| !matches!(word.as_str(), "2>&1" | "1>&2" | ">&2"));
    let is_hidden = words.iter().any(|word| word.contains('>') || word.contains('<'));
    (!words.is_empty() && !is_hidden).then_some((words, last))
}

/// Cuts a line into programs and words.
#[derive(Default)]
struct Splitter {
    parts: Vec<(Vec<String>, Operator)>,
    words: Vec<String>,
    word: Option<String>,
}

impl Splitter {
    fn split(mut self, line: &str) -> Option<Vec<(Vec<String>, Operator)>> {
        let mut rest = line.chars().peekable();
        while let Some(one) = rest.next() {
            let next = rest.peek().copied();
            match (one, next) {
                ('`' | '(' | ')' | '{' | '}', _) | ('$', Some('(')) | ('<', Some('<')) => return None,
                ('|', Some('|')) => {
                    rest.next();
                    self.end(Operator::Or);
                }
                ('\\', Some('\n')) => {
                    rest.next();
                }
                ('\\', Some(next)) => {
                    rest.next();
                    self.push(next);
                }
                ('\'' | '"', _) => self.quoted(one, &mut rest)?,
                ('#', _) if self.word.is_none() => while rest.next_if(|one| *one != '\n').is_some() {},
                ('&', Some('&')) => {
                    rest.next();
                    self.end(Operator::And);
                }
                ('&', _) if self.word.as_deref().is_some_and(|word| word.ends_with('>')) => self.push('&'),
                ('&', _) => self.end(Operator::Beside),
                ('|', _) => self.end(Operator::Pipe),
                (';' | '\n', _) => self.end(Operator::Then),
                (blank, _) if blank.is_whitespace() => self.words.extend(self.word.take()),
                (other, _) => self.push(other),
            }
        }
        self.end(Operator::Then);
        Some(self.parts)
    }

    fn push(&mut self, one: char) {
        self.word.get_or_insert_default().push(one);
    }

    fn quoted(&mut self, quote: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match rest.next()? {
                one if one == quote => return Some(()),
                '`' if quote == '"' => return None,
                '$' if quote == '"' && rest.peek() == Some(&'(') => return None,
                '\\' if quote == '"' => word.push(rest.next()?),
                one => word.push(one),
            }
        }
    }

    fn end(&mut self, between: Operator) {
        self.words.extend(self.word.take());
        if !self.words.is_empty() {
            self.parts.push((std::mem::take(&mut self.words), between));
        }
    }
}
