//! The statements of a test, and which of them can fail it: none behind a return, in a branch that is never taken, or
//! where whatever is thrown is caught and forgotten.

use std::ops::Range;

use crate::code_mask::{Family, QUOTED};
use crate::source::{Source, is_name, is_noise};

/// A statement, or what opens a block.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) place: Range<usize>,
    /// Its depth in blocks: in braces, else by its column.
    nest: usize,
    /// True when it can fail the test.
    pub(super) live: bool,
}

/// Bytes that are searched for the continuation of a statement on the next line.
const AHEAD: usize = 256;

/// The statements of a range of a file.
pub(super) fn statements(source: &Source, range: Range<usize>) -> Vec<Statement> {
    let mut splitter = Splitter { source, from: range.start, level: 0, open: Vec::new(), found: Vec::new() };
    let code = source.code.as_bytes();
    for at in range.clone() {
        match code.get(at) {
            Some(b'(' | b'[') => splitter.level += 1,
            Some(b')' | b']') => splitter.level = splitter.level.saturating_sub(1),
            Some(b'{') => splitter.opens(at),
            Some(b'}') => splitter.closes(at),
            Some(b';') if splitter.ends(at) => splitter.flush(at),
            Some(b'\n') if splitter.level == 0 && !splitter.goes_on(at, range.end) => splitter.flush(at),
            _ => {}
        }
    }
    splitter.flush(range.end);
    let mut found = splitter.found;
    kill(source, &mut found);
    found
}

struct Splitter<'s> {
    source: &'s Source,
    /// The beginning of the statement.
    from: usize,
    /// Brackets that are open in it.
    level: usize,
    /// Braces that are open: the level around a block, nothing for one that holds a value.
    open: Vec<Option<usize>>,
    found: Vec<Statement>,
}

impl Splitter<'_> {
    fn code(&self, to: usize) -> &str {
        self.source.code.get(self.from..to).unwrap_or_default()
    }

    fn flush(&mut self, to: usize) {
        let code = self.code(to);
        if says(code) {
            let start = self.from + code.len() - code.trim_start().len();
            let line = self.source.code.get(..start).and_then(|code| code.rfind('\n')).map_or(0, |at| at + 1);
            let blocks = self.open.iter().flatten().count();
            let nest = if self.source.family.is_braceless() { start - line } else { blocks };
            self.found.push(Statement { place: start..self.from + code.trim_end().len(), nest, live: true });
        }
        self.from = to;
        if self.source.code.as_bytes().get(to).is_some_and(|byte| b";}\n".contains(byte)) {
            self.from = to + 1;
        }
    }

    fn opens(&mut self, at: usize) {
        if self.is_block(at) {
            let level = self.level;
            self.flush(at);
            self.from = at + 1;
            self.open.push(Some(level));
            self.level = 0;
        } else {
            self.open.push(None);
            self.level += 1;
        }
    }

    fn closes(&mut self, at: usize) {
        match self.open.pop() {
            Some(Some(level)) => {
                self.open.push(Some(level));
                self.flush(at);
                self.open.pop();
                self.level = level;
            }
            Some(None) => self.level = self.level.saturating_sub(1),
            None => self.flush(at),
        }
    }

    /// True for a brace that opens a block and not a value.
    fn is_block(&self, at: usize) -> bool {
        let before = self.code(at);
        let text = before.trim_end();
        let control = ["for ", "if ", "while ", "match ", "switch ", "guard ", "unless "];
        if self.level == 0
            && before.len() > text.len()
            && control.iter().any(|it| text.trim_start().starts_with(it))
        {
            return true;
        }
        match text.as_bytes().last() {
            None | Some(b')' | b'>' | b'|') => true,
            Some(b'!' | b'$' | b'#') => false,
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80 => {
                before.len() > text.len() && !text.ends_with("return")
            }
            Some(b'?') => self.source.family == Family::Swift,
            Some(_) => false,
        }
    }

    /// True for a semicolon that ends a statement: not between the parts of a condition.
    fn ends(&self, at: usize) -> bool {
        let code = self.code(at).trim_start();
        let condition = ["if ", "for ", "switch "].iter().any(|word| code.starts_with(word));
        self.level == 0 && !(self.source.family == Family::Go && condition)
    }

    /// True when the statement continues after a line end.
    fn goes_on(&self, at: usize, end: usize) -> bool {
        let code = self.code(at).trim_end();
        if !says(code) {
            return false;
        }
        let open = code.ends_with(['=', ',', '\\', '+']) && !code.trim_start().starts_with(['#', '@', '[']);
        let open = open || code.ends_with("&&") || code.ends_with("||") || code.ends_with("=>");
        let rest =
            self.source.code.as_bytes().get(at..end.min(at + AHEAD)).unwrap_or_default().trim_ascii_start();
        let joins = ["?.", "->", "&&", "||", "==", "??"].iter().any(|word| rest.starts_with(word.as_bytes()));
        let chained = rest.starts_with(b".") && !rest.starts_with(b"..");
        open || joins || chained
    }
}

/// True for code that has more than brackets.
fn says(code: &str) -> bool {
    !is_noise(code) || code.as_bytes().contains(&QUOTED)
}

fn text<'s>(source: &'s Source, statement: &Statement) -> &'s str {
    source.code.get(statement.place.clone()).unwrap_or_default()
}

