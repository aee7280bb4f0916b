//! Mutates what Andon keeps, for as long as one likes, and sees that reading it ends well: `bench/fuzz/run.sh`.
//!
//! `fuzz-stores GROUP SECONDS SEED`, where GROUP is one of `records` (lines of notes, their choice and their union),
//! `journal` (lines, whole files, and the event stream), `ledger` (entries, in a repository), `caches` (the files of
//! `.git/andon`: window, fingerprints, other clones' halts, receipts, writer, lock notes), `totals` (what the journal comes
//! to), `objects` (loose objects) or `config`. What must hold is said beside each; what does not is printed with the bytes
//! that showed it, and ends the run with 1.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used, clippy::unwrap_used)] // a tool for people at a terminal

mod mutate;
mod objects;
mod totals;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use andon_config::{self as config, ConfigSource, Layer};
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{CodeId, CommitId, PathRules, Timestamp, TreeId};
use andon_engine::adapter::{Frame, Purpose, events};
use andon_git::{MODE_FILE, NewCommit, Repo, RepoEnv, TreeEntry, Update};
use andon_store::wire::v1::{choose_record, decode_commit, decode_line, encode_commit, encode_line};
use andon_store::{
    DerivedFacts, Fingerprinter, Journal, Ledger, NotesStore, Position, Reach, WindowVerdict, notes, receipt,
    union, window,
};
use mutate::{Dice, mutate};

const FULL: &[u8] = include_bytes!("../../tests/format/v1/commit-full.json");
const MINIMAL: &[u8] = include_bytes!("../../tests/format/v1/commit-minimal.json");
const NEWER: &[u8] = include_bytes!("../../tests/format/v1/commit-newer-minor.json");
const JOURNAL: &[u8] = include_bytes!("../../tests/format/v1/journal.jsonl");
const HALTED: &[u8] = include_bytes!("../../tests/format/v1/ledger-halted.json");
const ANSWERED: &[u8] = include_bytes!("../../tests/format/v1/ledger-acknowledged.json");

/// What is put in somewhere: what JSON, TOML and our own files are made of, and what trips their readers.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "false",
    "-1",
    "0",
    "18446744073709551615",
    "-9223372036854775808",
    "9223372036854775807",
    "1e999",
    "NaN",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "\u{2028}",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":{",
    "0000000000000000000000000000000000000000",
    "\"schema\":\"andon/commit@2\"",
    "\"schema\":\"andon/commit@1\"",
    "\"gate\":\"passed\"",
    "\"truncated\":true",
    "\"recorded_at\":\"9999-12-31T23:59:59Z\"",
    "\"1970-01-01T00:00:00Z\"",
    "\"type\":\"test_run\"",
    "\"type\":\"ack\"",
    "\"type\":\"tool_call\"",
    "\"type\":\"healed\"",
    "\"args\":{}",
    "[rules]\n",
    "[guard]\n",
    "[test]\n",
    "command = ",
    "= \"\"\"",
    "\"halt\"",
    "{ level = \"warn\", max = 3 }",
    "[[workflow.nodes]]\n",
    "name = \"a\"\n",
    "'(?:a*)*b'",
    "session_gap = \"6h\"\n",
    "**/*.md",
    "end\n",
    " - -\n",
    "refs/notes/andon -\n",
];

