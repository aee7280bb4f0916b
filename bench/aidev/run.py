#!/usr/bin/env python3
"""Pull requests of agents (the AIDev set): what `andon replay` would have halted, and whether that was right when read.

    bench/aidev/run.py --andon target/dist/andon --mirrors DIR [--table before.tsv] [--only TEXT] [--out DIR]

`aidev.tsv` names the pull requests (`collect.py` made it) with the commits that are counted: base..tip also holds what was merged
in. `before.tsv` has the same repositories before 2024, whose commits are all counted. `verdicts.tsv` says of each halt how it was judged by reading its commits: right, wrong or open, and why. Repositories without
a mirror are skipped, by name. `--out` keeps the lines of halts and warnings, which hold no text of theirs. Default rules; a
halt is taken as answered at once. Exits with 1 where a halt was not read.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import replays  # noqa: E402

JUDGED = ("right", "wrong", "open", "unread")
COUNTED = ("pull requests", "commits", "warnings", "lost tests", "halts", *JUDGED)


def judged(line, verdict):
    """The count of `COUNTED` that a line belongs to, and the rules that say so; nothing for a commit that may pass."""
    decision = line["decision"]
    if decision not in ("halt", "warn"):
        return None, []
    rules = [one["rule"] for one in line["findings"] if one["level"] == decision]
    if decision == "halt":
        return verdict, rules
    return ("lost tests" if set(rules) == {"test-weakening"} else "warnings"), rules


def measured(andon, mirror, clone, pulls, env, verdicts):
    """Of each counted commit of a repository: its pull request, kind of author, what it counts as, rules and line."""
    for pull in pulls:
        commits = f"{pull['base']}..{pull['tip']}" if pull["base"] else pull["tip"]
        own = set(pull["commits"].split())
        kinds = replays.authors(mirror, commits, env)
        for line in replays.replayed(andon, commits, env, clone):
            short = line["commit"][:12]
            if short in own or not own:
                read = verdicts.get((pull["repository"], short), {"verdict": "unread"})
                yield (pull, kinds[line["commit"]], *judged(line, read["verdict"]), line)


def shown(title, table, counted):
    """A table of counts with its sum, and with halts and warnings in 1,000 commits."""
    print(f"\n| {title} | " + " | ".join(counted) + " | warnings in 1,000 | halts in 1,000 |")
    print("|---" + "|--:" * (len(counted) + 2) + "|")
    table = dict(sorted(table.items()), all=sum(table.values(), collections.Counter()))
    for name, counts in table.items():
        rates = [1000 * counts[what] / max(counts["commits"], 1) for what in ("warnings", "halts")]
        print(f"| {name} | " + " | ".join(str(counts[what]) for what in counted) + " | {:.1f} | {:.2f} |".format(*rates))


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--andon", default="andon", help="the program")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True, help="where the histories are")
    asked.add_argument("--table", default="aidev.tsv", help="what is replayed")
    asked.add_argument("--only", default="", help="repositories whose name contains this")
    asked.add_argument("--out", type=pathlib.Path, help="a folder for the lines of halts and warnings")
    args = asked.parse_args()
    andon = str(pathlib.Path(args.andon).resolve()) if os.sep in args.andon else args.andon
    verdicts = {(row["repository"], row["commit"]): row for row in replays.rows(HERE / "verdicts.tsv")}
    agents, kinds, rules = (collections.defaultdict(collections.Counter) for _ in range(3))
    requests, missing, halts = set(), [], []
    with tempfile.TemporaryDirectory() as scratch:
        env = replays.environment(scratch)
        pulls = (row for row in replays.rows(HERE / args.table) if args.only in row["repository"])
        for name, pulls in itertools.groupby(pulls, key=lambda row: row["repository"]):
            mirror = replays.where(args.mirrors, name)
            if mirror is None:
                missing.append(name)
                continue
            clone = replays.borrowed(mirror, env, pathlib.Path(scratch) / name.replace("/", "+"))
            keep = []
            for pull, kind, what, telling, line in measured(andon, mirror, clone, pulls, env, verdicts):
                counts = ["commits", *([what] if what else []), *(["halts"] if what in JUDGED else [])]
                if (name, pull["pr"]) not in requests:
                    requests.add((name, pull["pr"]))
                    counts.append("pull requests")
                agents[pull["agent"]].update(counts)
                kinds[kind].update(counts)
                rules["halt" if what in JUDGED else "warn"].update(telling)
                if what in JUDGED:
                    halts.append((name, pull["pr"], line["commit"][:12], telling[0], what))
                if what:
                    keep.append({"pr": pull["pr"], "agent": pull["agent"], "by": kind, "base": pull["base"], **line})
            if args.out:
                args.out.mkdir(parents=True, exist_ok=True)
                text = "".join(json.dumps(line) + "\n" for line in keep)
                (args.out / (name.replace("/", "+") + ".jsonl")).write_text(text, encoding="utf-8")
            print(f"{name}: {len(keep)} lines", file=sys.stderr, flush=True)
            subprocess.run(["rm", "-rf", clone], check=True)
    shown("agent", {agent or "none": counts for agent, counts in agents.items()}, COUNTED)
    shown("by", kinds, COUNTED[1:])
    for decision, counts in sorted(rules.items()):
        print(f"\n{decision}: " + ", ".join(f"{rule} {count}" for rule, count in counts.most_common()))
    print("\n| repository | pull request | commit | rule | read | why |\n|---|---|---|---|---|---|")
    for halt in halts:
        why = verdicts.get((halt[0], halt[2]), {"why": ""})["why"]
        print("| " + " | ".join([*halt, why]) + " |")
    if missing:
        print("\nNot there: " + ", ".join(missing), file=sys.stderr)
    sys.exit(any(halt[4] == "unread" for halt in halts))


if __name__ == "__main__":
    main()
