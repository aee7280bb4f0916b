//! Rules for places: the project's directory, the directories of tools, ports, temporary files.

use std::borrow::Cow;

use super::rule::{has_digits, pattern, replace, replace_by, replace_if};
use crate::{Root, WordList, words::PHRASES};

/// The absolute path of the project root, with the slash after it; the root itself becomes `.`. A prefix that makes it
/// a URL or, on macOS, a real path is removed too.
pub(super) fn strip_root<'t>(root: &Root, text: &'t str) -> Cow<'t, str> {
    let Some(root) = root.path().filter(|root| text.contains(root)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(root) {
        let (head, tail) = rest.split_at(at);
        let after = tail.get(root.len()..).unwrap_or_default();
        let head = ["/private", "file://"].iter().fold(head, |head, prefix| without(head, prefix));
        let starts_here = !head.chars().next_back().is_some_and(is_path_char);
        out.push_str(head);
        match after.chars().next() {
            Some('/') if starts_here => rest = after.get(1..).unwrap_or_default(),
            next if starts_here && !next.is_some_and(is_path_char) => {
                out.push('.');
                rest = after;
            }
            Some(_) | None => {
                out.push_str(root);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// `head` without `prefix` at its end, where that begins a path.
fn without<'t>(head: &'t str, prefix: &str) -> &'t str {
    match head.strip_suffix(prefix) {
        Some(before) if !before.chars().next_back().is_some_and(is_path_char) => before,
        Some(_) | None => head,
    }
}

fn is_path_char(each: char) -> bool {
    each.is_alphanumeric() || matches!(each, '_' | '-' | '.')
}

pattern!(
    TOOL,
    r#"(?:file://)?(?:[^\s"'`()<>,;:=|]*/)?(?:registry/src/[^/\s]+|rustc/[0-9a-f]{40}|toolchains/[^/\s]+/lib/rustlib/src/rust|(?:site|dist)-packages|lib/python[0-9.]+|node_modules|pkg/mod|(?:lib|local)/go[-0-9.]*/src|gems/[0-9.]+/gems|lib/ruby/(?:vendor_ruby|[0-9.]+)|\.m2/repository)/"#
);

/// Parts of which the pattern needs one.
const TOOLS: WordList = WordList::section(PHRASES, "parts of folders of tools");

/// Takes out the directory in which a toolchain or a package manager keeps its files, up to the package's own name.
pub(super) fn strip_tools(text: &str) -> Cow<'_, str> {
    if TOOLS.any_in(text) { replace(&TOOL, text, "<tool>/") } else { Cow::Borrowed(text) }
}

pattern!(
    PORT,
    r#"((?-u:\b)localhost|(?-u:\b)(?:[0-9]{1,3}\.){3}[0-9]{1,3}|\[[0-9a-fA-F:.]*\]|(?:^|[\s(\[])::(?:1|ffff:(?:[0-9]{1,3}\.){3}[0-9]{1,3})?|://[A-Za-z0-9.-]+)(:|', |", )[0-9]{5}(?-u:\b)|((?-u:\b)[Pp]orts?[ "']?[ =:][ ]?)[0-9]{5}(?-u:\b)"#
);

/// Ports of five digits, behind a host or the word: systems give those out. Smaller ones are chosen by a
/// person, and another one is another failure.
pub(super) fn mask_ports(text: &str) -> Cow<'_, str> {
    if !has_digits(text, 5) {
        return Cow::Borrowed(text);
    }
    replace_by(&PORT, text, |found| match (found.get(1), found.get(2), found.get(3)) {
        (Some(host), Some(between), _) => format!("{}{}<port>", host.as_str(), between.as_str()),
        (_, _, word) => format!("{}<port>", word.map_or("", |word| word.as_str())),
    })
}

pattern!(
    TEMP,
    r"(^|[^A-Za-z0-9_.-])(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/\s]+/[^/\s]+/T|/dev/shm)((?:/[A-Za-z0-9_.@+=,#%~-]+)+)"
);

pattern!(TEMP_NAME, r"(?-u:\b|/)\.tmp[A-Za-z0-9]{6}(?-u:\b)");

/// Paths below the usual temporary directories: `<tmp>` and the last name of the path, if that is not one
/// that is made up anew each time. Rust's `.tmpAbC123` goes anywhere.
pub(super) fn mask_temp_paths(text: &str) -> Cow<'_, str> {
    if !(["tmp", "/var/folders/", "/dev/shm"].iter().any(|part| text.contains(part))) {
        return Cow::Borrowed(text);
    }
    let found = replace_by(&TEMP, text, masked);
    let found = replace(&TEMP_NAME, &found, "<tmp>");
    Cow::Owned(mask_drawn_names(&found).into_owned())
}

