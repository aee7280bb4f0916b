#!/usr/bin/env python3
"""What `andon watch` costs: its first frame, and how busy it is while nothing happens.

One repository with many worktrees. Their histories share all commits but the newest of each, so that each worktree has as many
records as `--records` says; every commit has a record, and each worktree a journal with a test run.
"""

import argparse
import datetime
import hashlib
import json
import os
import pty
import pathlib
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

import hermetic

EPOCH = 1_750_000_000
OWN = 100
TICKS = os.sysconf("SC_CLK_TCK")
FILES = {"andon.toml": '[test]\ncommand = "sh tests.sh"\n', "tests.sh": 'echo "1..1"\necho "ok 1 - a"\n'}


def history(records, worktrees):
    """A fast-import stream: a trunk, and a branch for each worktree."""
    out = []

    def commit(branch, mark, number, parent):
        subject = f"change {number} of {branch}"
        out.append(f"commit refs/heads/{branch}\nmark :{mark}\ncommitter Bench <bench@localhost> "
                   f"{EPOCH + 60 * number} +0000\ndata {len(subject)}\n{subject}\n")
        if parent:
            out.append(f"from :{parent}\n")
        files = dict(FILES) if number == 0 else {}
        files["code.c"] = f"{branch} {number}\n"
        for path, text in files.items():
            out.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")

    trunk = max(1, records - OWN)
    for number in range(trunk):
        commit("main", number + 1, number, number)
    mark = trunk
    for tree in range(worktrees):
        parent = trunk
        for number in range(trunk, records):
            mark += 1
            commit(f"w{tree:02}", mark, number, parent)
            parent = mark
    return "".join(out).encode()


def notes(log):
    """A record for each commit; failing counts go up and down."""
    out = [b"commit refs/notes/andon\ncommitter Bench <bench@localhost> %d +0000\ndata 5\nnotes\n" % EPOCH]
    for number, line in enumerate(log):
        commit, tree, at, *parents = line.split()
        code = hashlib.sha256(commit.encode()).hexdigest()
        failed = number % 4
        stamp = datetime.datetime.fromtimestamp(int(at), datetime.timezone.utc)
        record = {
            "schema": "andon/commit@1", "recorded_at": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"), "tree": tree,
            "parent": parents[0] if parents else None, "kind": "normal", "gate": "passed", "node": "agent",
            "iteration": 2, "code": code,
            "diff": {"hash": hashlib.sha256(b"d" + commit.encode()).hexdigest(), "empty": False, "files": 1, "added": 1,
                     "removed": 1, "hunks": [[commit[:16], commit[8:24]]], "truncated": False},
            "tests": {"code": code, "status": "failed" if failed else "passed", "total": 9, "passed": 9 - failed,
                      "failed": failed, "errored": 0, "skipped": 0,
                      "signature": hashlib.sha256(b"%d" % failed).hexdigest(),
                      "failing": [f"t{n}" for n in range(failed)], "runner": "tap", "command": "sh tests.sh"},
        }
        if not parents:
            del record["parent"]
        text = json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        out.append(b"N inline %s\ndata %d\n%s\n" % (commit.encode(), len(text), text))
    return b"".join(out)


def build(options, env, top):
    def git(*argv, stdin=None):
        return hermetic.run(env, ["git", *argv], cwd=top / "main", stdin=stdin)

    (top / "main").mkdir(parents=True)
    git("init", "-q", "-b", "main")
    git("config", "gc.auto", "0")
    git("fast-import", "--quiet", stdin=history(options.records, options.worktrees))
    git("reset", "-q", "--hard", "main")
    git("fast-import", "--quiet", stdin=notes(git("log", "--all", "--format=%H %T %ct %P").splitlines()))
    hermetic.run(env, [options.andon, "install"], cwd=top / "main")
    for tree in range(options.worktrees):
        place = top / f"w{tree:02}"
        git("worktree", "add", "-q", str(place), f"w{tree:02}")
        hermetic.run(env, [options.andon, "test"], cwd=place)


def forget(top):
    for cache in [*top.glob("main/.git/andon/cache"), *top.glob("main/.git/worktrees/*/andon/cache")]:
        shutil.rmtree(cache)


def frame(options, env, top, before):
    """Milliseconds of `andon watch --once`, from its start to its end."""
    times = []
    for _ in range(options.rounds):
        before()
        start = time.perf_counter()
        subprocess.run([options.andon, "watch", "--once"], cwd=top / "main", env=env, stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), max(times)


def used(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def drain(fd, seconds):
    """Reads what comes in that time, and says how much that was and when the first of it came."""
    start, count, first = time.perf_counter(), 0, None
    while (left := seconds - (time.perf_counter() - start)) > 0:
        if select.select([fd], [], [], left)[0]:
            first = first or time.perf_counter()
            count += len(os.read(fd, 1 << 16))
    return count, first


def idle(options, env, top):
    """Percent of a processor while nothing happens, and milliseconds up to the first byte of the screen."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(top / "main")
        os.execve(options.andon, [str(options.andon), "watch"], {**env, "TERM": "xterm-256color"})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 120, 0, 0))
    start = time.perf_counter()
    _, first = drain(fd, 5)
    if first is None:
        sys.exit("the screen stayed empty")
    before = used(pid)
    drain(fd, options.seconds)
    busy = 100 * (used(pid) - before) / options.seconds
    os.write(fd, b"q")
    os.waitpid(pid, 0)
    return busy, (first - start) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--andon", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--worktrees", type=int, default=50)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=20, help="how long it is watched while nothing happens")
    parser.add_argument("--work", type=pathlib.Path, help="where the repository is built and left")
    options = parser.parse_args()
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    env = hermetic.environment(work)
    top = work / f"watch-{options.worktrees}-{options.records}"
    if not top.exists():
        build(options, env, top)
    shown = hermetic.run(env, [options.andon, "watch", "--once"], cwd=top / "main")
    found = json.loads(hermetic.run(env, [options.andon, "watch", "--format", "json"], cwd=top / "main"))
    if len(found["worktrees"]) != options.worktrees + 1 or "running" not in shown:
        sys.exit(f"not all worktrees are seen:\n{shown}")
    cold = frame(options, env, top, lambda: forget(top))
    warm = frame(options, env, top, lambda: None)
    time.sleep(3)
    busy, first = idle(options, env, top)
    print(f"{options.worktrees} worktrees with {options.records} records each, {os.cpu_count()} processors\n")
    print("| what | median | longest |\n|---|--:|--:|")
    print(f"| `andon watch --once`, caches there | {warm[0]:.0f} ms | {warm[1]:.0f} ms |")
    print(f"| the same without caches | {cold[0]:.0f} ms | {cold[1]:.0f} ms |")
    print(f"| the first frame of the screen | {first:.0f} ms | |")
    print(f"| the screen while nothing happens | {busy:.2f} % of a processor | |")
    if not options.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