const CONFIG: &str = "[guard]\nack = \"resume\"\nsession_gap = \"6h\"\n[test]\ncommand = [\"sh\", \"-c\", \"true\"]\n\
    reports = [\"target/**/junit.xml\"]\ntimeout = \"30m\"\n[paths]\ndocs = [\"**/*.md\"]\nignore = [\"**/*.log\"]\n\
    [rules]\nuntested-edit = \"block\"\niteration-cap = { max = 100 }\ntool-loop = { level = \"halt\", soft = 3, hard = 5 }\n\
    [normalize]\nbuild = 'build \\d+'\n[workflow]\n[[workflow.nodes]]\nname = \"coder\"\nauthor = \"*\"\n";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [group, seconds, seed] = arguments.as_slice() else { panic!("fuzz-stores GROUP SECONDS SEED") };
    let (seconds, seed): (u64, u64) = (seconds.parse().expect("SECONDS"), seed.parse().expect("SEED"));
    std::panic::set_hook(Box::new(|panic| println!("{panic}")));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut dice = Dice::new(seed);
    let (runs, faults) = match group.as_str() {
        "records" => loops(end, &mut dice, &[FULL, MINIMAL, NEWER], records),
        "journal" => journal(end, &mut dice),
        "ledger" => ledger(end, &mut dice),
        "caches" => caches(end, &mut dice),
        "totals" => totals::totals(end, &mut dice),
        "objects" => objects::objects(end, &mut dice),
        "config" => {
            let template = config::template(None);
            loops(end, &mut dice, &[CONFIG.as_bytes(), template.as_bytes()], configuration)
        }
        other => panic!("no group {other}"),
    };
    println!("{group}: {runs} executions in {seconds} s, seed {seed}: {faults} faults");
    std::process::exit(i32::from(faults > 0));
}

/// Mutants of the seeds, one after the other.
fn loops(
    end: Instant,
    dice: &mut Dice,
    seeds: &[&[u8]],
    mut try_one: impl FnMut(&[u8], &mut Dice) -> Result<(), String>,
) -> (u64, u64) {
    let (mut runs, mut faults) = (0, 0);
    while Instant::now() < end && faults < 5 {
        let mutant = mutant(seeds, dice);
        let tried = catch_unwind(AssertUnwindSafe(|| try_one(&mutant, dice)));
        runs += 1;
        let what = match tried {
            Ok(Ok(())) => continue,
            Ok(Err(what)) => what,
            Err(_) => "it panicked".to_owned(),
        };
        faults += 1;
        println!("{what}\n  {}", mutant.escape_ascii());
    }
    (runs, faults)
}

fn mutant(seeds: &[&[u8]], dice: &mut Dice) -> Vec<u8> {
    let mut mutant = seeds[dice.roll(seeds.len())].to_vec();
    let other = seeds[dice.roll(seeds.len())];
    for _ in 0..=dice.roll(6) {
        mutate(&mut mutant, other, TOKENS, dice);
    }
    mutant.truncate(256 * 1024);
    mutant
}

fn holds(condition: bool, what: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

/// A record that is read is written as what is read again; the union of two notes is one, in any order.
fn records(bytes: &[u8], _: &mut Dice) -> Result<(), String> {
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(read) = decode_commit(line) else { continue };
        let written = encode_commit(&read.record, &read.extra);
        let again =
            decode_commit(written.trim_end().as_bytes()).map_err(|err| format!("not read again: {err}"))?;
        holds(again.record == read.record, "read again otherwise")?;
        holds(!written.trim_end().contains('\n'), "more than a line")?;
    }
    choose_record(bytes, &DerivedFacts::default());
    let joined = union::joined(bytes, FULL);
    holds(joined == union::joined(FULL, bytes), "the union depends on the order")?;
    holds(union::joined(&joined, bytes) == joined, "the union grows when it is repeated")
}

/// What is written of a line is the line; a broken one costs itself, and no other.
fn journal(end: Instant, dice: &mut Dice) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let file = Journal::open(dir.path()).path();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let events = b"{\"type\":\"tool_call\",\"tool\":\"Edit\",\"args\":{\"file_path\":\"a\"},\"result\":\"ok\",\"error\":false}\n\
        {\"type\":\"usage\",\"context_tokens\":150000,\"cost_usd\":\"0.03\"}\n{\"type\":\"turn_end\",\"node\":\"coder\"}\n";
    let patterns = Normalizer::new(&[]).unwrap();
    loops(end, dice, &[JOURNAL, events], |bytes, dice| {
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(read) = decode_line(line) {
                let written = encode_line(&read);
                let again = decode_line(written.trim_end().as_bytes())
                    .map_err(|err| format!("not read again: {err}"))?;
                holds(again == read, "read again otherwise")?;
            }
            let (now, purpose) = (Timestamp(2_000_000_000), Purpose::Replay);
            let frame = Frame { now, kind: None, purpose, patterns: &patterns };
            let _ = events::parse(line, frame);
        }
        if dice.roll(8) == 0 {
            fs::write(&file, bytes).unwrap();
            let journal = Journal::open(dir.path());
            let (lines, warnings) = journal.read_tail();
            let count =
                bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
            holds(lines.len() + warnings.len() <= count, "more lines than there are")?;
            let recent =
                journal.recent(Reach { runs: 8, commits: 8, turns: 8, since: Some(Position::START) });
            holds(recent.runs.len() <= count, "more runs than lines")?;
            let _ = journal.newest_run_since(dice.roll(bytes.len() + 1) as u64);
        }
        Ok(())
    })
}