/// The result for one path.
fn masked(found: &regex::Captures<'_>) -> String {
    let before = found.get(1).map_or("", |group| group.as_str());
    let path = found.get(2).map_or("", |group| group.as_str());
    // A sentence may end behind a path.
    let stop = path.len() - path.trim_end_matches(['.', ',', '=']).len();
    let (path, stop) = path.split_at(path.len() - stop);
    let leaf = path.rsplit('/').next().unwrap_or_default();
    // Directly below, a name that continues with capitals is one of `tempnam`.
    let direct = path.len() == leaf.len() + 1 && !leaf.contains('.');
    let tempnam = leaf.len() >= 6 && leaf.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let leaf = if direct && tempnam { String::new() } else { stable_leaf(leaf) };
    format!("{before}<tmp>{leaf}{stop}")
}

pattern!(DRAWN, r"(?-u:\b)tmp[a-z0-9_]{8}(?-u:\b)");

/// Random names by Python, anywhere: `tmp` and eight letters, digits and `_`. Only those that no person would have
/// thought of: `tmp_result1` is a name.
pub(super) fn mask_drawn_names(text: &str) -> Cow<'_, str> {
    if !text.contains("tmp") {
        return Cow::Borrowed(text);
    }
    replace_if(&DRAWN, text, "<tmp>", |name| {
        let tail = name.strip_prefix("tmp").unwrap_or_default();
        let word = tail.trim_end_matches(|each: char| each.is_ascii_digit());
        word.bytes().any(|byte| byte.is_ascii_digit())
    })
}

/// `/name`; of a name that was made up its extension, if any.
fn stable_leaf(leaf: &str) -> String {
    if !is_made_up(leaf) {
        return format!("/{leaf}");
    }
    match leaf.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.starts_with(|each: char| each.is_ascii_lowercase())
                && !is_random(extension) =>
        {
            format!("/*.{extension}")
        }
        Some(_) | None => String::new(),
    }
}

/// True when some part of a name looks like the work of `mkdtemp` and its like.
pub(super) fn is_made_up(leaf: &str) -> bool {
    let stem = leaf.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    // Python: `tmp` and eight of letters, digits and `_`.
    let python = stem.strip_prefix("tmp").is_some_and(|rest| rest.len() == 8);
    python
        || has_drawn_tail(stem)
        || leaf.split(['-', '_', '.', '@', '+', '=', ',', '#', '%', '~']).any(is_random)
}

/// `data_k3_9xw0a`: eight letters, digits and `_` behind a prefix, as Python draws them. `_` tears the draw into short
/// pieces; a digit in front of a letter gives it away.
fn has_drawn_tail(stem: &str) -> bool {
    let Some(at) = stem.len().checked_sub(8).filter(|at| *at > 1) else { return false };
    let (Some(prefix), Some(tail)) = (stem.get(..at), stem.get(at..)) else { return false };
    let drawn = |piece: &str| {
        let word = piece.trim_end_matches(|each: char| each.is_ascii_digit());
        word.bytes().any(|byte| byte.is_ascii_digit())
    };
    prefix.ends_with(['_', '-'])
        && tail.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && tail.split('_').any(drawn)
}

/// Five digits or more in a row, six or more of letters mixed with digits, or capitals where no word begins.
fn is_random(part: &str) -> bool {
    if has_digits(part, 5) {
        return true;
    }
    // Digits at the end alone are a number behind a word: `test0`.
    let word = part.trim_end_matches(|each: char| each.is_ascii_digit());
    part.len() >= 6 && (word.bytes().any(|byte| byte.is_ascii_digit()) || has_short_humps(word))
}

