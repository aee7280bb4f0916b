#!/usr/bin/env python3
"""Whole-process comparison: what the hooks of one `git commit` cost, beside other hook managers.

    bench/hooks.py --andon target/dist/andon --out bench/results.md

Builds repositories of the given sizes, then measures every case in interleaved rounds of one run, and writes
Markdown tables of medians and ratios. Standard library only; the peers come from PyPI into a virtual
environment below the work directory. See bench/README.md.
"""

import argparse
import ctypes
import datetime
import hashlib
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hermetic

PEERS = ["pre-commit==4.7.0", "prek==0.5.11", "lefthook==2.2.2"]
MANAGERS = {
    "none": "no hooks",
    "sh": "a no-op sh hook",
    "sh3": "three no-op sh hooks",
    "prek": "prek, one no-op hook",
    "lefthook": "lefthook, one no-op hook",
    "pre-commit": "pre-commit, one no-op hook",
    "andon": "andon, all its hooks",
}
ANDON_HOOKS = ["pre-commit", "prepare-commit-msg", "post-commit"]
# The window of records that the hooks read is made by the program itself: this many commits.
WINDOW = 10
EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z: records before the window lie far back, in a run of their own

PRE_COMMIT_CONFIG = """\
repos:
  - repo: local
    hooks:
      - {id: noop, name: noop, entry: 'true', language: system, always_run: true, pass_filenames: false}
"""
LEFTHOOK_CONFIG = """\
pre-commit:
  commands:
    noop:
      run: 'true'
"""
ANDON_CONFIG = '[test]\ncommand = "sh tests.sh"\n'
TESTS = "echo 1..1\necho ok 1 - works\n"


def body(number):
    """Twenty lines that no other file has: of files that are alike fast-import makes chains of fifty deltas, and the
    last is what is changed. In cargo's packed repository a file of HEAD lies behind 1.7 deltas, and at most 12."""
    digest = hashlib.sha256(b"file %d" % number).hexdigest()
    return "".join(f"{digest[3 * line:3 * line + 5]} line\n" for line in range(20))


class Bench:
    """The tools, the environment and the scratch directory of one run."""

    def __init__(self, options):
        self.options = options
        self.work = Path(options.work or tempfile.mkdtemp(prefix="andon-bench-")).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.andon = Path(options.andon).resolve() if options.andon else None
        self.git = shutil.which("git")
        self.venv = self.work / "venv"
        self.bin = self.work / "bin"
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        self.env = hermetic.environment(home, self.bin, self.venv / "bin")

    def run(self, *argv, cwd=None, stdin=None):
        """Runs an untimed step; ends the benchmark when it fails."""
        return hermetic.run(self.env, argv, cwd, stdin)

    def install_peers(self):
        if not (self.venv / "bin" / "prek").exists():
            subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
            subprocess.run([self.venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS],
                           check=True)
        # The `lefthook` of PyPI is a Python script around the program: the program itself is what is measured.
        self.bin.mkdir(exist_ok=True)
        program = next((path for path in self.venv.glob("lib/*/site-packages/lefthook/**/lefthook") if path.is_file()),
                       None)
        if program is None:
            sys.exit("the lefthook package holds no program")
        (self.bin / "lefthook").unlink(missing_ok=True)
        (self.bin / "lefthook").symlink_to(program)
        program.chmod(0o755)

    def versions(self):
        rows = {"git": self.run(self.git, "--version").removeprefix("git version ")}
        for peer, option, word in (("prek", "--version", -1), ("pre-commit", "--version", -1), ("lefthook", "version", 0)):
            rows[peer] = self.run(shutil.which(peer, path=self.env["PATH"]), option).split()[word]
        if self.andon:
            rows["andon"] = f"{self.run(self.andon, '--version').split()[-1]}, {self.andon.stat().st_size:,} bytes"
        return rows


