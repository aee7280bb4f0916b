//! Named points at which a test lets the process die as by `kill -9`, or panic, so that every half-done state is reached
//! on purpose. Set from `ANDON_TEST_STOP` by `engine::context`; a release build has neither the variable nor the points.
//!
//! Here, at the bottom of what has side effects, so that each of them can name its own points.

use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
static PASSED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Where, at which passing, and how.
struct Armed {
    name: String,
    times: u32,
    end: End,
}

/// What happens at a point.
enum End {
    Signal(Signal),
    Panic,
}

/// Has the process die at the point of that name: `NAME`, or `NAME#3` for the third time it is passed. `NAME=stop` only
/// stops it, as by `kill -STOP`; `NAME=panic` has it panic there.
pub fn arm(point: Option<&str>) {
    let parsed = point.map(|text| {
        let (text, end) = match text.split_once('=') {
            Some((text, "stop")) => (text, End::Signal(Signal::SIGSTOP)),
            Some((text, "panic")) => (text, End::Panic),
            Some(_) | None => (text, End::Signal(Signal::SIGKILL)),
        };
        let (name, times) = text.split_once('#').unwrap_or((text, "1"));
        Armed { name: name.to_owned(), times: times.parse().unwrap_or(1), end }
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
    let Some(Some(armed)) = ARMED.get() else { return };
    if armed.name == name && PASSED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == armed.times {
        match armed.end {
            End::Signal(signal) => {
                let _ = kill(Pid::this(), signal);
            }
            End::Panic => panic!("armed by ANDON_TEST_STOP"),
        }
    }
}
