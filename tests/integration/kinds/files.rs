//! What names and contents of files can be like.

use std::os::unix::{ffi::OsStrExt as _, fs::symlink};
use std::{ffi::OsStr, path::PathBuf};

use insta::assert_snapshot;

use super::Kind;
use crate::support::andon_path;

#[test]
fn paths_that_are_not_utf_8() {
    let kind = Kind::init(&[]);
    let path = kind.dir.join(OsStr::from_bytes(b"caf\xe9 \n\xff\x1b[31m.txt"));
    std::fs::write(&path, "1\n").unwrap();
    kind.git(&["add", "."]).ok();
    kind.git(&["commit", "-qm", "Odd names"]).ok();
    kind.adopt();
    kind.work(|| std::fs::write(&path, "2\n").unwrap());
    std::fs::write(&path, "3\n").unwrap();
    let out = kind.git(&["commit", "-qam", "Untested"]).lacks("\u{1b}");
    assert_snapshot!(out.shown(), @r"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed after the tests ran: caf� \n�\u{1b}[31m.txt
      help: andon test
    ");
    assert!(out.stderr.lines().count() <= 4, "{out}");
}

#[test]
fn directories_that_a_shell_would_trip_over() {
    for name in [&b"re po\n'$(touch x)`"[..], b"r\xe9po", b"-rf", b"\"\\"] {
        let mut kind = Kind::init(&[]);
        let dir: PathBuf = kind.beside("").join(OsStr::from_bytes(name));
        std::fs::rename(&kind.dir, &dir).unwrap();
        kind.dir = dir;
        kind.job();
        assert!(!kind.dir.join("x").exists() && !kind.beside("x").exists());
    }
}

#[test]
fn names_that_differ_in_case_and_composition_only() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.ignoreCase", "true"]).ok();
    kind.git(&["config", "core.precomposeUnicode", "true"]).ok();
    for name in ["u\u{308}.txt", "\u{fc}.txt", "README"] {
        kind.write(name, "1\n");
    }
    kind.git(&["add", "."]).ok();
    kind.git(&["commit", "-qm", "Names"]).ok();
    kind.adopt();
    kind.work(|| {
        kind.git(&["mv", "-f", "README", "Readme"]).ok();
    });
    kind.work(|| kind.write("u\u{308}.txt", "2\n"));
}

#[test]
fn symbolic_links_and_files_in_their_place() {
    let kind = Kind::init(&[]);
    let link = kind.dir.join("link");
    symlink("code.txt", &link).unwrap();
    symlink("nowhere", kind.dir.join("dangling")).unwrap();
    symlink("/", kind.dir.join("root")).unwrap();
    kind.git(&["add", "."]).ok();
    kind.git(&["commit", "-qm", "Links"]).ok();
    kind.adopt();
    let point_to = |target: &str| {
        std::fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
    };
    kind.work(|| point_to("tests.txt"));
    // Where links are files that hold their target.
    kind.git(&["config", "core.symlinks", "false"]).ok();
    kind.git(&["checkout", "-q", "-f", "HEAD"]).ok();
    kind.work(|| {
        std::fs::remove_file(&link).unwrap();
        kind.write("link", "check.sh");
    });
    kind.git(&["ls-tree", "HEAD", "link"]).ok().says("120000");
}

#[test]
fn line_ends_that_git_converts() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.safecrlf", "false"]).ok();
    kind.git(&["config", "core.autocrlf", "true"]).ok();
    kind.write(".gitattributes", "* text=auto eol=crlf\n*.sh eol=lf\ntests.txt eol=lf\n");
    kind.write("code.txt", "a\r\nb\r\n");
    kind.git(&["add", "."]).ok();
    kind.git(&["add", "--renormalize", "."]).ok();
    kind.git(&["commit", "-qm", "Line ends"]).ok();
    kind.adopt();
    kind.work(|| kind.write("code.txt", "a\r\nc\r\n"));
    // Another line end on disk is the same code.
    kind.write("code.txt", "a\nc\n");
    kind.andon(&["status"]).ok().says("work tree: 2 passed");
}

#[test]
fn contents_that_a_filter_swaps_for_pointers() {
    let kind = Kind::init(&[]);
    let filter = "#!/bin/sh\nif [ \"$1\" = clean ]; then cat > $$; printf 'version https://git-lfs.github.com/spec/v1\\noid \
                  sha256:%s\\nsize %s\\n' \"$(sha256sum < $$ | cut -c-64)\" \"$(stat -c %s $$)\"; rm $$; else cat; fi\n";
    let script = kind.beside("filter.sh");
    std::fs::write(&script, filter).unwrap();
    for side in ["clean", "smudge"] {
        let command = format!("sh '{}' {side}", script.display());
        kind.git(&["config", &format!("filter.lfs.{side}"), &command]).ok();
    }
    kind.git(&["config", "filter.lfs.required", "true"]).ok();
    kind.write(".gitattributes", "*.dat filter=lfs diff=lfs merge=lfs -text\n");
    kind.write("a.dat", "payload");
    kind.git(&["add", "."]).ok();
    kind.git(&["commit", "-qm", "Pointers"]).ok();
    kind.adopt();
    kind.work(|| kind.write("a.dat", "payload 2"));
    kind.git(&["show", "HEAD:a.dat"]).ok().says("oid sha256:");
    // What is stored is known: the filter itself is not asked.
    std::fs::remove_file(&script).unwrap();
    kind.write("a.dat", "payload 3");
    kind.andon(&["test"]).ok().lacks("warning");
    kind.git(&["commit", "-qam", "Without the filter"]).refused().says("a.dat");
}

/// All of Andon runs in less memory than the file has bytes.
#[test]
fn a_file_that_is_larger_than_the_memory() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.compression", "1"]).ok();
    // Git streams it, as it does with half a gigabyte by default.
    kind.git(&["config", "core.bigFileThreshold", "64m"]).ok();
    kind.adopt();
    let file = std::fs::File::create(kind.dir.join("big.bin")).unwrap();
    file.set_len(1 << 28).unwrap();
    drop(file);
    kind.git(&["add", "big.bin"]).ok();
    let andon = andon_path();
    let bounded = |args: &str| kind.sh(&format!("ulimit -v 240000; exec '{}' {args}", andon.display()));
    assert_snapshot!(bounded("hook pre-commit").shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran without big.bin, which is in the commit
      help: andon test --staged
    ");
    bounded("test").ok();
    kind.git(&["-c", "core.hooksPath=no-hooks", "commit", "-qm", "Big"]).ok();
    bounded("hook post-commit").ok();
    bounded("status").ok().says("HEAD: 2 passed");
    bounded("replay HEAD~1..HEAD").ok();
    assert_snapshot!(bounded("check HEAD~1..HEAD").lacks("edited-record").brief(), @"
    exit 1, stdout: error[bypassed]: the commit bypassed the gate (--no-verify) --> HASH Big
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
}