class Fixture:
    """One repository with a staged change, and hook directories to put in place."""

    def __init__(self, bench, files, records):
        self.bench, self.files, self.records = bench, files, records
        self.top = bench.work / f"repo-{files}-{records}"
        self.dot = self.top / ".git"
        self.saved = bench.work / f"saved-{files}-{records}"
        self.build()

    def git(self, *argv, stdin=None):
        return self.bench.run(self.bench.git, *argv, cwd=self.top, stdin=stdin)

    def build(self):
        shutil.rmtree(self.top, ignore_errors=True)
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")
        for key, value in (("gc.auto", "0"), ("maintenance.auto", "false")):
            self.git("config", key, value)
        self.git("fast-import", "--quiet", stdin=self.history())
        self.git("reset", "-q", "--hard", "main")
        if self.bench.andon:
            self.fabricate_notes()
        self.install_all()
        self.make_window()
        self.stage()
        if self.bench.andon:
            self.bench.run(self.bench.andon, "test", cwd=self.top)
        self.save()

    def path(self, number):
        """100 files a directory; large repositories have one more level, as they do in life."""
        level = f"p{number // 10_000:03}/" if self.files > 50_000 else ""
        return f"src/{level}d{number // 100:04}/f{number % 100:02}.txt"

    def history(self):
        """A fast-import stream: one commit of all files, then the commits that are older than the window."""
        out = []

        def blob(path, text):
            data = text.encode()
            out.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")

        def commit(number, subject):
            out.append(f"commit refs/heads/main\nmark :{number + 1}\ncommitter Bench <bench@localhost> "
                       f"{EPOCH + 60 * number} +0000\ndata {len(subject)}\n{subject}\n".encode())

        commit(0, "start")
        for number in range(self.files):
            blob(self.path(number), f"file {number}\n" + body(number))
        for path, text in ((".pre-commit-config.yaml", PRE_COMMIT_CONFIG), ("lefthook.yml", LEFTHOOK_CONFIG),
                           ("andon.toml", ANDON_CONFIG), ("tests.sh", TESTS)):
            blob(path, text)
        for number in range(1, self.records - WINDOW + 1):
            commit(number, f"change {number}")
            blob(self.path(number % self.files), f"file {number}, changed\n" + body(number % self.files))
        return b"".join(out)

    def fabricate_notes(self):
        """Records of the old commits, as fast-import's own fanout lays them out."""
        log = self.git("log", "--reverse", "--format=%H %T %P", "main").splitlines()[1:]
        out = []
        if log:
            out.append(b"commit refs/notes/andon\ncommitter Bench <bench@localhost> %d +0000\ndata 5\nnotes\n" % EPOCH)
        before = None
        for number, line in enumerate(log):
            commit, tree, parent = line.split()
            code = hashlib.sha256(b"code %d" % number).hexdigest()
            stamp = datetime.datetime.fromtimestamp(EPOCH + 60 * number, datetime.timezone.utc)
            record = {
                "schema": "andon/commit@1", "recorded_at": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"), "tree": tree,
                "parent": parent, "kind": "normal", "gate": "passed", "node": "agent", "iteration": number % 50 + 1,
                "code": code,
                "diff": {"hash": hashlib.sha256(b"diff %d" % number).hexdigest(), "empty": False, "files": 1, "added": 1,
                         "removed": 1, "hunks": [[f"{number:016x}", f"{number + 1:016x}"]], "truncated": False},
                "tests": {"code": code, "status": "passed", "total": 1, "passed": 1, "failed": 0, "errored": 0,
                          "skipped": 0, "signature": hashlib.sha256(b"green").hexdigest(), "failing": [],
                          "runner": "tap", "command": "sh tests.sh"},
            }
            if before:
                record["prev"] = hashlib.sha256(before).hexdigest()
            before = json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"
            out.append(b"N inline %s\ndata %d\n%s\n" % (commit.encode(), len(before), before))
        if out:
            self.git("fast-import", "--quiet", stdin=b"".join(out))

    def install_all(self):
        """One hook directory per case, made by each tool's own installer."""
        hooks = self.dot / "hooks"
        shutil.rmtree(hooks, ignore_errors=True)
        for name in MANAGERS:
            if name == "andon" and not self.bench.andon:
                continue
            hooks.mkdir()
            if name in ("sh", "sh3"):
                # Three: what a commit pays for the hooks that Andon needs before any of them does anything.
                for hook in ANDON_HOOKS if name == "sh3" else ["pre-commit"]:
                    (hooks / hook).write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
                    (hooks / hook).chmod(0o755)
            elif name == "andon":
                self.bench.run(self.bench.andon, "install", "--mode", "shim", cwd=self.top)
            elif name != "none":
                self.bench.run(shutil.which(name, path=self.bench.env["PATH"]), "install", cwd=self.top)
            hooks.rename(self.dot / f"hooks-{name}")
        self.use_hooks("none")

    def use_hooks(self, name):
        hooks = self.dot / "hooks"
        hooks.unlink(missing_ok=True)
        hooks.symlink_to(f"hooks-{name}")

    def make_window(self):
        """The newest commits, made as people make them: edit, test, commit."""
        self.use_hooks("andon" if self.bench.andon else "none")
        for number in range(WINDOW):
            (self.top / self.path(number)).write_text(f"window {number}\n" + body(number), encoding="ascii")
            self.git("add", self.path(number))
            if self.bench.andon:
                self.bench.run(self.bench.andon, "test", cwd=self.top)
            self.git("commit", "-q", "-m", f"window {number}")
        self.use_hooks("none")

    def stage(self):
        number = self.files // 2
        path = self.path(number)
        (self.top / path).write_text("the measured change\n" + body(number), encoding="ascii")
        self.git("add", path)

    def save(self):
        """Remembers the state before the measured commit."""
        shutil.rmtree(self.saved, ignore_errors=True)
        self.saved.mkdir()
        # Older than the files it describes would make git read every file again.
        time.sleep(1.1)
        self.git("update-index", "-q", "--refresh")
        shutil.copy2(self.dot / "index", self.saved / "index")
        shutil.copy2(self.dot / "logs" / "HEAD", self.saved / "log-HEAD")
        shutil.copy2(self.dot / "logs" / "refs" / "heads" / "main", self.saved / "log-main")
        if (self.dot / "andon").exists():
            shutil.copytree(self.dot / "andon", self.saved / "andon")
        self.head = self.git("rev-parse", "refs/heads/main")
        self.refs = dict(reversed(line.split()) for line in
                         self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/notes", "refs/andon").splitlines())

    def reset(self):
        """Back to the state before the measured commit; objects stay."""
        wanted = {"refs/heads/main": self.head, **self.refs}
        lines = [f"update {name} {target}" for name, target in wanted.items()]
        now = self.git("for-each-ref", "--format=%(refname)", "refs/notes", "refs/andon").split()
        lines += [f"delete {name}" for name in now if name not in wanted]
        self.git("update-ref", "--stdin", stdin=("\n".join(lines) + "\n").encode())
        shutil.copy2(self.saved / "index", self.dot / "index")
        shutil.copy2(self.saved / "log-HEAD", self.dot / "logs" / "HEAD")
        shutil.copy2(self.saved / "log-main", self.dot / "logs" / "refs" / "heads" / "main")
        shutil.rmtree(self.dot / "andon", ignore_errors=True)
        if (self.saved / "andon").exists():
            shutil.copytree(self.saved / "andon", self.dot / "andon")

    def check_recorded(self):
        """Shows that the hooks did their work: the measured commit has a record and passed the gate."""
        self.reset()
        self.use_hooks("andon")
        self.git("commit", "-q", "-m", "measured")
        record = json.loads(self.git("notes", "--ref=andon", "show", "HEAD"))
        if record.get("gate") != "passed" or record.get("tests", {}).get("status") != "passed":
            sys.exit(f"the measured commit was not recorded as tested and passed: {record}")
        self.use_hooks("none")
        self.reset()


class Timer:
    """Milliseconds of whole processes, by case."""

    def __init__(self, env):
        self.env = env
        self.samples = {}
        null = os.open(os.devnull, os.O_RDWR)
        self.actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        self.keep = False

    def spawn(self, case, argv, extra_env=None):
        """Runs `argv` in the working directory and keeps its time under `case`."""
        env = {**self.env, **(extra_env or {})}
        argv = [str(a) for a in argv]
        start = time.perf_counter()
        pid = os.posix_spawn(argv[0], argv, env, file_actions=self.actions)
        _, status = os.waitpid(pid, 0)
        elapsed = (time.perf_counter() - start) * 1000
        if status != 0:
            again = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            said = (again.stdout + again.stderr).decode(errors="replace")
            sys.exit(f"{case}: {' '.join(argv)} in {os.getcwd()}: status {status}; run again: {again.returncode}\n{said}")
        if self.keep:
            self.samples.setdefault(case, []).append(elapsed)


def pose_as_git():
    """Names this process as git is named: the shim of pre-commit only marks the process above it where that is git."""
    set_name = 15  # PR_SET_NAME
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(set_name, b"git", 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def measure(bench, fixture, rounds, warm_up):
    """All cases of one fixture, in another order each round."""
    timer = Timer(bench.env)
    os.chdir(fixture.top)
    pose_as_git()
    managers = [name for name in MANAGERS if name != "andon" or bench.andon]
    if bench.andon:
        fixture.check_recorded()
    # The hooks as git runs them: working directory at the top, the index named.
    as_git = {"GIT_INDEX_FILE": ".git/index"}
    message = fixture.dot / "COMMIT_EDITMSG"

    def version():
        timer.spawn("git --version", [bench.git, "--version"])

    def commit(manager):
        fixture.reset()
        fixture.use_hooks(manager)
        timer.spawn(f"commit {manager}", [bench.git, "commit", "-q", "-m", "measured"])

    def at_pre_commit():
        """What git has done by the time it runs pre-commit: the index knows its tree."""
        fixture.reset()
        fixture.git("write-tree")

    def alone(manager):
        at_pre_commit()
        timer.spawn(f"alone {manager}", [fixture.dot / f"hooks-{manager}" / "pre-commit"], as_git)

    def early():
        """pre-commit as a framework has it run: the program judges at once."""
        at_pre_commit()
        timer.spawn("program pre-commit", [bench.andon, "hook", "pre-commit"], as_git)

    def andon_alone(kind, command):
        at_pre_commit()
        fixture.use_hooks("none")
        message.write_text("measured\n", encoding="ascii")
        # It leaves the mark without which prepare-commit-msg does not judge: what the program alone does follows on it.
        shim = [fixture.dot / "hooks-andon" / "pre-commit"]
        if kind == "shim":
            timer.spawn("shim pre-commit", shim, as_git)
        else:
            subprocess.run(shim, env={**bench.env, **as_git}, stdin=subprocess.DEVNULL, check=True)
        if sys.platform == "linux" and not any((fixture.dot / "andon" / "asked").iterdir()):
            sys.exit("the shim of pre-commit left no mark")
        timer.spawn(f"{kind} prepare-commit-msg",
                    [*command("prepare-commit-msg"), ".git/COMMIT_EDITMSG", "message"], as_git)
        fixture.git("commit", "-q", "-m", "measured")
        timer.spawn(f"{kind} post-commit", command("post-commit"), as_git)

    cases = [version] * 3 + [lambda m=m: commit(m) for m in managers]
    cases += [lambda m=m: alone(m) for m in managers if m not in ("none", "sh3", "andon")]
    if bench.andon:
        cases.append(lambda: andon_alone("shim", lambda hook: [fixture.dot / "hooks-andon" / hook]))
        cases.append(lambda: andon_alone("program", lambda hook: [bench.andon, "hook", hook]))
        cases.append(early)
    order = random.Random(20261120)
    for number in range(warm_up + rounds):
        timer.keep = number >= warm_up
        order.shuffle(cases)
        for case in cases:
            case()
        print(f"\r{fixture.files} files, {fixture.records} records: round {number + 1}", end="", file=sys.stderr)
    print(file=sys.stderr)
    fixture.reset()
    return {case: statistics.median(samples) for case, samples in timer.samples.items()}


def tables(fixture, medians):
    """Markdown for one fixture."""
    base, floor = medians["commit none"], medians["git --version"]
    lines = [f"### {fixture.files:,} files, {fixture.records:,} recorded commits", "",
             f"`git --version`: {floor:.2f} ms", "",
             "| `git commit` with | median ms | adds ms | x git alone |", "|---|--:|--:|--:|"]
    for manager, name in MANAGERS.items():
        value = medians.get(f"commit {manager}")
        if value is not None:
            lines.append(f"| {name} | {value:.1f} | {value - base:+.1f} | {value / base:.2f} |")
    lines += ["", "| one hook alone | median ms | x `git --version` |", "|---|--:|--:|"]
    for manager, name in MANAGERS.items():
        value = medians.get(f"alone {manager}")
        if value is not None:
            lines.append(f"| {name} | {value:.2f} | {value / floor:.1f} |")
    for hook in ANDON_HOOKS:
        for kind, name in (("shim", "as installed (sh shim)"), ("program", "the program alone")):
            value = medians.get(f"{kind} {hook}")
            if value is not None:
                lines.append(f"| andon {hook}, {name} | {value:.2f} | {value / floor:.1f} |")
    if "commit andon" in medians:
        prek, andon, three = (medians[f"commit {name}"] - base for name in ("prek", "andon", "sh3"))
        lines += ["", f"Andon's hooks of one commit add {andon:.1f} ms, prek's one no-op hook {prek:.1f} ms: "
                      f"{andon / prek:.2f} of it. Three hooks that do nothing add {three:.1f} ms: {three / prek:.2f} of it."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--andon", help="the andon program to measure; without it only git and the peers are")
    parser.add_argument("--out", help="write the tables here too")
    parser.add_argument("--files", default="100,50000", help="sizes of the repositories (default %(default)s)")
    parser.add_argument("--records", default="10,10000", help="recorded commits, at least 10 (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=21, help="measured rounds (default %(default)s)")
    parser.add_argument("--warm-up", type=int, default=2, help="rounds before that (default %(default)s)")
    parser.add_argument("--work", help="work directory, kept; default: a temporary one, removed at the end")
    options = parser.parse_args()
    bench = Bench(options)
    bench.install_peers()
    versions = bench.versions()
    sizes = [(int(files), int(records)) for files in options.files.split(",") for records in options.records.split(",")]
    started = time.strftime("%Y-%m-%d", time.gmtime())
    lines = [f"Measured {started} on {os.cpu_count()} cores, {platform.system()} {platform.release()}; "
             f"medians of {options.rounds} interleaved rounds.",
             "Versions: " + "; ".join(f"{name} {version}" for name, version in versions.items()) + ".", ""]
    for files, records in sizes:
        fixture = Fixture(bench, files, max(records, WINDOW))
        lines += tables(fixture, measure(bench, fixture, options.rounds, options.warm_up)) + [""]
        os.chdir(bench.work)
        shutil.rmtree(fixture.top)
    text = "\n".join(lines)
    print(text)
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    if not options.work:
        shutil.rmtree(bench.work, ignore_errors=True)


if __name__ == "__main__":
    main()
