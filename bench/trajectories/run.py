#!/usr/bin/env python3
"""Trajectories of real agents: which runs Andon halts, beside the rules of four clients over the same calls.

    bench/trajectories/run.py --andon target/release/andon --mirrors DIR [--half tune|report] [--events DIR]

DIR holds the public repositories below as OWNER+NAME/repo (bare). Nothing of what the runs say is kept here: they are
read from the repositories' objects, converted to the events of `andon replay --events` in a scratch folder, and judged.

  sola-st/llm-agents-study              OpenHands, RepairAgent and AutoCodeRover; people labelled each pair of neighbouring
                                        actions: follow-up, refinement, divergence or repetition
  RussellRyanH/CSCI-635-LiveSWE-Agent   mini-swe-agent on SWE-bench Verified
  gruckion/mini-swe-agent               500 runs of mini-swe-agent on SWE-bench Verified, by another model

A run is *solved* when its task was; *exhausted* when it used its whole budget of steps without; else it *gave up*. Even
runs (by the checksum of their names) are for choosing settings, odd ones are reported.
"""

import argparse
import ast
import collections
import json
import pathlib
import re
import subprocess
import tempfile
import zlib

STUDY = "sola-st/llm-agents-study"
LIVE = "RussellRyanH/CSCI-635-LiveSWE-Agent"
VERIFIED = "gruckion/mini-swe-agent"


class History:
    """The newest commit of a bare repository."""

    def __init__(self, mirrors, name):
        self.path = mirrors / name.replace("/", "+") / "repo"
        self.there = (self.path / "HEAD").exists()
        listed = self.git("ls-tree", "-r", "-z", "--name-only", "HEAD") if self.there else ""
        self.names = listed.split("\0")

    def git(self, *args):
        return subprocess.run(["git", "--git-dir", self.path, *args], capture_output=True, check=True).stdout.decode(
            "utf-8", "replace")

    def read(self, name):
        return self.git("show", f"HEAD:{name}")


class Run:
    """One run: calls as (tool, arguments, answer, failed), its outcome, and the repetitions that people labelled."""

    def __init__(self, name, calls, outcome, repeated=None):
        self.name, self.calls, self.outcome, self.repeated = name, calls, outcome, repeated

    def half(self):
        return "tune" if zlib.crc32(self.name.encode()) % 2 == 0 else "report"

    def events(self):
        for tool, args, answer, failed in self.calls:
            event = {"type": "tool_call", "tool": tool, "args": args}
            if answer is not None:
                event["result"] = answer
            if failed is not None:
                event["error"] = failed
            yield json.dumps(event)


def parts(text, word):
    """What stands behind each `word at iteration N:`."""
    found = re.split(rf"^{word} at [Ii]teration (\d+): ?", text, flags=re.M)
    return {int(found[at]): found[at + 1] for at in range(1, len(found) - 1, 2)}


def labels(history, agent, name):
    """How often people called an action a repetition of the one before it."""
    for known in (name, re.sub(r"^experiment_\d+_", "", name)):
        file = f"{agent}_csv/action_action/{known}.csv"
        if file in history.names:
            return history.read(file).count("Repetition")
    return None


def table(history, name):
    """`instance_id,n_iterations,is_resolved`"""
    lines = history.read(name).splitlines()[1:]
    return {cells[0]: (int(cells[1]), cells[2].strip() == "True") for cells in (line.split(",") for line in lines)}


def answers_of(text):
    """The answers, without the action that the study repeats behind each."""
    return {at: re.split(r"\n?; (?:Next action: |Action at iteration ?\d+ ?:)", answer)[0].rstrip("-\n ")
            for at, answer in parts(text, "Result").items()}


def openhands(action):
    """An action of OpenHands' CodeAct agent."""
    said = ast.literal_eval(action.strip())
    args = json.loads(said["arguments"]) if isinstance(said.get("arguments"), str) else said.get("arguments", {})
    return said.get("name", "?"), args


def repairagent(action):
    """An action of RepairAgent; what writes a fix is an edit."""
    said = ast.literal_eval(action.strip())
    name = {"write_fix": "Edit", "try_fixes": "Edit"}.get(said["name"], said["name"])
    return name, said.get("args", {})