/// Every set of bytes is a configuration, or is refused with at least one place and hint.
fn configuration(bytes: &[u8], _: &mut Dice) -> Result<(), String> {
    let source =
        ConfigSource { layer: Layer::Repository, name: "andon.toml".to_owned(), text: bytes.to_vec() };
    match config::load(&[source]) {
        Ok(_) => Ok(()),
        Err(errors) => {
            holds(!errors.errors.is_empty(), "refused without a reason")?;
            holds(errors.errors.iter().all(|error| !error.help.is_empty()), "an error without a hint")
        }
    }
}

/// A repository in memory where there is such a place.
struct Ground {
    dir: tempfile::TempDir,
    repo: Repo,
}

impl Ground {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let init = Command::new("git").args(["init", "-q", "."]).current_dir(dir.path()).status().unwrap();
        assert!(init.success());
        let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
        Self { dir, repo }
    }

    fn commit(&self, name: &str, bytes: &[u8], parents: &[CommitId]) -> CommitId {
        let id = self.repo.write_blob(bytes).unwrap();
        let entry = TreeEntry { name: name.into(), mode: MODE_FILE, id };
        let tree = self.repo.write_tree_entries(&[entry]).unwrap();
        let new = NewCommit { tree, parents, message: "m", at: Timestamp(1_700_000_000) };
        self.repo.write_commit(&new).unwrap()
    }

    fn point(&self, name: &str, to: CommitId) {
        self.repo.update_ref(name, "fuzz", |_| Ok(Update::Set(to, ()))).unwrap();
    }
}

/// A good entry, a mutant above it, and a good one above that: the good ones are read, whatever the mutant is.
fn ledger(end: Instant, dice: &mut Dice) -> (u64, u64) {
    let (mut runs, mut faults) = (0, 0);
    while Instant::now() < end && faults == 0 {
        // A fresh one now and then: loose objects pile up.
        let ground = Ground::new();
        let until = end.min(Instant::now() + Duration::from_secs(10));
        let (more, found) = loops(until, dice, &[HALTED, ANSWERED], |bytes, _| {
            let good = ground.commit("entry.json", HALTED, &[]);
            ground.point("refs/andon/ledger/0123456789abcdef", good);
            ground.point("refs/andon/ledger/fedcba9876543210", ground.commit("entry.json", bytes, &[good]));
            let ledger = Ledger::open(&ground.repo);
            let (entries, warnings) = ledger.read_all().map_err(|err| err.to_string())?;
            holds(!entries.is_empty(), "a broken entry takes a good one with it")?;
            holds(entries.len() + warnings.len() >= 2, "an entry is gone without a word")?;
            let _ = (ledger.tampered(), ledger.standing("main"), ledger.unanswered("main", Some(good)));
            Ok(())
        });
        runs += more;
        faults += found;
    }
    (runs, faults)
}

/// What a good cache answers.
struct Truth {
    tree: TreeId,
    head: CommitId,
    code: CodeId,
    facts: usize,
}

