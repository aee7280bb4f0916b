//! The door to regular expressions over text.
//!
//! A program that has the classes `\w`, `\d` and `\b` of Unicode also has the tables of all of Unicode's properties, which
//! the loader relocates at every start: eight pages. Therefore the crate `regex` is built without them. Tests have them
//! all the same, because `proptest` asks for them; so this function refuses what the program could not compile.

use regex::Regex;

/// White space as Unicode has it.
const SPACE: &str =
    r"[\x09-\x0d\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]";

/// Compiles `pattern`, in which `\s` is white space of any script and other classes are within `(?-u:...)`; `None` where it
/// does not compile or has a class of Unicode.
pub fn pattern(pattern: &str) -> Option<Regex> {
    Regex::new(&spelled_out(pattern)?).ok()
}

/// `pattern` with [`SPACE`] for `\s`.
fn spelled_out(pattern: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(pattern.len()), pattern);
    // For each open group, true where it is without Unicode; and the depth in brackets.
    let (mut ascii, mut brackets) = (vec![false], 0_usize);
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        let is_ascii = ascii.last().copied().unwrap_or_default();
        match next {
            '\\' => {
                let class = rest.chars().nth(1)?;
                taken += class.len_utf8();
                match class {
                    's' if !is_ascii => {
                        out.push_str(SPACE);
                        rest = &rest[taken..];
                        continue;
                    }
                    'd' | 'D' | 'w' | 'W' | 'b' | 'B' | 'S' | 'p' | 'P' if !is_ascii => return None,
                    _ => {}
                }
            }
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            '(' if brackets == 0 => {
                let flags = rest.strip_prefix("(?").and_then(|flags| flags.split([':', ')']).next());
                let off = flags.is_some_and(|flags| !flags.starts_with(['P', '<']) && flags.ends_with("-u"));
                // Without the tables of Unicode the program cannot ignore case.
                if !is_ascii && !off && flags.is_some_and(|flags| flags.starts_with('i')) {
                    return None;
                }
                ascii.push(is_ascii || off);
            }
            ')' if brackets == 0 => drop(ascii.pop()),
            _ => {}
        }
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_that_of_every_script() {
        let (space, other) = (pattern(r"^\s$").unwrap(), pattern(r"^[^a\s]$").unwrap());
        for each in ('\0'..=char::MAX).filter(|each| *each != '\n') {
            let text = each.to_string();
            assert_eq!(space.is_match(&text), each.is_whitespace(), "{each:?}");
            assert_eq!(other.is_match(&text), !each.is_whitespace() && each != 'a', "{each:?}");
        }
        assert!(space.is_match("\n") && !other.is_match("\n"));
    }

    #[test]
    fn classes_of_unicode_are_refused() {
        for wrong in [
            r"\d",
            r"a(?-u:\b)\b",
            r"[\w.]",
            r"(?i-u:(\w))(\D)",
            r"\S",
            r"\p{L}",
            r"(?<name>\w)",
            r"(?i:a)",
            r"a\",
        ] {
            assert!(pattern(wrong).is_none(), "{wrong}");
        }
        for right in
            [r"(?-u:\bat(x|\w)\b)", r"\\\s\(\)[(]", r"(?i-u:\d)[[:alpha:]]", r"(?x)[\ \s] # \x20", r"\[\s"]
        {
            assert!(pattern(right).is_some(), "{right}");
        }
    }
}
