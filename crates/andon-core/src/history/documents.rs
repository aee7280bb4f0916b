//! Work on documents as progress of its own (docs/spec-map.md, loop safety: docs progress): a loop that plans or writes is not idle.

use super::timeline::{Iteration, Timeline};

/// What an iteration did to documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocsProgress {
    /// It changed none, or nothing is known of it.
    None,
    /// It brought them into a state that the window has seen before, or ticked items off again.
    Back,
    /// It brought a text that the window has not seen.
    NewText,
    /// More items of their checklists are ticked than before.
    Ticked,
}

impl Timeline {
    /// What `iteration` of this window did to documents.
    pub fn docs_progress(&self, iteration: &Iteration) -> DocsProgress {
        let docs = |one: &Iteration| one.change.as_ref().and_then(|change| change.docs);
        let Some(now) = docs(iteration) else { return DocsProgress::None };
        let seen = self
            .iterations
            .iter()
            .take_while(|one| !std::ptr::eq(*one, iteration))
            .filter_map(docs)
            .any(|before| before.hash == now.hash);
        if seen || now.now.done < now.was.done {
            DocsProgress::Back
        } else if now.now.done > now.was.done {
            DocsProgress::Ticked
        } else {
            DocsProgress::NewText
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{commit, timeline};

    #[test]
    fn new_texts_and_ticks_are_progress_and_old_texts_are_none() {
        let line = timeline(vec![
            commit(1),
            commit(1).docs(1, (0, 3), (0, 3)),
            commit(1).docs(2, (0, 3), (1, 3)),
            commit(1).docs(3, (1, 3), (0, 3)),
            commit(1).docs(2, (0, 3), (1, 3)),
        ]);
        let found: Vec<DocsProgress> = line.iterations.iter().map(|one| line.docs_progress(one)).collect();
        let wanted = [
            DocsProgress::None,
            DocsProgress::NewText,
            DocsProgress::Ticked,
            DocsProgress::Back,
            DocsProgress::Back,
        ];
        assert_eq!(found, wanted);
    }
}
