//! Platforms that commit for somebody. They are known by addresses and trailers, which a program sets, and never by subjects,
//! which people and agents write.

use crate::WordList;

/// The ends of the addresses under which they commit, by kind.
const ADDRESSES: &str = include_str!("platforms.txt");

/// A row of the table.
#[derive(Debug)]
pub struct Platform {
    addresses: WordList,
    /// The trailer of a commit that goes back to an earlier state, where it sets one.
    restores: Option<&'static str>,
    /// True for the editor of a shop or a website: each commit is what a person saved.
    pub saves: bool,
}

static PLATFORMS: [Platform; 3] = [
    Platform {
        addresses: WordList::section(ADDRESSES, "replit"),
        restores: Some("Replit-Restored-To"),
        saves: false,
    },
    Platform { addresses: WordList::section(ADDRESSES, "builders and forges"), restores: None, saves: false },
    Platform { addresses: WordList::section(ADDRESSES, "editors"), restores: None, saves: true },
];

impl Platform {
    /// The platform that commits under one of these addresses: that of the committer before that of the author.
    pub fn of(addresses: [&str; 2]) -> Option<&'static Self> {
        let has = |row: &Self, address: &str| row.addresses.iter().any(|end| address.ends_with(end));
        addresses.into_iter().find_map(|address| PLATFORMS.iter().find(|row| has(row, address)))
    }

    /// Returns whether a commit with these trailers goes back to an earlier state.
    pub fn goes_back(&self, trailers: &[(String, String)]) -> bool {
        self.restores.is_some_and(|wanted| trailers.iter().any(|(key, _)| key.eq_ignore_ascii_case(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_known_by_addresses_and_trailers() {
        let trailers = [("Replit-Restored-To".to_owned(), "21c93e9b".to_owned())];
        for (committer, author, known, goes_back, saves) in [
            ("1234-ada@users.noreply.replit.com", "", true, true, false),
            ("159125892+gpt-engineer-app[bot]@users.noreply.github.com", "", true, false, false),
            ("noreply@github.com", "79544226+shopify[bot]@users.noreply.github.com", true, false, false),
            ("ada@example.org", "79544226+shopify[bot]@users.noreply.github.com", true, false, true),
            ("ada@users.noreply.github.com", "ada@example.org", false, false, false),
        ] {
            let found = Platform::of([committer, author]);
            assert_eq!(found.is_some(), known, "{committer}");
            assert_eq!(found.is_some_and(|one| one.goes_back(&trailers)), goes_back, "{committer}");
            assert_eq!(found.is_some_and(|one| one.saves), saves, "{committer}");
        }
    }
}
