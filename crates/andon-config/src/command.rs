//! The test command as a value: it is started, shown and compared, each in one place.

use std::fmt;

/// `test.command`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TestCommand {
    /// A text for `sh -c`.
    Shell(String),
    /// A program and its arguments, started as they are. Never empty.
    Argv(Vec<String>),
}

impl TestCommand {
    /// The canonical text, for evidence, comparison and people: a shell text without outer white space,
    /// an argument list with each argument quoted for `sh` where it needs it. One line unless an
    /// argument holds a line break.
    pub fn display(&self) -> String {
        match self {
            Self::Shell(text) => text.trim().to_owned(),
            Self::Argv(arguments) => arguments.iter().map(|one| quote(one)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether both start the same thing: compared by [`TestCommand::display`], so that `cargo test` as a
    /// text and as a list are the same, and evidence survives a change from one to the other.
    pub fn is_same(&self, other: &Self) -> bool {
        self.display() == other.display()
    }
}

impl fmt::Display for TestCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

fn quote(argument: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(arguments: &[&str]) -> TestCommand {
        TestCommand::Argv(arguments.iter().map(|&one| one.to_owned()).collect())
    }

    #[test]
    fn commands_have_one_canonical_text() {
        for (command, text) in [
            (TestCommand::Shell("  cargo test\n".to_owned()), "cargo test"),
            (argv(&["cargo", "test"]), "cargo test"),
            (argv(&["sh", "-c", "a && b"]), "sh -c 'a && b'"),
            (argv(&["run", "it's", ""]), "run 'it'\\''s' ''"),
            (argv(&["run", "$HOME", "*"]), "run '$HOME' '*'"),
        ] {
            assert_eq!(command.display(), text);
        }
    }

    #[test]
    fn sameness_looks_through_the_form() {
        assert!(TestCommand::Shell("cargo test".to_owned()).is_same(&argv(&["cargo", "test"])));
        assert!(!TestCommand::Shell("cargo test *".to_owned()).is_same(&argv(&["cargo", "test", "*"])));
        assert!(!argv(&["a b"]).is_same(&argv(&["a", "b"])));
    }
}