def failed(answer):
    """Whether an answer is that of a call that failed; unknown without a sign."""
    if answer is None:
        return None
    code = re.search(r"exit code (-?\d+)|<returncode>(-?\d+)", answer)
    if code:
        return (code.group(1) or code.group(2)) != "0"
    return True if re.search(r"^\s*(ERROR|Error|Traceback|Invalid)|Command \w+ returned: Error", answer) else None


def study(history):
    """The runs of the study whose actions can be read."""
    agents = [("openhands", "actions_actions", "rq1/codeact_iterations.csv", openhands),
              ("repairagent", "actions_actions", "rq1/repairagent_iterations.csv", repairagent)]
    for agent, folder, figures, action_of in agents:
        known = table(history, figures)
        most = max(steps for steps, _ in known.values())
        base = f"trajectories/{agent}/parsed/"
        for file in sorted(name for name in history.names if name.startswith(f"{base}{folder}/")):
            name = file.rsplit("/", 1)[1].removesuffix(".txt")
            key = next((key for key in known if key == name or key.endswith(f"_{name}")), None)
            actions = parts(history.read(file), "Action")
            other = file.replace(folder, "results_actions")
            results = answers_of(history.read(other)) if other in history.names else {}
            calls = []
            for at, text in sorted(actions.items()):
                try:
                    tool, args = action_of(text)
                except (ValueError, SyntaxError, KeyError, AttributeError):
                    continue
                answer = results.get(at)
                calls.append((tool, args, answer, failed(answer)))
            steps, resolved = known.get(key, (len(calls), None))
            if not calls or resolved is None:
                continue
            outcome = "solved" if resolved else "exhausted" if steps >= most else "gave up"
            csv = labels(history, agent, name)
            yield Run(f"{agent}/{name}", calls, outcome, csv)


def live(history):
    """Runs of mini-swe-agent: one command a step."""
    resolved = set()
    for name in history.names:
        if name.endswith("gpt-5-mini/eval-results.json"):
            found = json.loads(history.read(name))
            resolved.update(found.get("resolved_ids", []))
    for file in sorted(name for name in history.names if name.endswith(".traj.json")):
        said = json.loads(history.read(file))
        answers = {message.get("tool_call_id"): message.get("content") for message in said["messages"]
                   if message["role"] == "tool"}
        calls = []
        for message in said["messages"]:
            for call in message.get("tool_calls") or []:
                answer = answers.get(call["id"])
                args = json.loads(call["function"]["arguments"])
                calls.append(("bash", args, answer, failed(answer)))
        name = said.get("instance_id") or file.rsplit("/", 1)[1].removesuffix(".traj.json")
        ended = said["info"].get("exit_status")
        outcome = "solved" if name in resolved else "exhausted" if ended == "LimitsExceeded" else "gave up"
        if calls:
            yield Run(f"mini-swe-agent/{name}", calls, outcome)


def verified(history):
    """Runs of mini-swe-agent that say their command in a block of text, and have the answer as the next message."""
    results = next(name for name in history.names if name.endswith("/results_summary.json"))
    resolved = {one["instance_id"] for one in json.loads(history.read(results))["instances"] if one["resolved"]}
    folder = results.rsplit("/", 1)[0]
    for file in sorted(name for name in history.names if name.startswith(folder) and name.endswith(".traj.json")):
        said = json.loads(history.read(file))
        calls = []
        for message, answer in zip(said["messages"], said["messages"][1:] + [None]):
            command = message["role"] == "assistant" and re.search(r"```bash\s*\n(.*?)\n```", message["content"], re.S)
            if command:
                answer = answer and answer["content"]
                calls.append(("bash", {"command": command.group(1)}, answer, failed(answer)))
        name = said["instance_id"]
        ended = said["info"].get("exit_status")
        outcome = "solved" if name in resolved else "exhausted" if ended == "LimitsExceeded" else "gave up"
        if calls:
            yield Run(f"mini-swe-agent, second model/{name}", calls, outcome)


def key(call):
    return call[0], json.dumps(call[1], sort_keys=True)


def same_running(run, count):
    """The step at which so many neighbours are the same call."""
    row = 0
    for at, call in enumerate(run.calls):
        row = row + 1 if at and key(run.calls[at - 1]) == key(call) else 1
        if row >= count:
            return at
    return None


