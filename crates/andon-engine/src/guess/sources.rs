//! Whether a source file holds tests, for the languages whose runner finds them by itself: `cargo test` and `go test`
//! pass where there is nothing to run.

/// What the name and the text of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The name alone says that it is a test.
    Test,
    /// Its text says whether it holds one.
    Rust,
    /// None of these languages, or one whose tests are recognised by their names.
    Other,
}

/// What `path` is, from the top of the project.
pub fn kind(path: &str) -> Kind {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_tests = dir.split('/').next_back() == Some("tests");
    match name.rsplit_once('.') {
        Some((stem, "go")) if stem.ends_with("_test") => Kind::Test,
        Some((_, "rs")) if in_tests => Kind::Test,
        Some((_, "rs")) => Kind::Rust,
        Some(_) | None => Kind::Other,
    }
}

/// Macros that make tests without an attribute.
const MACROS: [&str; 3] = ["proptest!", "quickcheck!", "test_suite!"];

/// Whether a file of Rust holds a test: an attribute that names one (`#[test]`, `#[tokio::test]`, `#[cfg(test)]`), a macro
/// that makes some, or an example in its documentation.
pub fn holds_test(rust: &str) -> bool {
    rust.lines().map(str::trim_start).any(|line| {
        let attribute = line.starts_with("#[") && line.contains("test");
        let example = (line.starts_with("///") || line.starts_with("//!")) && line.contains("```");
        attribute || example || MACROS.iter().any(|name| line.starts_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_tell_tests() {
        for (path, is) in [
            ("a_test.go", Kind::Test),
            ("x/y/a_test.go", Kind::Test),
            ("test.go", Kind::Other),
            ("tests/all.rs", Kind::Test),
            ("crates/a/tests/all.rs", Kind::Test),
            ("src/main.rs", Kind::Rust),
            ("README", Kind::Other),
        ] {
            assert_eq!(kind(path), is, "{path}");
        }
        for (text, holds) in [
            ("fn main() {}", false),
            ("fn test() {}", false),
            ("    #[test]\n    fn it() {}", true),
            ("#[tokio::test]\nasync fn it() {}", true),
            ("#[cfg(test)]\nmod tests;", true),
            ("/// ```\n/// let a = 1;\n/// ```\nfn a() {}", true),
            ("proptest! { }", true),
        ] {
            assert_eq!(holds_test(text), holds, "{text}");
        }
    }
}
