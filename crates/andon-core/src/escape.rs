//! Makes untrusted text harmless: commit subjects, test names, paths and reasons come from strangers, and a terminal, a
//! Markdown viewer and a shell each obey something in them.

use std::{borrow::Cow, fmt::Write as _};

/// The first characters of a text, at most so many.
pub fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// True for characters that a terminal obeys or hides instead of showing: control characters (C0, DEL, C1),
/// direction overrides and isolates, zero-width characters, line separators, fillers and tags.
/// U+FE0F (emoji presentation) is let through.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        hidden => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
        }
    }
}

fn visible(text: &str, keep: fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        if is_hidden(c) && !keep(c) && !joins_emoji(before, c, chars.peek()) {
            push_visible(&mut out, c);
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Returns whether `c` is the joiner within an emoji of several, such as a family.
fn joins_emoji(before: Option<char>, c: char, next: Option<&char>) -> bool {
    let pictures = |c: char| matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}');
    let ends = |c: char| pictures(c) || c == '\u{fe0f}';
    c == '\u{200d}' && before.is_some_and(ends) && next.copied().is_some_and(pictures)
}

/// One line of text for a terminal: every hidden character, newline and tab included, in its `\u{1b}` form.
/// Meant for reading, not for reversing: a backslash stays as it is.
pub fn terminal(text: &str) -> Cow<'_, str> {
    visible(text, |_| false)
}

/// Several lines of text for a terminal: as [`terminal`], but newlines and tabs stay.
pub fn terminal_block(text: &str) -> Cow<'_, str> {
    visible(text, |c| matches!(c, '\n' | '\t'))
}

/// Columns that a character takes on a terminal: 2 for the wide scripts and emoji, else 1. An approximation
/// without tables; it only aligns columns.
fn width_of(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Columns that `text` takes on a terminal, once escaped.
pub fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// `text` cut to at most `columns` columns; a cut is shown as `...` (within the columns).
/// Bounds the cost too: no more than that is read.
pub fn clip(text: &str, columns: usize) -> Cow<'_, str> {
    let mut taken = 0;
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        taken += width_of(c);
        if taken > columns {
            return Cow::Owned(format!("{}{}", &text[..cut], &"..."[..columns.min(3)]));
        }
        if taken + 3 <= columns {
            cut = at + c.len_utf8();
        }
    }
    Cow::Borrowed(text)
}

/// Untrusted text for a terminal, on one line, cut to `columns`.
pub fn terminal_clip(text: &str, columns: usize) -> String {
    // Escaping lengthens, so what lies beyond the first cut can never be shown.
    clip(&terminal(&clip(text, columns.saturating_mul(2))), columns).into_owned()
}

