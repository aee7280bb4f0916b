//! Reads one JUnit XML file with one of the peers and says what that took: time, size, peak memory, cases.

use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (peer, path) = (arguments.next().unwrap(), arguments.next().unwrap());
    let size = std::fs::metadata(&path).unwrap().len();
    let started = Instant::now();
    let cases = match peer.as_str() {
        "junit-parser" => junit_parser(&path),
        "roxmltree" => roxmltree(&path),
        other => panic!("no such peer: {other}"),
    };
    println!("{:.6} {size} {} {cases}", started.elapsed().as_secs_f64(), peak());
}

fn junit_parser(path: &str) -> usize {
    let reader = BufReader::with_capacity(64 * 1024, File::open(path).unwrap());
    let suites = junit_parser::from_reader(reader).unwrap();
    suites.suites.iter().map(count).sum()
}

fn count(suite: &junit_parser::TestSuite) -> usize {
    suite.cases.len() + suite.suites.iter().map(count).sum::<usize>()
}

fn roxmltree(path: &str) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let options = roxmltree::ParsingOptions { nodes_limit: u32::MAX, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
    document.descendants().filter(|node| node.has_tag_name("testcase")).count()
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
