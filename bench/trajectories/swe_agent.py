"""Runs of SWE-agent 0.x and of CodeR, which builds on it: actions as lines of a shell with commands of its own.

`edit N:M` and `create` write and become edits of the file that is open; `open`, `goto`, `scroll_down`, `scroll_up` and the
searches read. A scroll does not say where it begins, so it is reported as other clients report a read: by file and first
line. Everything else went to bash. What no call was is left out: the notice that the budget is used up, and what the roles
of CodeR hand each other.
"""

import json
import re

from runs import Run

READS = {"open": "view", "goto": "view", "scroll_down": "view", "scroll_up": "view", "search_file": "search_file",
         "search_dir": "search_dir", "find_file": "find_file", "submit": "submit"}
NO_CALLS = {"exit_cost", "exit_format", "exit_error", "exit_context", "skip", "plan", "succeed", "fail"}
SIGNS = re.compile("|".join([
    r"\AYour proposed edit has introduced new syntax error", r"DO NOT re-run the same failed edit command",
    r"\A\s*(Usage: |Error: |(File|Directory) .* not found|No file open)", r"^Traceback \(most recent call last\)",
    r": command not found\s*$", r"syntax error near unexpected token|unexpected EOF while looking for",
    r"No such file or directory\s*$",
    r"COMMAND FAILED TO EXECUTE|EXECUTION TIMED OUT", r"^(error|fatal|ERROR): ", r": error: ", r"^\S*Error: ",
    r"BUILD FAILURE|BUILD FAILED", r"^E: ", r" ERROR [45]\d\d: ",
]), re.M)


def failed(tool, answer):
    """Whether a call failed. An editor that shows its file has edited; what a shell does not say is not known."""
    if not answer:
        return None
    if tool in ("search_file", "search_dir", "find_file", "view", "edit", "create"):
        told = re.match(r"\s*(Usage: |Error: |(File|Directory) .* not found|No file open)|Your proposed edit|.*DO NOT re-run", answer, re.S)
        crashed = re.search(r"COMMAND FAILED TO EXECUTE|EXECUTION TIMED OUT|: command not found\s*$", answer)
        return bool(told or crashed)
    return True if SIGNS.search(answer) else None


def first_line(answer):
    """The first line of a window that an answer shows."""
    line = re.search(r"^(\d+):", answer or "", re.M)
    return int(line.group(1)) if line else None


def state_of(step):
    try:
        return json.loads(step.get("state") or "{}")
    except ValueError:
        return {}


def call_of(action, opened, at):
    """A tool and its arguments."""
    word, _, rest = action.partition(" ")
    word = word.split("\n", 1)[0]
    if word == "edit":
        lines, _, text = action[5:].partition("\n")
        return "edit", {"path": opened, "lines": lines.strip(), "text": text.removesuffix("end_of_edit").rstrip("\n")}
    if word == "create":
        return "create", {"path": rest.strip()}
    if word == "open":
        path, *line = rest.strip().strip('"').split()[:2] or [""]
        return "view", {"path": path, **({"line": line[0]} if line else {})}
    if word == "goto":
        return "view", {"path": opened, "line": rest.strip()}
    if word in ("scroll_down", "scroll_up"):
        return "view", {"path": opened, word: at}
    if word in READS:
        args = {"query": rest.strip()} if rest.strip() else {}
        return READS[word], {**args, **({"path": opened} if word == "search_file" else {})}
    return "bash", {"command": action}


def calls_of(steps):
    """The calls of a trajectory. The state of a step is that before its action in CodeR and in SWE-agent alike."""
    calls, at = [], None
    for step in steps:
        action = (step.get("action") or "").strip()
        if not action or action.split()[0] in NO_CALLS:
            continue
        answer = step.get("observation")
        tool, args = call_of(action, state_of(step).get("open_file"), at)
        calls.append((tool, args, answer, failed(tool, answer)))
        if tool in ("view", "edit"):
            at = first_line(answer)
    return calls


def outcome_of(said, name, resolved):
    """Who used up the budget is exhausted, also where SWE-agent then handed in what there was."""
    if name in resolved:
        return "solved"
    last = (said["trajectory"][-1].get("action") or "").strip() if said["trajectory"] else ""
    spent = "exit_cost" in (said["info"].get("exit_status") or "") or last == "exit_cost"
    return "exhausted" if spent else "gave up"


def trajectories(history, folder, resolved, collection, prefix):
    """The runs of one folder. A run that broke off without a status counts as one that gave up."""
    for file in (name for name in history.names if name.startswith(folder) and name.endswith(".traj")):
        said = json.loads(history.read(file) or "null")
        calls = calls_of(said["trajectory"]) if said else []
        name = file.rsplit("/", 1)[1].removesuffix(".traj")
        if calls:
            yield Run(collection, f"{prefix}/{name}", calls, outcome_of(said, name, resolved))


def lite(history):
    """nus-apr/auto-code-rover: SWE-agent with GPT-4 on SWE-bench Lite, three runs of each task, 2 USD each."""
    for count in (1, 2, 3):
        folder = f"results/swe-agent-results/cost_2_{count}/"
        resolved = set(json.loads(history.read(f"{folder}final_report.json"))["resolved"])
        yield from trajectories(history, folder, resolved, "SWE-agent", f"swe-agent {count}")


def java(history):
    """multi-swe-bench/experiments: SWE-agent on Java, five models."""
    base = "evaluation/java/verified/"
    folders = {name.split("/")[3] for name in history.names if name.startswith(base) and name.endswith(".traj")}
    for folder in sorted(folders):
        told = json.loads(history.read(f"{base}{folder}/results/results.json"))
        model = folder.split("SWE-agent_", 1)[1]
        yield from trajectories(history, f"{base}{folder}/trajs/", set(told["resolved"]), "SWE-agent, Java",
                                f"swe-agent java, {model}")


def coder(history):
    """NL2Code/CodeR: roles one after the other on one task, taken as one run. Its results are not quite JSON."""
    listed = re.search(r'"resolved": \[(.*?)\]', history.read("results.json"), re.S)
    resolved = set(re.findall(r'"([^"]+)"', listed.group(1)))
    yield from trajectories(history, "trajs/", resolved, "CodeR", "coder")
