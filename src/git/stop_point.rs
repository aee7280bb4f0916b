//! Named points at which a test lets the process die as by `kill -9`, so that every half-done state is reached on
//! purpose. Set from `ANDON_TEST_STOP` by `ops::context`; a release build has neither the variable nor the points.
//!
//! Here, at the bottom of what has side effects, so that each of them can name its own points.

use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

static ARMED: OnceLock<Option<(String, u32)>> = OnceLock::new();
static PASSED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Has the process die at the point of that name: `NAME`, or `NAME#3` for the third time it is passed.
pub fn arm(point: Option<&str>) {
    let parsed = point.map(|text| match text.split_once('#') {
        Some((name, times)) => (name.to_owned(), times.parse().unwrap_or(1)),
        None => (text.to_owned(), 1),
    });
    // Only the first process-wide setting counts; there is one context a process.
    let _ = ARMED.set(parsed);
}

/// A point.
#[inline]
pub fn pass(name: &'static str) {
    if cfg!(debug_assertions) {
        die_at(name);
    }
}

fn die_at(name: &str) {
    let Some(Some((armed, times))) = ARMED.get() else { return };
    if armed == name && PASSED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == *times {
        let _ = kill(Pid::this(), Signal::SIGKILL);
    }
}
