//! Whether `git fetch` brings the records and the ledger, and whether it would destroy them.
//!
//! The obvious refspec, `+refs/notes/andon:refs/notes/andon`, overwrites records that were not pushed yet at
//! every fetch. So the records of a remote go where branches of a remote go, under a name of its own, and
//! are united with the local ones by `git notes merge`. The refspecs are patterns even where one ref is
//! meant: git refuses the whole fetch when a plainly named ref is missing on the other side.

use andon_store::notes::REF as NOTES_REF;
use andon_store::union;

const LEDGER: &str = "refs/andon/ledger/";

/// What one remote fetches of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchState {
    /// The name of the remote in git's configuration.
    pub remote: String,
    /// A refspec that overwrites local records or ledgers.
    pub overwrites: Option<String>,
    /// The refspecs that are missing, ready for `git config --add remote.NAME.fetch`.
    pub missing: Vec<String>,
}

/// Judges the fetch refspecs of all remotes, given as (remote, refspec).
pub fn fetch_states(refspecs: &[(String, String)]) -> Vec<FetchState> {
    let mut remotes: Vec<&str> = refspecs.iter().map(|(remote, _)| remote.as_str()).collect();
    remotes.sort_unstable();
    remotes.dedup();
    remotes
        .into_iter()
        .map(|remote| {
            let own: Vec<&str> =
                refspecs.iter().filter(|(name, _)| name == remote).map(|(_, spec)| spec.as_str()).collect();
            state(remote, &own)
        })
        .collect()
}

fn state(remote: &str, refspecs: &[&str]) -> FetchState {
    let [writer, records] = [LEDGER, union::PREFIX].map(|prefix| format!("{prefix}0123456789abcdef"));
    let overwrites = refspecs
        .iter()
        .find(|spec| [NOTES_REF, &writer, &records].iter().any(|name| forces(spec, name)))
        .map(|spec| (*spec).to_owned());
    let wanted = [
        (NOTES_REF, format!("+refs/notes/andon*:refs/notes/remotes/{remote}/andon*")),
        (writer.as_str(), format!("+{LEDGER}*:refs/andon/remote/{remote}/ledger/*")),
        (records.as_str(), format!("+{}*:{}{remote}/*", union::PREFIX, union::REMOTE_PREFIX)),
    ];
    let missing = wanted
        .into_iter()
        .filter(|(name, _)| !refspecs.iter().any(|spec| target(spec, name).is_some()))
        .map(|(_, spec)| spec);
    FetchState { remote: remote.to_owned(), overwrites, missing: missing.collect() }
}

/// True when `spec` forcibly writes what it fetches as `name` to the same name here.
fn forces(spec: &str, name: &str) -> bool {
    spec.starts_with('+') && target(spec, name).as_deref() == Some(name)
}

/// Where `spec` puts the remote's ref `name`. `None` when it does not fetch it, or puts it nowhere.
fn target(spec: &str, name: &str) -> Option<String> {
    let spec = spec.strip_prefix('+').unwrap_or(spec);
    if spec.starts_with('^') {
        return None;
    }
    let (from, to) = spec.split_once(':')?;
    if to.is_empty() {
        return None;
    }
    let Some((before, after)) = from.split_once('*') else {
        return (from == name).then(|| to.to_owned());
    };
    let middle = name.strip_prefix(before)?.strip_suffix(after)?;
    Some(to.replacen('*', middle, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refspecs_are_understood() {
        let heads = "+refs/heads/*:refs/remotes/origin/*";
        let notes = "+refs/notes/andon*:refs/notes/remotes/origin/andon*";
        let ledger = "+refs/andon/ledger/*:refs/andon/remote/origin/ledger/*";
        let records = "+refs/andon/records/*:refs/andon/remote-records/origin/*";
        let cases: [(&[&str], Option<&str>, &[&str]); 10] = [
            (&[heads], None, &[notes, ledger, records]),
            (&[heads, notes, records], None, &[ledger]),
            (&[heads, notes, ledger, records], None, &[]),
            (&["+refs/*:refs/*"], Some("+refs/*:refs/*"), &[]),
            (&["refs/*:refs/*"], None, &[]),
            (&["+refs/notes/*:refs/notes/*", ledger], Some("+refs/notes/*:refs/notes/*"), &[records]),
            (
                &["+refs/notes/andon:refs/notes/andon", records],
                Some("+refs/notes/andon:refs/notes/andon"),
                &[ledger],
            ),
            (&["refs/notes/andon:refs/notes/other", "+refs/andon/*:refs/x/*"], None, &[]),
            (&["refs/notes/andon", "^refs/andon/*", "refs/andon/*:"], None, &[notes, ledger, records]),
            (&["+refs/andon/*:refs/andon/*", notes], Some("+refs/andon/*:refs/andon/*"), &[]),
        ];
        for (specs, overwrites, missing) in cases {
            let pairs: Vec<(String, String)> =
                specs.iter().map(|spec| ("origin".to_owned(), (*spec).to_owned())).collect();
            let found = fetch_states(&pairs).remove(0);
            assert_eq!(found.overwrites.as_deref(), overwrites, "{specs:?}");
            assert_eq!(found.missing, missing, "{specs:?}");
        }
    }
}
