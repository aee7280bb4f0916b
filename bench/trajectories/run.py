#!/usr/bin/env python3
"""Trajectories of real agents: which runs Andon halts, beside the rules of four clients over the same calls.

    bench/trajectories/run.py --andon target/dist/andon --mirrors DIR [--half tune|report|all] [--events DIR] [--only WORD]

DIR holds the public repositories below as OWNER+NAME/repo (bare). Nothing of what the runs say is kept here: they are
read from the repositories' objects, converted to the events of `andon replay --events` in a scratch folder, and judged.

  sola-st/llm-agents-study              OpenHands and RepairAgent; people labelled each pair of neighbouring actions:
                                        follow-up, refinement, divergence or repetition
  RussellRyanH/CSCI-635-LiveSWE-Agent   mini-swe-agent on SWE-bench Verified
  gruckion/mini-swe-agent               500 runs of mini-swe-agent on SWE-bench Verified, by another model
  laude-institute/terminal-bench-leaderboard   mini-swe-agent on Terminal-Bench, read from what the terminal showed
  nus-apr/auto-code-rover               SWE-agent on SWE-bench Lite, three times
  multi-swe-bench/experiments           SWE-agent on Java, five models
  NL2Code/CodeR                         CodeR on SWE-bench Lite

A run is *solved* when its task was; *exhausted* when it used its whole budget (steps, money or time) without; else it *gave
up*. Even runs (by the checksum of their names) are for choosing settings, odd ones are reported.

Tokens are estimated as characters of arguments and answers / 4, since few collections tell counts; the share is the same
in characters. "Sent" counts each step with all that was said before it, as an agent without a cache sends it.

`readings.tsv` has how each halt of a solved run was judged by reading the run, and after which call exhausted runs
without a halt should have been stopped.
"""

import argparse
import collections
import csv
import itertools
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left beside the sources

from mini import live, terminal, verified
from rivals import RIVALS
from runs import History
from study import study
from swe_agent import coder, java, lite

SOURCES = [
    ("sola-st/llm-agents-study", study),
    ("RussellRyanH/CSCI-635-LiveSWE-Agent", live),
    ("gruckion/mini-swe-agent", verified),
    ("laude-institute/terminal-bench-leaderboard", terminal),
    ("nus-apr/auto-code-rover", lite),
    ("multi-swe-bench/experiments", java),
    ("NL2Code/CodeR", coder),
]
OUTCOMES = ("exhausted", "gave up", "solved")
READINGS = pathlib.Path(__file__).with_name("readings.tsv")


