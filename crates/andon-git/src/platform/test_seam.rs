//! The one way in for tests that drive the whole program: points at which it dies, a clock and a start of the system that
//! are set. Only a debug build has it: an agent must not be able to leave a window by setting the clock of its guard.

use std::sync::atomic::{AtomicU32, Ordering};
use std::{collections::BTreeMap, sync::OnceLock};

use crate::platform::processes;

/// This build has the way in.
const OPEN: bool = cfg!(debug_assertions);

static ARMED: OnceLock<Option<ArmedSeam>> = OnceLock::new();
static PASSED: AtomicU32 = AtomicU32::new(0);

/// The place, at which passing it acts, and how.
struct ArmedSeam {
    name: String,
    times: u32,
    end: End,
}

/// The end of a process at a point.
enum End {
    Death,
    Stop,
    Panic,
}

/// A variable that tests set, such as `ANDON_TEST_NOW`.
pub fn variable<'a>(vars: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    if OPEN { vars.get(name).map(String::as_str) } else { None }
}

/// Has the process die at the point that `ANDON_TEST_STOP` names: `NAME`, or `NAME#3` for the third time it is passed.
/// `NAME=stop` only stops it, as by `kill -STOP`; `NAME=panic` has it panic there.
pub fn arm(vars: &BTreeMap<String, String>) {
    let parsed = variable(vars, "ANDON_TEST_STOP").map(|text| {
        let (text, end) = match text.split_once('=') {
            Some((text, "stop")) => (text, End::Stop),
            Some((text, "panic")) => (text, End::Panic),
            Some(_) | None => (text, End::Death),
        };
        let (name, times) = text.split_once('#').unwrap_or((text, "1"));
        ArmedSeam { name: name.to_owned(), times: times.parse().unwrap_or(1), end }
    });
    // Only the first setting counts; there is one context a process.
    let _ = ARMED.set(parsed);
}

/// A point at which a test may have the process die as by `kill -9`, or panic, so that every half-done state is reached on
/// purpose.
#[inline]
pub fn stop_point(name: &'static str) {
    if OPEN {
        die_at(name);
    }
}

fn die_at(name: &str) {
    let Some(Some(armed)) = ARMED.get() else { return };
    if armed.name == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == armed.times {
        match armed.end {
            End::Death => processes::die(),
            End::Stop => processes::stop(),
            End::Panic => panic!("armed by ANDON_TEST_STOP"),
        }
    }
}
