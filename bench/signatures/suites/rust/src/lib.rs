//! A crate whose tests fail in many ways.
@S@
/// Adds.
///
/// ```
/// assert_eq!(sample::add(1, @V@), 0);
/// ```
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The boundary of a call: fails below the test.
pub fn deep(level: u32) -> Result<u32, std::num::ParseIntError> {
    if level == 0 { "no number".parse() } else { deep(level - 1) }
}
@S@
#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};
    use std::time::{Duration, Instant, SystemTime};

    #[test]
    fn passes() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn value_of_a_sum() {
        println!("started at {:?}", SystemTime::now());
        assert_eq!(add(1, 2), @V@);
    }

    #[test]
    fn value_in_a_message() {
        assert!(add(1, 1) == 3, "the sum of {} is not {}", 1, @V@);
    }
@S@
    #[test]
    fn kind_of_error() {
        let parsed = "x".parse::<@K@>();
        parsed.map(|_| ()).unwrap();
    }

    #[test]
    fn renamed@N@() {
        panic!("the same words");
    }

    #[test]
    fn unwrap_on_none() {
        let nothing: Option<u8> = None;
        nothing.unwrap();
    }

    #[test]
    fn deep_error() {
        deep(5).expect("could not go deep");
    }

    #[test]
    fn address_of_a_box() {
        let boxed = Box::new(7);
        panic!("the box is at {:p}", boxed);
    }

    #[test]
    fn temporary_file() {
        let name = format!("{}/run-{}", std::env::temp_dir().display(), std::process::id());
        std::fs::create_dir_all(&name).unwrap();
        let path = format!("{name}/settings.json");
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
    }

    #[test]
    fn project_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/missing.txt");
        panic!("cannot open {path}");
    }

    #[test]
    fn time_now() {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        panic!("late: now is {} ms", since.as_millis());
    }

    #[test]
    fn elapsed() {
        let start = Instant::now();
        std::thread::sleep(Duration::from_micros(1500));
        panic!("too slow: {:?}", start.elapsed());
    }
@S@
    #[test]
    fn unordered_set() {
        let set: HashSet<&str> = ["ann", "bob", "cid", "dan"].into_iter().collect();
        assert!(set.is_empty(), "left over: {set:?}");
    }

    #[test]
    fn unordered_map() {
        let map: HashMap<&str, u8> = [("ann", 1), ("bob", 2), ("cid", 3)].into_iter().collect();
        panic!("left over: {map:#?}");
    }

    #[test]
    fn port_in_use() {
        let one = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = one.local_addr().unwrap();
        std::net::TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    }

    #[test]
    fn subprocess() {
        let child = std::process::Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let pid = child.id();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "child (pid {pid}) ended with {}", output.status);
    }

    #[test]
    fn thread_panics() {
        let worker = std::thread::Builder::new().name("worker".into()).spawn(|| panic!("in a thread"));
        worker.unwrap().join().unwrap();
    }

    #[test]
    #[should_panic(expected = "other words")]
    fn wrong_panic() {
        panic!("these words");
    }

    #[test]
    #[should_panic]
    fn no_panic() {}

    #[test]
    fn lines_of_text() {
        let text = "one\ntwo\nvalue\n";
        assert_eq!(text, "one\ntwo\nother\n");
    }

    #[test]
    fn returns_an_error() -> Result<(), Box<dyn std::error::Error>> {
        deep(2)?;
        Ok(())
    }

    mod nested {
        mod deeper {
            #[test]
            fn value_in_a_nested_suite() {
                assert_ne!(@V@, @V@);
            }
        }
    }
}
