//! Commands of git that would take the guard away.

use super::search::{includes, names_hooks, names_refs, patched, words};
use super::{Call, below};
use crate::ruling::paths::{self, GuardFiles, Use};
use andon_core::domain::agent_ruling::Disarm;

/// What a call of git would disarm.
pub(super) fn git(args: &[String], call: Call<'_>, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let mut rest = args;
    let mut notes_ref =
        call.started.assigned.iter().any(|word| word.starts_with("GIT_NOTES_REF=") && names_refs(word));
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let takes_one = matches!(first.as_str(), "-c" | "-C" | "--git-dir" | "--work-tree" | "--config-env");
        let value = if takes_one { after.first() } else { None };
        for word in [Some(first), value].into_iter().flatten() {
            if names_hooks(word) || includes(word) {
                return Some(Disarm::HooksPath);
            }
            notes_ref |= names_refs(word);
            if let Some(found) = aliased(word, guarded, depth) {
                return Some(found);
            }
        }
        rest = if takes_one { after.get(1..).unwrap_or_default() } else { after };
    }
    let (verb, args) = rest.split_first()?;
    let output = args.iter().filter_map(|word| word.strip_prefix("--output="));
    let written = output.clone().find_map(|file| paths::disarms(file, Use::Written, guarded));
    written.or_else(|| match verb.as_str() {
        "config" => config(args, guarded, depth),
        "notes" => notes(args, notes_ref),
        _ => of_verb(verb, args, call.input, guarded),
    })
}

fn of_verb(verb: &str, args: &[String], input: &str, guarded: &GuardFiles) -> Option<Disarm> {
    let named = args.iter().any(|word| names_refs(word));
    match verb {
        "update-ref" | "symbolic-ref" | "fast-import" | "replace" => {
            (named || names_refs(input)).then_some(Disarm::Refs)
        }
        "push" => {
            let taken = |word: &String| {
                matches!(word.as_str(), "--delete" | "-d" | "--mirror" | "--prune" | "-f")
                    || word.starts_with("--force")
            };
            let gone =
                |word: &String| names_refs(word) && (word.starts_with([':', '+']) || args.iter().any(taken));
            args.iter().any(gone).then_some(Disarm::Refs)
        }
        "fetch" | "pull" => {
            let into = |word: &String| word.split_once(':').is_some_and(|(_, into)| covers_refs(into));
            args.iter().any(into).then_some(Disarm::Refs)
        }
        "rm" | "mv" => words(args, Use::Removed, guarded),
        "checkout" | "restore" => args.iter().find_map(|word| paths::disarms(word, Use::Written, guarded)),
        "apply" | "am" => {
            let named = args.iter().find_map(|word| paths::disarms(word, Use::Written, guarded));
            named.or_else(|| patched(input, guarded))
        }
        // These start their arguments.
        "submodule" | "rebase" | "bisect" | "filter-branch" | "format-patch" | "archive" => {
            words(args, Use::Written, guarded)
        }
        _ => None,
    }
}

/// Whether a pattern of refs holds ours.
fn covers_refs(into: &str) -> bool {
    let ours = |start: &str| ["refs/notes/andon", "refs/andon/"].iter().any(|own| own.starts_with(start));
    names_refs(into) || into.strip_suffix('*').is_some_and(ours)
}

fn notes(args: &[String], told: bool) -> Option<Disarm> {
    let ours = told || args.iter().any(|word| names_refs(word) || word == "--ref=andon" || word == "andon");
    let reads = args.iter().any(|word| matches!(word.as_str(), "show" | "list" | "get-ref"));
    (ours && !reads).then_some(Disarm::Refs)
}

/// An alias that starts a shell.
fn aliased(word: &str, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let value = if word.starts_with("alias.") { word.split_once('=')?.1 } else { word };
    below(value.strip_prefix('!')?, guarded, depth.checked_sub(1)?)
}

/// Reading a value is no harm; without a value behind the key it is read.
fn config(args: &[String], guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let options = || args.iter().filter(|word| word.starts_with('-'));
    let plain: Vec<&String> = args.iter().filter(|word| !word.starts_with('-')).collect();
    let verb = plain.first().map(|word| word.as_str());
    let reading = |word: &String| word.starts_with("--get") || word == "--list" || word == "-l";
    if matches!(verb, Some("get" | "list")) || options().any(reading) {
        return None;
    }
    let edits = args.iter().any(|word| matches!(word.as_str(), "-e" | "--edit")) || verb == Some("edit");
    let section = args.iter().any(|word| word.contains("-section"))
        && args.iter().any(|word| word == "core" || word.starts_with("hook.andon"));
    let told = |word: &&String| names_hooks(word) || word.to_ascii_lowercase().starts_with("include");
    let unset = args.iter().any(|word| word.contains("unset"));
    let written = plain.iter().any(told) && (unset || plain.len() > 1);
    if edits || section || written {
        return Some(Disarm::HooksPath);
    }
    let notes = plain.iter().any(|word| word.eq_ignore_ascii_case("core.notesref"));
    if notes && plain.iter().any(|word| names_refs(word)) {
        return Some(Disarm::Refs);
    }
    plain.iter().find_map(|word| aliased(word, guarded, depth))
}
