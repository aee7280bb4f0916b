//! `andon check --format`: a form, and the file that takes it.

use std::path::PathBuf;
use std::str::FromStr;

/// A form of the result of `andon check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFormat {
    /// Lines for people.
    Text,
    /// `andon/check@1`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
    /// A summary for a pull request.
    Markdown,
}

impl CheckFormat {
    const NAMES: [(&str, Self); 7] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("sarif", Self::Sarif),
        ("junit", Self::Junit),
        ("github", Self::Github),
        ("gitlab", Self::Gitlab),
        ("markdown", Self::Markdown),
    ];

    /// The names of all.
    pub fn names() -> Vec<String> {
        Self::NAMES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Whether it is lines among others, or a document of its own.
    pub fn is_lines(self) -> bool {
        matches!(self, Self::Text | Self::Github)
    }
}

/// `sarif`, or `sarif=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFormat {
    /// What it looks like.
    pub form: CheckFormat,
    /// Where it goes; `None` is standard output.
    pub file: Option<PathBuf>,
}

impl FromStr for WantedFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
        let known = CheckFormat::NAMES.into_iter().find(|(known, _)| *known == name);
        let Some((_, form)) = known else {
            let names = CheckFormat::names().join(", ");
            return Err(format!("the formats are {names}"));
        };
        match file {
            Some("") => Err(format!("no file after `{name}=`")),
            file => Ok(Self { form, file: file.map(PathBuf::from) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_may_name_its_file() {
        let read = |text: &str| text.parse::<WantedFormat>();
        assert_eq!(read("sarif"), Ok(WantedFormat { form: CheckFormat::Sarif, file: None }));
        let file = Some(PathBuf::from("a=b.xml"));
        assert_eq!(read("junit=a=b.xml"), Ok(WantedFormat { form: CheckFormat::Junit, file }));
        assert_eq!(read("junit="), Err("no file after `junit=`".to_owned()));
        assert_eq!(
            read("xml"),
            Err("the formats are text, json, sarif, junit, github, gitlab, markdown".to_owned())
        );
    }
}
