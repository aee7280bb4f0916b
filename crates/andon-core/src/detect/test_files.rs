//! Files from which a runner takes its tests, in the languages where file names decide: a file renamed to any other
//! name has no tests any more, whatever it contains.

/// The collection of tests from a file by a runner, judged by the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCollection {
    ByName,
    /// Not by its name, in a language where runners go by names.
    No,
    /// Names say nothing in this language.
    AnyName,
}

impl TestCollection {
    /// The answer that the name of a file gives.
    pub fn from_path(path: &[u8]) -> Self {
        let path = String::from_utf8_lossy(path);
        let name = path.rsplit('/').next().unwrap_or_default();
        let Some((stem, ending)) = name.rsplit_once('.') else { return Self::AnyName };
        let ends = |ends: &[&str]| ends.iter().any(|end| stem.ends_with(end));
        let is = match ending.to_ascii_lowercase().as_str() {
            "go" => {
                ends(&["_test"])
                    && !path.split('/').any(|part| part.starts_with(['_', '.']) || part == "testdata")
            }
            "py" => stem.starts_with("test") || ends(&["_test"]),
            "rb" => ends(&["_spec", "_test"]) || stem.starts_with("test_"),
            "php" => ends(&["Test"]),
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => {
                let marks = ["test", "spec", "cy", "e2e"];
                marks
                    .iter()
                    .any(|mark| ends(&[&format!(".{mark}"), &format!("-{mark}"), &format!("_{mark}")]))
                    || path.contains("__tests__/")
            }
            _ => return Self::AnyName,
        };
        if is { Self::ByName } else { Self::No }
    }
}

/// Returns whether a file that went from `old` to `new` has left what a runner takes tests from. A file that moves into a folder
/// of tests without a word in its name goes to a runner that takes all of them.
pub fn left_behind(old: &[u8], new: &[u8]) -> bool {
    let moves_to_tests = folder(old) != folder(new) && is_in_folder_of_tests(new);
    TestCollection::from_path(old) == TestCollection::ByName
        && match TestCollection::from_path(new) {
            TestCollection::ByName => false,
            TestCollection::No => ending(new) == b"go" || !moves_to_tests || ending(old) != ending(new),
            TestCollection::AnyName => true,
        }
}

/// Returns whether a file lies below a folder of tests, whose files the tests read.
pub fn is_in_folder_of_tests(path: &[u8]) -> bool {
    let folders = ["test", "tests", "spec", "specs", "e2e"];
    folder(path).split(|byte| *byte == b'/').any(|part| folders.iter().any(|name| part == name.as_bytes()))
}

fn folder(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(&[], |at| &path[..at])
}

fn ending(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'.').map_or(&[], |at| &path[at + 1..])
}

/// The name of a file without folders, endings and the words that make it one of tests.
pub fn subject(path: &[u8]) -> String {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let name = name.split(|byte| *byte == b'.').find(|part| !part.is_empty()).unwrap_or_default();
    let mut name = String::from_utf8_lossy(name).into_owned();
    for word in ["_tests", "_test", "_spec", "-test", "-spec", "Test"] {
        name = name.strip_suffix(word).map(str::to_owned).unwrap_or(name);
    }
    name.trim_start_matches('_').strip_prefix("test_").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_behind_where_its_name_takes_it_from_the_runner() {
        let table = [
            ("src/x.test.ts", "src/x.ts", true),
            ("src/x.test.ts", "src/x.spec.ts", false),
            ("src/x.test.ts", "src/x.test.js", false),
            ("src/x.test.ts", "test/x.ts", false),
            ("test/x.test.ts", "test/x.ts", true),
            ("a/__tests__/x.js", "a/x.js", true),
            ("a/x_test.go", "a/x.go", true),
            ("a/x_test.go", "test/x.go", true),
            ("a/x_test.go", "b/y_test.go", false),
            ("a/x_test.go", "a/testdata/x_test.go", true),
            ("tests/test_b.py", "tests/b_tests.py", true),
            ("tests/test_b.py", "tests/b_test.py", false),
            ("tests/test_b.py", "tests/test_b.py.bak", true),
            ("tests/test_b.py", "tests/test_b.txt", true),
            ("app/tests.py", "app/tests/test_models.py", false),
            ("spec/x_spec.rb", "spec/x.rb", true),
            ("spec/x_spec.rb", "test/test_x.rb", false),
            ("tests/FooTest.php", "tests/Foo.php", true),
            ("tests/a.rs", "tests/b.rs", false),
            ("lib/helper.py", "lib/other.py", false),
        ];
        for (old, new, expected) in table {
            assert_eq!(left_behind(old.as_bytes(), new.as_bytes()), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn files_of_one_subject_are_known_by_it() {
        for path in
            ["a/test_b.py", "b_tests.py", "b.test.ts", "b_spec.rb", "x/b_test.go", "b.py.bak", "_test_b.py"]
        {
            assert_eq!(subject(path.as_bytes()), "b", "{path}");
        }
    }
}