/// `AbCdEf`, not `getUser`: most parts that begin with a capital are shorter than a word.
fn has_short_humps(part: &str) -> bool {
    let bytes = part.as_bytes();
    let begins = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_uppercase);
        bytes.get(*at).is_some_and(u8::is_ascii_uppercase) && !before
    };
    let humps: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    let ends = humps.iter().skip(1).copied().chain([bytes.len()]);
    let short = humps.iter().zip(ends).filter(|(from, to)| to - **from < 3).count();
    bytes.iter().any(u8::is_ascii_lowercase) && short * 2 > humps.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!([&TOOL, &PORT, &TEMP, &TEMP_NAME, &DRAWN].into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn roots() {
        let cases = [
            ("/work/p", "at /work/p/src/a.rs and file:///work/p/b", "at src/a.rs and b"),
            ("/work/p", "/work/pq/a /x/work/p/a /work/p", "/work/pq/a /x/work/p/a ."),
            ("/work/p", "/private/work/p/a /work/p.", "a /work/p."),
            ("/work/p/", "(/work/p/a)", "(a)"),
            ("/", "/a/b", "/a/b"),
            ("", "/a/b", "/a/b"),
        ];
        for (root, text, expected) in cases {
            assert_eq!(strip_root(&Root::new(root), text), expected, "{text}");
        }
    }

    #[test]
    fn tools() {
        check(
            strip_tools,
            &[
                (
                    "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/serde-1.0.1/src/a.rs",
                    "<tool>/serde-1.0.1/src/a.rs",
                ),
                (
                    "at /rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/x.rs",
                    "at <tool>/library/core/src/x.rs",
                ),
                ("\"/usr/lib/python3.11/unittest/case.py\"", "\"<tool>/unittest/case.py\""),
                ("/opt/v/lib/python3.11/site-packages/attr/x.py", "<tool>/attr/x.py"),
                ("(file:///p/node_modules/.pnpm/a@1/node_modules/a/i.js:1)", "(<tool>/a/i.js:1)"),
                ("node_modules/a/i.js", "<tool>/a/i.js"),
                ("/usr/lib/go-1.19/src/testing/t.go", "<tool>/testing/t.go"),
                ("src/lib/python.rs", "src/lib/python.rs"),
            ],
        );
    }

    #[test]
    fn ports() {
        check(
            mask_ports,
            &[
                ("http://127.0.0.1:43210/x localhost:54321", "http://127.0.0.1:<port>/x localhost:<port>"),
                ("[::1]:43210, ::1:43210, :::43210", "[::1]:<port>, ::1:<port>, :::<port>"),
                ("('127.0.0.1', 43210)", "('127.0.0.1', <port>)"),
                ("port=43210 on port 43210", "port=<port> on port <port>"),
                ("localhost:5432 a.rs:12345 12345 x:123456", "localhost:5432 a.rs:12345 12345 x:123456"),
            ],
        );
    }

    #[test]
    fn temp_paths() {
        check(
            mask_temp_paths,
            &[
                ("open /tmp/.tmpAbC12/out.txt: no", "open <tmp>/out.txt: no"),
                ("'/tmp/pytest-of-ann/pytest-3/x0'", "'<tmp>/x0'"),
                ("/private/var/folders/ab/cd_e/T/tmp9_bz31ak is", "<tmp> is"),
                ("/tmp/tmpab_12xyz.json, /tmp/d-x1Y2z3.", "<tmp>/*.json, <tmp>."),
                ("/tmp/out.txt and /tmp/TestCopy3912345/001", "<tmp>/out.txt and <tmp>/001"),
                ("/tmp/runagoDQY: /tmp/run/getUser", "<tmp>: <tmp>/getUser"),
                ("/tmp/one.txt /tmp/two.txt", "<tmp>/one.txt <tmp>/two.txt"),
                ("target/.tmpAbC123/x", "target<tmp>/x"),
                ("/srv/tmp/a/b", "/srv/tmp/a/b"),
                ("/tmp/data_k3_9xw0a/x.txt /tmp/data_k3_9xw0a", "<tmp>/x.txt <tmp>"),
                ("/srv/build/tmpk3_9xw0a/x tmp_9xw0ab1", "/srv/build/<tmp>/x <tmp>"),
                ("tmp_result1 tmp_results tmpfile_v2", "tmp_result1 tmp_results tmpfile_v2"),
            ],
        );
    }

    #[test]
    fn names_that_were_made_up() {
        for name in [
            "x-AbCdEf",
            "tmpk3_9xw0a",
            ".tmpGh12Ab",
            "a.20261120-77-1x",
            "build123456",
            "1a2b3c4d",
            "data_k3_9xw0a",
            "x-_a9b_c_d.json",
        ] {
            assert!(is_made_up(name), "{name}");
        }
        for name in [
            "out.txt",
            "getUser",
            "test_write0",
            "x0",
            "2024",
            "v2",
            "HTTPServer.log",
            "report-final",
            "HelloWorld",
            "report_v2_final",
            "x_get_user",
        ] {
            assert!(!is_made_up(name), "{name}");
        }
    }
}