def judged(andon, run, folder):
    """The step at which Andon halts, with the rule and its message."""
    file = folder / (re.sub(r"\W", "_", run.name) + ".jsonl")
    file.write_text("\n".join(run.events()) + "\n", encoding="utf-8")
    done = subprocess.run([andon, "replay", "--events", file, "--format", "json"], capture_output=True, cwd=folder,
                          check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{run.name}: {done.stderr.decode()}")
    for line in done.stdout.splitlines():
        said = json.loads(line)
        if said.get("decision") == "halt":
            finding = next(one for one in said["findings"] if one["level"] == "halt")
            return said["event"] - 1, finding["rule"], finding["message"]
    return None


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def row(name, halted, runs):
    """The figures of one detector over runs of one outcome: how many, when, and what would not have been spent."""
    hit = [(run, halted[run.name]) for run in runs if halted[run.name] is not None]
    sent = lambda sizes: sum(itertools.accumulate(sizes))
    saved = {
        "calls": sum(len(run.calls) - at - 1 for run, at in hit),
        "tokens": sum(sum(run.sizes[at + 1:]) for run, at in hit),
        "sent": sum(sent(run.sizes) - sent(run.sizes[:at + 1]) for run, at in hit),
    }
    whole = {
        "calls": sum(len(run.calls) for run in runs),
        "tokens": sum(sum(run.sizes) for run in runs),
        "sent": sum(sent(run.sizes) for run in runs),
    }
    when = f"{statistics.median(at + 1 for _, at in hit):.0f}" if hit else "-"
    delay = f"{100 * statistics.median((at + 1) / len(run.calls) for run, at in hit):.0f} %" if hit else "-"
    shares = " | ".join(percent(saved[kind], whole[kind]) for kind in saved)
    return f"| {name} | {len(hit)} | {percent(len(hit), len(runs))} | {when} | {delay} | {shares} |"


def outcomes(detectors, runs):
    """Every outcome on its own, over all collections."""
    for outcome in OUTCOMES:
        some = [run for run in runs if run.outcome == outcome]
        print(f"\n| {outcome}: {len(some)} runs | halted | | median step | of the run | calls after it | tokens after it | sent |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for name, halted in detectors:
            print(row(name, halted, some))


def by_collection(detectors, runs):
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for run in runs:
        found[run.collection][run.outcome].append(run)
    for collection, of in found.items():
        told = " | ".join(f"{outcome}: {len(of[outcome])}" for outcome in OUTCOMES)
        print(f"\n| {collection} | {told} |\n|---|--:|--:|--:|")
        for name, halted in detectors:
            count = lambda outcome: sum(halted[run.name] is not None for run in of[outcome])
            cells = [f"{count(outcome)} ({percent(count(outcome), len(of[outcome]))})" if of[outcome] else "-"
                     for outcome in OUTCOMES]
            print(f"| {name} | {' | '.join(cells)} |")


def by_label(detectors, runs):
    labelled = [run for run in runs if run.repeated is not None]
    loops = [run for run in labelled if run.repeated >= 3]
    others = [run for run in labelled if run.repeated < 3]
    if not labelled:
        return
    print(f"\n| by people's labels | three or more repetitions: {len(loops)} | fewer: {len(others)} |\n|---|--:|--:|")
    for name, halted in detectors:
        count = lambda some: sum(halted[run.name] is not None for run in some)
        print(f"| {name} | {count(loops)} | {count(others)} |")


def readings():
    """What was read of a run: (reading, why)."""
    with READINGS.open(encoding="utf-8", newline="") as lines:
        return {line["run"]: line for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def halts(found, runs):
    """Each halt; those of solved runs with what was read of them."""
    read = readings()
    print("\n| halted by Andon | outcome | step | of | repetitions labelled | rule |\n|---|---|--:|--:|--:|---|")
    for run in runs:
        if found[run.name]:
            at, rule, _ = found[run.name]
            told = "-" if run.repeated is None else run.repeated
            print(f"| {run.name} | {run.outcome} | {at + 1} | {len(run.calls)} | {told} | {rule} |")
    solved = [run for run in runs if run.outcome == "solved" and found[run.name]]
    print("\n| halt of a solved run | rule | step | reading | why |\n|---|---|--:|---|---|")
    for run in solved:
        at, rule, _ = found[run.name]
        said = read.get(run.name, {"rule": None})
        known = said["rule"] == rule
        print(f"| {run.name} | {rule} | {at + 1} of {len(run.calls)} | {said['reading'] if known else 'unread'} | "
              f"{said['why'] if known else ''} |")
    missed = [run for run in runs if run.name in read and read[run.name]["rule"] == "-"]
    print("\n| exhausted, read and not halted then | Andon | to be stopped after | of | why |\n|---|---|--:|--:|---|")
    for run in missed:
        now = f"{found[run.name][1]} at {found[run.name][0] + 1}" if found[run.name] else "-"
        said = read[run.name]
        print(f"| {run.name} | {now} | {said['reading']} | {len(run.calls)} | {said['why']} |")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--andon", default="andon")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True)
    asked.add_argument("--half", choices=["tune", "report", "all"], default="report")
    asked.add_argument("--events", type=pathlib.Path, help="keep the event streams here")
    asked.add_argument("--only", default="", help="runs whose name has this in it")
    args = asked.parse_args()
    andon = str(pathlib.Path(args.andon).resolve()) if "/" in args.andon else args.andon
    runs = []
    for name, read in SOURCES:
        history = History(args.mirrors, name)
        if not history.there:
            print(f"{name}: not there")
            continue
        runs.extend(run for run in read(history) if args.half in ("all", run.half()) and args.only in run.name)
        history.close()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.events or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = {run.name: judged(andon, run, folder) for run in runs}
    detectors = [("andon", {name: said and said[0] for name, said in found.items()})]
    detectors += [(name, {run.name: rule(run) for run in runs}) for name, rule in RIVALS]
    outcomes(detectors, runs)
    by_collection(detectors, runs)
    by_label(detectors, runs)
    halts(found, runs)


if __name__ == "__main__":
    main()