/// Untrusted text as inline Markdown that renders as exactly that text. Only what would be obeyed is escaped, so that a
/// command can be copied from the file unchanged: no emphasis, link, image, HTML, entity, heading, list, table or math
/// can come of it; only a viewer that links bare host names still may. Hidden characters are made visible, leading
/// blanks dropped.
pub fn markdown(text: &str) -> String {
    let plain = terminal(text);
    let plain = plain.trim_start();
    let mut out = String::with_capacity(plain.len() + 16);
    let digits = plain.bytes().take_while(u8::is_ascii_digit).count();
    let paired = |c: char| plain.matches(c).nth(1).is_some();
    for (at, c) in plain.char_indices() {
        let before = plain[..at].chars().next_back();
        let after = plain[at + c.len_utf8()..].chars().next();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let marker = match c {
            '`' | '*' | '[' | '<' => true,
            // The end of a link's text.
            ']' => matches!(after, Some('(' | '[' | ':')),
            // An escape, or at the end of the line a break.
            '\\' => after.is_none_or(|c| c.is_ascii_punctuation()),
            // Within a word it is no emphasis.
            '_' => !(word(before) && word(after)),
            '~' | '$' => paired(c),
            '&' => is_entity(&plain[at..]),
            '-' | '+' | '=' | ':' | '#' | '>' | '|' if at == 0 => true,
            '.' | ')' if digits > 0 && at == digits => true,
            // Characters that viewers turn into links without being asked.
            '@' => word(after),
            ':' => plain[at..].starts_with("://"),
            '.' => at >= 3 && plain.as_bytes()[at - 3..at].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        if marker {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Untrusted text for an element or a quoted attribute of XML or HTML. What XML 1.0 cannot hold, the control characters and
/// U+FFFE and U+FFFF, is made visible with everything else that is hidden.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        match c {
            joiner if joins_emoji(before, joiner, chars.peek()) => out.push(joiner),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            hidden if is_hidden(hidden) || matches!(hidden, '\u{fffe}' | '\u{ffff}') => {
                push_visible(&mut out, hidden);
            }
            shown => out.push(shown),
        }
        before = Some(c);
    }
    out
}

/// Returns whether a text that begins with `&` begins with an entity such as `&amp;` or `&#35;`.
fn is_entity(text: &str) -> bool {
    let name = text[1..].split_once(';').map_or("", |(name, _)| name);
    !name.is_empty() && name.len() <= 32 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
}

/// Untrusted text as a Markdown code span: nothing in it is obeyed. The fence is longer than any run of
/// backticks within.
pub fn code_span(text: &str) -> String {
    let plain = terminal(text);
    if plain.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let mut longest = 0;
    let mut run = 0;
    for c in plain.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let edge = |c: Option<char>| matches!(c, Some('`' | ' '));
    let pad = if edge(plain.chars().next()) || edge(plain.chars().next_back()) { " " } else { "" };
    format!("{fence}{pad}{plain}{pad}{fence}")
}

/// Untrusted text as a fenced block of Markdown that its own text cannot end, with what is hidden in it made visible. `kind` is
/// the language that colours it, or empty.
pub fn fenced(kind: &str, text: &str) -> String {
    let plain = terminal_block(text);
    let longest = plain.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{kind}\n{plain}\n{fence}\n")
}

/// `text` as one word of a shell command that is shown to be copied: bare when it is plainly safe, in single
/// quotes otherwise, and as `$'...'` with octal escapes when it holds hidden characters.
pub fn shell_quote(text: &str) -> String {
    if text.chars().any(is_hidden) {
        return shell_escaped(text.as_bytes());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// As [`shell_quote`], for paths of git, which are bytes: what is not UTF-8 is written in octal, so that the
/// copied command names exactly that file.
pub fn shell_quote_bytes(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| shell_escaped(bytes), shell_quote)
}

fn shell_escaped(bytes: &[u8]) -> String {
    let mut out = String::from("$'");
    for byte in bytes {
        match byte {
            b'\'' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' => out.push(char::from(*byte)),
            other => {
                let _ = write!(out, "\\{other:03o}");
            }
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_terminal_obeys_nothing() {
        for (text, shown) in [
            ("plain text, äöü 漢字 ❤\u{fe0f}", "plain text, äöü 漢字 ❤\u{fe0f}"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("abc\u{202e}cba\u{2066}x\u{2069}", "abc\\u{202e}cba\\u{2066}x\\u{2069}"),
            ("a\u{1bca0}b\u{e0041}", "a\\u{1bca0}b\\u{e0041}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(terminal(text), shown);
        }
        assert_eq!(terminal_block("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
        assert!(matches!(terminal("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn markdown_is_shown_not_obeyed() {
        for (text, shown) in [
            ("Fix the parser (again)", "Fix the parser (again)"),
            ("# Approved\n## To Continue", "\\# Approved\\n## To Continue"),
            ("[click](http://evil) ![x](y)", "\\[click\\](http\\://evil) !\\[x\\](y)"),
            ("<script>alert(1)</script> &lt;", "\\<script>alert(1)\\</script> \\&lt;"),
            ("- item", "\\- item"),
            ("   - item", "\\- item"),
            ("12. item", "12\\. item"),
            ("3) item", "3\\) item"),
            ("1.5 is fine? no: 2.5 is", "1\\.5 is fine? no: 2.5 is"),
            ("=== title", "\\=== title"),
            ("a|b `c` *d* _e_ ~f~ $g$", "a|b \\`c\\` \\*d\\* \\_e\\_ \\~f\\~ \\$g\\$"),
            ("see www.evil.example", "see www\\.evil.example"),
            ("mail a@evil.example //x", "mail a\\@evil.example //x"),
            ("end\\", "end\\\\"),
        ] {
            assert_eq!(markdown(text), shown);
        }
    }

    #[test]
    fn a_joiner_stays_between_emoji_alone() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(terminal(family), family);
        assert_eq!(terminal("\u{2764}\u{fe0f}\u{200d}\u{1f525}"), "\u{2764}\u{fe0f}\u{200d}\u{1f525}");
        assert_eq!((terminal(family).as_ref(), xml(family).as_str()), (family, family));
        assert_eq!(
            (terminal("a\u{200d}b").as_ref(), xml("a\u{200d}b").as_str()),
            ("a\\u{200d}b", "a\\u{200d}b")
        );
        assert_eq!(terminal("\u{1f468}\u{200d}"), "\u{1f468}\\u{200d}");
    }

    #[test]
    fn xml_holds_nothing_that_it_cannot() {
        assert_eq!(xml("a<b>&'\"]]>"), "a&lt;b&gt;&amp;&#39;&quot;]]&gt;");
        assert_eq!(
            xml("\u{0}\u{b}\n\u{fffe}\u{ffff}\u{202e}ä"),
            "\\u{0}\\u{b}\\n\\u{fffe}\\u{ffff}\\u{202e}ä"
        );
    }

    #[test]
    fn code_spans_survive_backticks() {
        assert_eq!(code_span("a::b"), "`a::b`");
        assert_eq!(code_span("`"), "`` ` ``");
        assert_eq!(code_span("a``b"), "```a``b```");
        assert_eq!(code_span(" a "), "`  a  `");
        assert_eq!(code_span(""), "(empty)");
        assert_eq!(code_span("a\n# b"), "`a\\n# b`");
    }

    #[test]
    fn shell_words_are_quoted() {
        for (text, shown) in [
            ("src/a.rs", "src/a.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("it's", "'it'\\''s'"),
            ("~x", "'~x'"),
            ("a\nrm x", "$'a\\012rm x'"),
            ("\u{1b}'\\", "$'\\033\\'\\\\'"),
        ] {
            assert_eq!(shell_quote(text), shown);
        }
        assert_eq!(shell_quote_bytes(b"a\xffb"), "$'a\\377b'");
        assert_eq!(shell_quote_bytes(b"a.rs"), "a.rs");
    }

    #[test]
    fn clipping_counts_columns() {
        assert_eq!(clip("hello", 5), "hello");
        assert_eq!(clip("hello!", 5), "he...");
        assert_eq!(clip("漢字漢字", 7), "漢字...");
        assert_eq!(clip("hello", 2), "..");
        assert_eq!(clip("", 0), "");
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(text in any::<String>()) {
            prop_assert!(!terminal(&text).chars().any(is_hidden));
            prop_assert!(!terminal_block(&text).chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
            prop_assert!(!shell_quote(&text).chars().any(is_hidden));
        }

        #[test]
        fn markdown_is_never_obeyed(text in "[-`*_#<>!&\\[\\]|\\\\+=:.~$@0-9a-c \n]{0,40}") {
            let shown = markdown(&text);
            prop_assert!(!shown.contains('\n'));
            let mut chars = shown.chars().peekable();
            let mut back = String::new();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation) {
                    back.extend(chars.next());
                } else {
                    prop_assert!(!"`*[<".contains(c), "{shown}");
                    back.push(c);
                }
            }
            // Nothing is lost: unescaped, it is the visible text again.
            let visible = terminal(&text);
            prop_assert_eq!(back.as_str(), visible.trim_start());
            let unsafe_start = ["-", "+", "=", "#", ">", "|", ":"].iter().any(|start| shown.starts_with(start));
            prop_assert!(!unsafe_start);
        }

        #[test]
        fn commands_are_copied_as_they_stand(
            command in prop::sample::select(vec![
                "git log -p -3 6f740087d4ac",
                "git switch -c andon-6f74 6f74",
                "andon resume --reason 'keep A'",
                "raise it: iteration-cap = { max = 200 }",
                "git reset --hard HEAD~1",
                "git stash --keep-index --include-untracked && andon test; git stash pop",
                "read src/my_file.rs, the test_command and @{u} | less > out.txt",
            ]),
        ) {
            prop_assert_eq!(markdown(command), command);
        }

        #[test]
        fn a_code_span_ends_where_it_should(text in "[`a \n]{1,30}") {
            let shown = code_span(&text);
            if shown != "(empty)" {
                let fence = shown.chars().take_while(|c| *c == '`').count();
                let inner = &shown[fence..shown.len() - fence];
                prop_assert!(!inner.contains(&"`".repeat(fence)));
                prop_assert!(!inner.starts_with('`') && !inner.ends_with('`'));
            }
        }

        #[test]
        fn clipping_keeps_its_bound(text in any::<String>(), columns in 0_usize..60) {
            prop_assert!(width(&clip(&text, columns)) <= columns);
            prop_assert!(width(&terminal_clip(&text, columns)) <= columns);
        }
    }
}