/// A cache that is cut short answers as if it was not there; any other damage costs nothing but time, or is seen.
fn caches(end: Instant, dice: &mut Dice) -> (u64, u64) {
    let ground = Ground::new();
    let rules = PathRules::new(&["**/*.md".to_owned()], &[]).unwrap();
    let truth = prepare(&ground, &rules);
    let files: Vec<(PathBuf, Vec<u8>)> = files_below(&ground.dir.path().join(".git/andon"));
    assert!(files.len() >= 5, "{files:?}");
    let (mut runs, mut faults) = (0, 0);
    while Instant::now() < end && faults < 5 {
        let (path, good) = &files[dice.roll(files.len())];
        let other = &files[dice.roll(files.len())].1;
        let cut = dice.roll(3) == 0;
        let mut bytes = good.clone();
        if cut {
            bytes.truncate(dice.roll(good.len()));
        } else {
            for _ in 0..=dice.roll(6) {
                mutate(&mut bytes, other, TOKENS, dice);
            }
        }
        let _ = fs::remove_file(path);
        fs::write(path, &bytes).unwrap();
        let tried = catch_unwind(AssertUnwindSafe(|| read_all(&ground, &rules, &truth, cut)));
        runs += 1;
        for (path, good) in &files {
            fs::write(path, good).unwrap();
        }
        let what = match tried {
            Ok(Ok(())) => continue,
            Ok(Err(what)) => what,
            Err(_) => "it panicked".to_owned(),
        };
        faults += 1;
        println!("{}: {what}\n  {}", path.display(), bytes.escape_ascii());
    }
    (runs, faults)
}

fn prepare(ground: &Ground, rules: &PathRules) -> Truth {
    let repo = &ground.repo;
    let head = ground.commit("code.txt", b"1\n", &[]);
    let tree = repo.tree_of(head).unwrap();
    ground.point("refs/heads/fuzz", head);
    let mut record = decode_commit(FULL).unwrap().record;
    (record.tree, record.parent, record.iteration) = (tree, None, 1);
    let mut notes = NotesStore::open(repo).unwrap();
    notes.put(&[(head, record)], Timestamp(1_700_000_000)).unwrap();
    let known = window::read_window(repo, &notes, Some(head), 20);
    window::remember(repo, &notes, head, &known, WindowVerdict { max: 20, settled: Some(0) });
    let code = Fingerprinter::new(repo, rules).of_tree(tree).unwrap();
    let entry = ground.commit("entry.json", HALTED, &[]);
    ground.point("refs/andon/ledger/fedcba9876543210", entry);
    let ledger = Ledger::open(repo);
    ledger.writer_id().unwrap();
    let _ = ledger.unanswered("main", Some(head));
    let passed = receipt::Receipt { tree, head: Some(head), skipped: Vec::new(), asked_by: Vec::new() };
    receipt::write(repo.git_dir(), &passed, Timestamp(1_700_000_000)).unwrap();
    fs::write(repo.git_dir().join("andon/writing"), "refs/notes/andon -\n").unwrap();
    Truth { tree, head, code, facts: known.facts.len() }
}

fn read_all(ground: &Ground, rules: &PathRules, truth: &Truth, cut: bool) -> Result<(), String> {
    let repo = Repo::open(ground.dir.path(), &RepoEnv::default()).map_err(|err| err.to_string())?;
    let notes = NotesStore::open(&repo).map_err(|err| err.to_string())?;
    let window = window::read_window(&repo, &notes, Some(truth.head), 20);
    holds(!cut || window.facts.len() == truth.facts, "a window that was cut is used")?;
    let _ = window::settled(&repo, truth.head, 20);
    let code = Fingerprinter::new(&repo, rules).of_tree(truth.tree).map_err(|err| err.to_string())?;
    holds(!cut || code == truth.code, "fingerprints that were cut are used")?;
    let receipts = receipt::read(repo.git_dir());
    holds(
        !cut || receipts.iter().all(|one| one.tree == truth.tree),
        "a receipt that was cut names another tree",
    )?;
    let ledger = Ledger::open(&repo);
    let _ = (ledger.standing("main"), ledger.unanswered("main", Some(truth.head)), ledger.writer_id());
    let moved = repo.update_ref("refs/andon/fuzz", "fuzz", |_| Ok(Update::Set(truth.head, ())));
    moved.map_err(|err| err.to_string())?;
    holds(repo.ref_target(notes::REF).is_ok_and(|found| found.is_some()), "the records are gone")
}

fn files_below(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files_below(&entry));
        } else {
            let bytes = fs::read(&entry).unwrap();
            found.push((entry, bytes));
        }
    }
    found
}
