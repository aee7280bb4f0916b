//! Systems on which nothing tells what happens to the working tree: there is never a watch, and the whole look is
//! taken. `watch` is what this stands for on Linux.

pub(crate) mod events;

use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::open::repo::Repo;
use crate::watch::events::Events;
use andon_core::domain::tests::OverlayEntry;

/// A working tree under watch: there is none.
#[derive(Debug)]
pub struct Watch(Infallible);

impl Repo {
    /// Nothing can be watched here.
    pub fn watch(&self) -> Option<Watch> {
        None
    }
}

impl Watch {
    /// The directories in which `entries` lie and that are not watched.
    pub fn unwatched(&self, _entries: &[OverlayEntry]) -> BTreeSet<Vec<u8>> {
        match self.0 {}
    }

    /// Ends the watch.
    pub fn end(self) -> Ended {
        match self.0 {}
    }
}

/// A watch that is over: there was none.
#[derive(Debug)]
pub struct Ended(Infallible);

impl Ended {
    /// What the watch saw: nothing, on systems without one.
    pub fn events(self, _repo: &Repo, _first: &[OverlayEntry]) -> Option<Events> {
        match self.0 {}
    }
}
