//! Sets and maps, whose items come in another order each time and mean the same.

use std::borrow::Cow;

use crate::{WordList, words::PHRASES};

/// Deepest nesting that is looked into.
const MAX_DEPTH: usize = 64;

/// Characters that nest, separate or quote; everything between is text.
const MARKS: [char; 10] = ['{', '(', '[', '}', ')', ']', ',', ';', '"', '\''];

/// An open bracket, and its content.
#[derive(Default)]
struct Group {
    opener: char,
    items: Vec<String>,
    item: String,
    /// A statement ended in it: it is code, whose order matters.
    code: bool,
}

impl Group {
    fn new(opener: char) -> Self {
        Self { opener, ..Self::default() }
    }

    /// As it came.
    fn unchanged(mut self) -> String {
        self.items.push(self.item);
        format!("{}{}", self.opener, self.items.join(","))
    }

    /// With its items in order, where it is a brace with at least two.
    fn closed(mut self, closer: char) -> String {
        if self.opener != '{' || self.items.is_empty() || self.code {
            return format!("{}{closer}", self.unchanged());
        }
        self.items.push(self.item);
        let mut items: Vec<&str> =
            self.items.iter().map(|item| item.trim()).filter(|item| !item.is_empty()).collect();
        items.sort_unstable();
        format!("{{{}}}", items.join(", "))
    }
}

/// Sorts the items between `{` and `}`, separated by commas. Strings and other brackets are left whole.
pub(super) fn sort_items(text: &str) -> Cow<'_, str> {
    if !text.contains('{') || !text.contains('}') {
        return Cow::Borrowed(text);
    }
    let mut open = vec![Group::new(' ')];
    let mut before = ' ';
    let mut rest = text;
    while let Some(each) = rest.chars().next() {
        let plain = rest.find(MARKS).unwrap_or(rest.len());
        if plain > 0 {
            let (part, after) = rest.split_at(plain);
            push(&mut open, part);
            (before, rest) = (part.chars().next_back().unwrap_or(before), after);
            continue;
        }
        let taken = quoted(rest, before).unwrap_or(each.len_utf8());
        let (part, after) = rest.split_at(taken);
        rest = after;
        before = part.chars().next_back().unwrap_or(each);
        if taken > each.len_utf8() {
            push(&mut open, part);
        } else {
            take(&mut open, each);
        }
    }
    let whole = open.into_iter().map(Group::unchanged).collect::<String>();
    Cow::Owned(whole.get(1..).unwrap_or_default().to_owned())
}

fn push(open: &mut [Group], part: &str) {
    if let Some(group) = open.last_mut() {
        group.item.push_str(part);
    }
}

fn take(open: &mut Vec<Group>, each: char) {
    let depth = open.len();
    match each {
        '{' | '(' | '[' if depth < MAX_DEPTH => open.push(Group::new(each)),
        '}' | ')' | ']' if depth > 1 && open.last().is_some_and(|group| pairs(group.opener, each)) => {
            if let Some(group) = open.pop() {
                push(open, &group.closed(each));
            }
        }
        ',' if open.last().is_some_and(|group| group.opener == '{') => {
            if let Some(group) = open.last_mut() {
                let item = std::mem::take(&mut group.item);
                group.items.push(item);
            }
        }
        _ => {
            if let Some(group) = open.last_mut() {
                group.code |= each == ';';
                group.item.push(each);
            }
        }
    }
}

fn pairs(opener: char, closer: char) -> bool {
    matches!((opener, closer), ('{', '}') | ('(', ')') | ('[', ']'))
}

/// Length of the string that begins here, if one does: on one line, and not behind a letter (`don't`).
fn quoted(text: &str, before: char) -> Option<usize> {
    let quote = text.chars().next().filter(|each| matches!(each, '"' | '\''))?;
    if before.is_alphanumeric() {
        return None;
    }
    let mut escaped = false;
    for (at, each) in text.char_indices().skip(1).take(MAX_STRING) {
        match each {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if each == quote => {
                let inside = text.get(1..at).unwrap_or_default();
                return (!holds_items(inside)).then_some(at + each.len_utf8());
            }
            _ => {}
        }
    }
    None
}

/// True when a string holds whole braces: a set may be printed in a message that is quoted itself.
fn holds_items(inside: &str) -> bool {
    let mut depth = 0_i32;
    for each in inside.chars() {
        depth += i32::from(each == '{') - i32::from(each == '}');
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && inside.contains('{')
}

/// Longest string that is left whole, in characters: a quote that is never closed must not cost more.
const MAX_STRING: usize = 256;

/// Headings of Python's differences between sets: the lines below have no order.
const SET_HEADINGS: WordList = WordList::section(PHRASES, "headings of differences between sets");

/// Sorts the lines below the headings of a difference between sets.
pub(super) fn sort_set_lines(text: &str) -> Cow<'_, str> {
    let is_heading = |line: &&str| SET_HEADINGS.iter().any(|heading| line.trim_end().ends_with(heading));
    if !text.contains(" in the ") || !SET_HEADINGS.any_in(text) {
        return Cow::Borrowed(text);
    }
    let mut sorted: Vec<&str> = Vec::new();
    let mut below = None;
    for line in text.lines() {
        let ends = line.trim().is_empty() || is_heading(&line);
        if let Some(from) = below.filter(|_| ends) {
            sorted.get_mut(from..).unwrap_or_default().sort_unstable();
            below = None;
        }
        sorted.push(line);
        if is_heading(&line) {
            below = Some(sorted.len());
        }
    }
    if let Some(from) = below {
        sorted.get_mut(from..).unwrap_or_default().sort_unstable();
    }
    Cow::Owned(sorted.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn items_of_sets_and_maps() {
        check(
            sort_items,
            &[
                ("{'b', 'a'} == {3, 1}", "{'a', 'b'} == {1, 3}"),
                ("{\n    \"b\": [2, 1],\n    \"a\": (2, 1),\n}", "{\"a\": (2, 1), \"b\": [2, 1]}"),
                ("S { b: {2, 1}, a: \"}, {\" }", "S {a: \"}, {\", b: {1, 2}}"),
                ("KeyError: \"left: {'b', 'a'}\"", "KeyError: \"left: {'a', 'b'}\""),
                ("{b, don't, a}", "{a, b, don't}"),
                ("fn f() { b; a, c }", "fn f() { b; a, c }"),
                ("{ one }", "{ one }"),
                ("{b, a", "{b, a"),
                ("b, a} [2, 1] (b, {", "b, a} [2, 1] (b, {"),
                ("{a, (b} c, d)", "{a, (b} c, d)"),
            ],
        );
    }

    #[test]
    fn lines_of_set_differences() {
        check(
            sort_set_lines,
            &[
                (
                    "AssertionError: Items in the first set but not the second:\n'b'\n'a'\nItems in the second set but not the first:\n4\n3",
                    "AssertionError: Items in the first set but not the second:\n'a'\n'b'\nItems in the second set but not the first:\n3\n4",
                ),
                ("b\na", "b\na"),
            ],
        );
    }

    #[test]
    fn depth_and_open_quotes_cost_nothing() {
        for text in ["{".repeat(100_000) + &"}".repeat(100_000), "{'".repeat(100_000), "{,}".repeat(100_000)]
        {
            sort_items(&text);
        }
    }
}
