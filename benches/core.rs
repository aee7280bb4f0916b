//! What the rules, the folds and the formats cost, without git around them. Run with `cargo bench`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up must fail")]

use std::hint::black_box;

use andon_config::{self as config, ConfigSource, Layer};
use andon_core::change::normalize::Normalizer;
use andon_core::detect::{self, Situation, Stops};
use andon_core::domain::{
    CodeId, CommitFact, CommitId, CommitRecord, DiffHash, DiffSummary, Fact, Gate, Hunk, HunkHash, Oid,
    PathRules, Signature, Span, Stage, TestEvidence, TestStatus, Timestamp, TreeId,
};
use andon_core::history;
use andon_store::UnknownKeys;
use andon_store::wire::v1::{decode_commit, encode_commit};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use testreport::{ExitKind, ReportInput, Root, RunReader, Stream};

fn oid(byte: u8) -> Oid {
    Oid::from_bytes(&[byte; 20]).unwrap()
}

/// One of a window of sixteen: ten hunks, three failing tests.
fn record(byte: u8) -> CommitRecord {
    let hunk = Hunk { removed: HunkHash([byte; 8]), added: HunkHash([byte.wrapping_add(1); 8]) };
    let code = CodeId([byte; 32]);
    let diff = DiffSummary {
        hash: DiffHash([byte; 32]),
        empty: false,
        files: 3,
        added: 40,
        removed: 12,
        hunks: vec![hunk; 10],
        truncated: false,
    };
    let recorded_at = Timestamp(1_795_188_600 + i64::from(byte) * 60);
    CommitRecord {
        parent: Some(CommitId(oid(byte.wrapping_sub(1)))),
        gate: Gate::Passed,
        iteration: u64::from(byte),
        tests: Some(TestEvidence {
            total: 120,
            passed: 117,
            failed: 3,
            failing: (0..3).map(|n| format!("module::tests::case_{n}")).collect(),
            runner: "cargo".to_owned(),
            command: "cargo test".to_owned(),
            ..TestEvidence::new(code, TestStatus::Failed, Signature([byte / 4; 32]))
        }),
        ..CommitRecord::new(recorded_at, TreeId(oid(byte)), code, diff)
    }
}

fn window() -> Vec<Fact> {
    (1..=16)
        .map(|byte| {
            let fact = CommitFact {
                id: Some(CommitId(oid(byte))),
                subject: "Try".to_owned(),
                author: String::new(),
                record: record(byte),
                named: None,
            };
            Fact::Commit(Box::new(fact))
        })
        .collect()
}

fn rules(c: &mut Criterion) {
    let (facts, settings) = (window(), detect::defaults());
    c.bench_function("fold 16 records", |b| b.iter(|| history::fold(black_box(&facts), Span(21_600))));
    let timeline = history::fold(&facts, Span(21_600));
    c.bench_function("all rules over 16 iterations", |b| {
        b.iter(|| {
            let situation = Situation {
                timeline: black_box(&timeline),
                stage: Stage::PostCommit,
                candidate: None,
                stops: Stops::NONE,
                episode: None,
            };
            detect::run(&situation, &settings)
        });
    });
}

fn formats(c: &mut Criterion) {
    let line = encode_commit(&record(9), &UnknownKeys::default());
    let mut group = c.benchmark_group("record");
    group.throughput(Throughput::Bytes(line.len() as u64));
    group.bench_function("encode", |b| {
        b.iter(|| encode_commit(black_box(&record(9)), &UnknownKeys::default()));
    });
    group.bench_function("decode", |b| b.iter(|| decode_commit(black_box(line.as_bytes())).unwrap()));
    group.finish();
    let text = config::template(Some("cargo test")).into_bytes();
    let source = ConfigSource { layer: Layer::Repository, name: "andon.toml".to_owned(), text };
    c.bench_function("configuration: load the installed andon.toml", |b| {
        b.iter(|| config::load(std::slice::from_ref(black_box(&source))).unwrap());
    });
}

fn lines(c: &mut Criterion) {
    let rules = PathRules::new(&["**/*.md".into(), "docs/**".into()], &["**/*.log".into()]).unwrap();
    c.bench_function("classify a path", |b| {
        b.iter(|| rules.class(black_box(b"src/detect/rules/oscillation.rs")));
    });
    let normalizer = Normalizer::new(&[]).unwrap();
    let line =
        b"2026-11-20T15:30:00Z request 123e4567-e89b-12d3-a456-426614174000 took 15 ms at 0x7ffd1c2b3a40";
    c.bench_function("normalize a line", |b| b.iter(|| normalizer.line(black_box(line)).len()));
}

/// 10,000 tests, one in a hundred failing.
fn tap() -> Vec<u8> {
    let mut text = String::from("1..10000\n");
    for n in 1..=10_000 {
        let not = if n % 100 == 0 { "not " } else { "" };
        text.push_str(&format!("{not}ok {n} - suite {} > case number {n}\n", n % 37));
    }
    text.into_bytes()
}

fn junit() -> Vec<u8> {
    let mut text = String::from("<testsuite name=\"all\" tests=\"10000\" failures=\"100\">\n");
    for n in 1..=10_000 {
        if n % 100 == 0 {
            text.push_str(&format!(
                "<testcase classname=\"suite{}\" name=\"case {n}\" time=\"0.01\"><failure message=\"expected {n}\">at line {n}</failure></testcase>\n",
                n % 37
            ));
        } else {
            text.push_str(&format!(
                "<testcase classname=\"suite{}\" name=\"case {n}\" time=\"0.01\"/>\n",
                n % 37
            ));
        }
    }
    text.push_str("</testsuite>\n");
    text.into_bytes()
}

fn reports(c: &mut Criterion) {
    let (tap, junit) = (tap(), junit());
    let mut group = c.benchmark_group("report of 10,000 tests");
    group.throughput(Throughput::Bytes(tap.len() as u64));
    group.bench_function("TAP", |b| {
        b.iter_batched(
            || RunReader::new(Root::none()),
            |mut reader| {
                reader.push(Stream::Stdout, black_box(&tap));
                reader.finish(ExitKind::Code(1))
            },
            BatchSize::SmallInput,
        );
    });
    group.throughput(Throughput::Bytes(junit.len() as u64));
    group.bench_function("JUnit XML", |b| {
        b.iter_batched(
            || RunReader::new(Root::none()),
            |mut reader| {
                reader.report(ReportInput { name: "junit.xml", bytes: black_box(&junit) });
                reader.finish(ExitKind::Code(1))
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, rules, formats, lines, reports);
criterion_main!(benches);
