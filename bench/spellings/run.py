#!/usr/bin/env python3
"""Which share of the test runs that agents type is seen, by kind of spelling.

Each row is typed by an agent in a repository of its own: it goes to the hook before a tool, and, where that does not turn it into
`andon test`, the hook after the tool gets a red output of the runner, through the pipe that the row has. A row counts as seen
where a test run is in the journal then.

With --outputs the rows are those of bench/greens instead: what many more runners print, red and green, behind `| tail -20` in a
repository whose test command is another one.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from hermetic import environment, run  # noqa: E402

FILTERS = ("tail", "head", "grep", "tee", "awk", "sed", "cat")


def printed(line, sample, env, cwd):
    """What a red run prints behind the pipe of a row; nothing of one whose output goes to a file."""
    stages = line.split(" | ")
    pipe = [stage for stage in stages[1:] if stage.split()[0] in FILTERS]
    if "> out.log" in line:
        return sample if "cat out.log" in line else ""
    if not pipe:
        return sample
    done = subprocess.run(["sh", "-c", " | ".join(pipe)], input=sample, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return done.stdout


def hook(andon, env, repo, event, call):
    payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": event, "tool_name": "Bash", **call}
    return run(env, [andon, "agent", "hook", "claude", event], cwd=repo, stdin=json.dumps(payload).encode())


def typed(andon, root, number, row, samples):
    """`turned`, `seen` or `missed`."""
    runner, _, command, line = row
    line = line.replace("\\n", "\n")
    repo = root / f"r{number}"
    repo.mkdir()
    env = environment(root)
    run(env, ["git", "init", "-q", "-b", "main", "."], cwd=repo)
    (repo / "andon.toml").write_text(f"[test]\ncommand = {json.dumps(command)}\n")
    call = {"tool_use_id": "t", "tool_input": {"command": line}}
    if "updatedInput" in hook(andon, env, repo, "PreToolUse", call):
        return "turned"
    output = printed(line, samples[runner], env, root)
    hook(andon, env, repo, "PostToolUse", {**call, "tool_response": {"stdout": output, "stderr": "", "interrupted": False}})
    journal = repo / ".git" / "andon" / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    return "seen" if any('"type":"test_run"' in line for line in lines) else "missed"


def outputs(options):
    """The share of the runs of bench/greens that are seen, by their outcome."""
    kinds = {"honest": "green", "red": "red", "red, exit 0": "red"}
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate((HERE.parent / "greens" / "rows.jsonl").read_text().splitlines()):
            row = json.loads(line)
            kind = kinds.get(row["kind"])
            if kind is None or row["command"].startswith("andon"):
                continue
            text = "".join(call.get("stdout", "") + call.get("stderr", "") for call in row["calls"])
            line = row["command"].replace("\n", "; ") + " 2>&1 | tail -20"
            how = typed(options.andon.resolve(), Path(folder).resolve(), number, ("x", kind, "make everything", line), {"x": text})
            counts[kind][how] += 1
            if how == "missed" and options.missed:
                print(f"{kind}\t{row['runner']}\t{line}")
    for kind, found in sorted(counts.items()):
        total = sum(found.values())
        print(f"{kind:8}{total:5} runs, {total - found['missed']:5} seen, {100 * (total - found['missed']) // total} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", required=True, type=Path)
    parser.add_argument("--missed", action="store_true", help="print each row that is not seen")
    parser.add_argument("--outputs", action="store_true", help="take the outputs of bench/greens")
    options = parser.parse_args()
    if options.outputs:
        return outputs(options)
    rows = [line.split("\t") for line in (HERE / "rows.tsv").read_text().splitlines() if not line.startswith("#")]
    samples = {path.stem: path.read_text() for path in (HERE / "red").glob("*.txt")}
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows):
            how = typed(options.andon.resolve(), Path(folder).resolve(), number, row, samples)
            for kind in (row[1], "all"):
                counts[kind][how] += 1
            if how == "missed" and options.missed:
                print("\t".join(row))
    print(f"{'kind':10}{'rows':>6}{'turned':>8}{'seen':>6}{'missed':>8}{'share':>7}")
    for kind, found in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        total = sum(found.values())
        share = 100 * (total - found["missed"]) // total
        print(f"{kind:10}{total:6}{found['turned']:8}{found['seen']:6}{found['missed']:8}{share:6}%")


if __name__ == "__main__":
    main()