/// Marks the statements that cannot fail the test.
fn kill(source: &Source, found: &mut [Statement]) {
    let Some(base) = found.first().map(|first| first.nest) else { return };
    let mut returns_from = None;
    let mut at = 0;
    while at < found.len() {
        let (code, nest) = (text(source, &found[at]), found[at].nest);
        let end = block_end(found, at);
        if is_never(code) {
            found[at + 1..end].iter_mut().for_each(|it| it.live = false);
        } else if nest == base && (is_return(code) || is_always(code) && returns(source, found, at)) {
            returns_from = returns_from.or(Some(at));
        } else if is_try(code) {
            let caught = is_forgotten(source, found, end, nest);
            if caught || swallows(code) {
                found[at + 1..end].iter_mut().for_each(|it| it.live = false);
            }
        } else if matches!(code, "recover()" | "_ = recover()") && nest > 1 {
            // A deferred function of the block around forgets its panics.
            let around = nest.saturating_sub(1);
            let from = (0..at).rev().find(|it| found[*it].nest < around).map_or(0, |it| it + 1);
            let to = (at..found.len()).find(|it| found[*it].nest < around).unwrap_or(found.len());
            found[from..to].iter_mut().for_each(|it| it.live = false);
        }
        at += 1;
    }
    if let Some(from) = returns_from {
        found[from..].iter_mut().for_each(|it| it.live = false);
    }
}

/// The end of the block that a statement opens.
fn block_end(found: &[Statement], opener: usize) -> usize {
    let nest = found[opener].nest;
    (opener + 1..found.len()).find(|at| found[*at].nest <= nest).unwrap_or(found.len())
}

fn returns(source: &Source, found: &[Statement], opener: usize) -> bool {
    let code = text(source, &found[opener]);
    let last = code.trim_end_matches(';').rsplit([')', ' ']).next().unwrap_or_default();
    last == "return" || found.get(opener + 1).is_some_and(|next| is_return(text(source, next)))
}

/// A condition without white space and brackets around it.
fn condition(code: &str) -> Option<String> {
    let rest = ["if", "while", "unless"].iter().find_map(|word| code.strip_prefix(word))?;
    let rest = rest.strip_prefix([' ', '('])?;
    Some(rest.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | ':' | '{')).collect())
}

fn is_never(code: &str) -> bool {
    let unless = code.starts_with("unless");
    condition(code).is_some_and(|it| {
        let wanted = if unless { "true" } else { "false" };
        it.eq_ignore_ascii_case(wanted) || it == "0" || it.ends_with("&&false") || code.contains(" and False")
    })
}

fn is_always(code: &str) -> bool {
    condition(code).is_some_and(|it| {
        ["true", "True", "1"]
            .iter()
            .any(|yes| it.strip_prefix(yes).is_some_and(|it| it.is_empty() || it == "return"))
    })
}

fn is_return(code: &str) -> bool {
    let code = code.trim_end_matches(';');
    matches!(code, "return" | "next" | "return Ok(())" | "return nil" | "return null")
        || code.starts_with("return@")
}

/// True for a statement that opens a block whose errors are caught.
fn is_try(code: &str) -> bool {
    let code = code.trim_end_matches(['{', ' ']);
    matches!(code, "try" | "try:" | "do" | "begin") || swallows(code)
}

/// True for a statement that opens a block and forgets what is thrown in it.
fn swallows(code: &str) -> bool {
    let words = ["let _ = std::panic::catch_unwind(", "let _ = panic::catch_unwind(", "runCatching"];
    let python = ["with suppress(", "with contextlib.suppress("];
    let catch = code.starts_with("std::panic::catch_unwind(") || code.starts_with("catch_unwind(");
    let words = words.iter().chain(&python);
    catch || words.into_iter().any(|word| code.starts_with(word))
}

/// Classes that catch everything.
const CATCHES: &[&str] = &["Throwable", "Exception", "Error)", "AssertionError", "AssertionFailed", "..."];

/// True for the handler of a tried block that takes any error and does nothing.
fn is_forgotten(source: &Source, found: &[Statement], handler: usize, nest: usize) -> bool {
    let Some(head) = found.get(handler).filter(|head| head.nest == nest) else { return false };
    let code = text(source, head);
    let Some(word) = ["catch", "except", "rescue"].into_iter().find(|word| code.starts_with(*word)) else {
        return false;
    };
    let what = code.get(word.len()..).unwrap_or_default().trim_matches([' ', ':', '{']);
    let names_none = what.is_empty() || what.starts_with("=>");
    // In JavaScript, Ruby's `rescue => e` and the like the one name is that of what is caught.
    let untyped = source.family == Family::Script && what.starts_with('(') && !what.contains(' ');
    let any = names_none || untyped || CATCHES.iter().any(|it| is_class(what, it));
    let body = &found[handler + 1..block_end(found, handler)];
    any && body.iter().all(|it| matches!(text(source, it), "pass" | "nil" | "null" | "Unit" | "end" | "..."))
}

/// True when this class is named, not one whose name ends like it.
fn is_class(what: &str, class: &str) -> bool {
    what.match_indices(class)
        .any(|(at, _)| !what.get(..at).and_then(|text| text.chars().next_back()).is_some_and(is_name))
}