def failures_running(run, count):
    row = 0
    for at, call in enumerate(run.calls):
        row = row + 1 if call[3] else 0
        if row >= count:
            return at
    return None


def openhands_stuck(run):
    """Four times the same call with the same answer, three times the same with an error, or A/B three times."""
    for at in range(len(run.calls)):
        last = run.calls[max(0, at - 5):at + 1]
        pair = [(key(call), call[2]) for call in last]
        if len(pair) >= 4 and len(set(pair[-4:])) == 1:
            return at
        if len(last) >= 3 and len({key(call) for call in last[-3:]}) == 1 and all(call[3] for call in last[-3:]):
            return at
        if len(pair) == 6 and pair[0] != pair[1] and pair[0] == pair[2] == pair[4] and pair[1] == pair[3] == pair[5]:
            return at
    return None


def earliest(*steps):
    return min((step for step in steps if step is not None), default=None)


RIVALS = [
    ("gemini-cli", lambda run: same_running(run, 5)),
    ("OpenHands", openhands_stuck),
    ("opencode", lambda run: same_running(run, 3)),
    ("Cline", lambda run: earliest(same_running(run, 5), failures_running(run, 3))),
]


def judged(andon, run, folder):
    """The step at which Andon halts, with the rule and its message."""
    file = folder / (re.sub(r"\W", "_", run.name) + ".jsonl")
    file.write_text("\n".join(run.events()) + "\n", encoding="utf-8")
    answer = subprocess.run([andon, "replay", "--events", file, "--format", "json"], capture_output=True, cwd=folder,
                            check=False).stdout
    for line in answer.splitlines():
        said = json.loads(line)
        if said.get("decision") == "halt":
            finding = next(one for one in said["findings"] if one["level"] == "halt")
            return said["event"] - 1, finding["rule"], finding["message"]
    return None


def row(name, halted, runs):
    """The figures of one detector over runs of one outcome."""
    hit = [(run, halted[run.name]) for run in runs if halted[run.name] is not None]
    saved = sum(len(run.calls) - at - 1 for run, at in hit)
    steps = sum(len(run.calls) for run in runs)
    return f"| {name} | {len(hit)} of {len(runs)} | {100 * len(hit) / max(len(runs), 1):.1f} % | {100 * saved / max(steps, 1):.1f} % |"


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--andon", default="andon")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True)
    asked.add_argument("--half", choices=["tune", "report", "all"], default="report")
    asked.add_argument("--events", type=pathlib.Path, help="keep the event streams here")
    args = asked.parse_args()
    andon = str(pathlib.Path(args.andon).resolve()) if "/" in args.andon else args.andon
    runs = []
    for name, read in ((STUDY, study), (LIVE, live), (VERIFIED, verified)):
        history = History(args.mirrors, name)
        runs.extend(read(history) if history.there else [])
    runs = [run for run in runs if args.half in ("all", run.half())]
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.events or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = {run.name: judged(andon, run, folder) for run in runs}
    detectors = [("andon", {name: said and said[0] for name, said in found.items()})]
    detectors += [(name, {run.name: rule(run) for run in runs}) for name, rule in RIVALS]
    by = collections.defaultdict(list)
    for run in runs:
        by[run.outcome].append(run)
    for outcome in ("exhausted", "gave up", "solved"):
        print(f"\n| {outcome} | halted | | steps after it |\n|---|--:|--:|--:|")
        for name, halted in detectors:
            print(row(name, halted, by[outcome]))
    labelled = [run for run in runs if run.repeated is not None]
    print("\n| by people's labels | three or more repetitions | fewer |\n|---|--:|--:|")
    for name, halted in detectors:
        loops = [run for run in labelled if run.repeated >= 3]
        others = [run for run in labelled if run.repeated < 3]
        share = lambda some: f"{sum(halted[run.name] is not None for run in some)} of {len(some)}"
        print(f"| {name} | {share(loops)} | {share(others)} |")
    print("\n| halted by Andon | outcome | step | of | repetitions labelled | rule |\n|---|---|--:|--:|--:|---|")
    for run in runs:
        if found[run.name]:
            at, rule, message = found[run.name]
            told = "-" if run.repeated is None else run.repeated
            print(f"| {run.name} | {run.outcome} | {at + 1} | {len(run.calls)} | {told} | {rule} |")


if __name__ == "__main__":
    main()
