#!/usr/bin/env python3
"""What one event of an agent's client costs, from exec to exit, beside programs that do nothing.

All cases run in the same rounds, in a new order each round. The journal is filled by appending events of its own form.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = "apple river stone cloud paper table green light money music north ocean piano queen".split()
CALL = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make test"}, "hook_event_name": "PreToolUse"}


def git(repo, *args):
    env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a",
               GIT_AUTHOR_EMAIL="a@example.org", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")
    subprocess.run(["git", "-C", repo, *args], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def repository(root, andon, files, journal):
    """A repository of that many files, with a change tested and committed through the hooks, and a journal of that many bytes."""
    repo = root / f"repo-{files}"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", ".")
    for number in range(files):
        path = repo / f"d{number // 500}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n")
    # Turns in which nothing happens are what is measured: they must not halt.
    (repo / "andon.toml").write_text('[test]\ncommand = "true"\n\n[rules]\nnothing-new = "off"\nidle-turns = "off"\nconsecutive-failures = "off"\nco-occurrence = "off"\n')
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Start")
    # As in a project that was there before: what a test run keeps of the working tree is what differs from HEAD.
    for verb in ("install", "test"):
        subprocess.run([andon, verb], cwd=repo, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (repo / "d0" / "f0.txt").write_text("changed\n")
    subprocess.run([andon, "test"], cwd=repo, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    git(repo, "commit", "-qam", "Change")
    # A turn as clients report it, that begins a while after what was written last.
    time.sleep(3)
    for event, told in (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "go on"})):
        payload = json.dumps({"session_id": "s", "hook_event_name": event, **told}).encode()
        subprocess.run([andon, "agent", "hook", "claude", event], cwd=repo, check=True, input=payload, stdout=subprocess.DEVNULL)
    line = {"type": "tool_call", "at": "2026-01-01T00:00:00Z", "tool": "Read", "session": "old", "error": False}
    log = repo / ".git" / "andon" / "journal.jsonl"
    number, number_of_bytes, generation = 0, 0, 1
    while number_of_bytes < journal:
        part = []
        for _ in range(4000):
            number += 1
            digest = f"{number:016x}"
            entry = {**line, "call": [digest, digest, digest], "id": digest}
            part.append(json.dumps(entry, sort_keys=True, separators=(",", ":")))
        text = "\n".join(part) + "\n"
        number_of_bytes += len(text)
        log.with_name(f"journal.{generation}.jsonl").write_text(text)
        generation += 1
    return repo


def words(count):
    return " ".join(random.choice(WORDS) for _ in range(count))


def timed(argv, cwd, payload):
    source = tempfile.TemporaryFile()
    source.write(payload)
    source.seek(0)
    begun = time.perf_counter()
    child = subprocess.Popen(argv, cwd=cwd, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    child.wait()
    return (time.perf_counter() - begun) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--andon", required=True, type=Path)
    parser.add_argument("--files", default="100,50000")
    parser.add_argument("--journal", type=int, default=64, help="MiB of the journal")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--hold", action="store_true", help="wait for a line on standard input before measuring")
    args = parser.parse_args()
    andon = str(args.andon.resolve())
    work = Path(tempfile.mkdtemp())
    try:
        cases = {"true": (["true"], work), "sh -c :": (["sh", "-c", ":"], work)}
        hook = "import json,sys; json.load(sys.stdin)"
        cases["python hook"] = ([sys.executable, "-c", hook], work)
        if shutil.which("node"):
            cases["node hook"] = (["node", "-e", "JSON.parse(require('fs').readFileSync(0))"], work)
        for files in map(int, args.files.split(",")):
            repo = repository(work, andon, files, args.journal << 20)
            for event in ("PreToolUse", "PostToolUse", "Stop"):
                cases[f"andon, {event}, {files:,} files"] = ([andon, "agent", "hook", "claude", event], repo)
        if args.hold:
            print("ready: press return", file=sys.stderr, flush=True)
            sys.stdin.readline()
        took = {name: [] for name in cases}
        for round_number in range(-2, args.rounds):
            names = list(cases)
            random.shuffle(names)
            for name in names:
                argv, cwd = cases[name]
                # No call is like another: one that has its like looks at the working tree.
                call = {**CALL, "tool_use_id": str(round_number), "tool_response": {"stdout": words(9)}}
                call["tool_input"] = {"command": f"echo {words(4)}"}
                spent = timed(argv, cwd, json.dumps(call).encode())
                if round_number >= 0:
                    took[name].append(spent)
        for repo in {cwd for _, cwd in cases.values() if cwd != work}:
            subprocess.run([andon, "status", "--exit-code"], cwd=repo, check=True, stdout=subprocess.DEVNULL)
        print("| program | median ms | p95 ms |\n|---|--:|--:|")
        for name, spent in took.items():
            spent.sort()
            print(f"| {name} | {statistics.median(spent):.1f} | {spent[int(len(spent) * 0.95) - 1]:.1f} |")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
