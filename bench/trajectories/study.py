"""sola-st/llm-agents-study: the only collection whose actions people labelled as repetitions.

Actions and answers lie in files of one text for each run, `Action at iteration N:` and `Result at iteration N:`.
"""

import ast
import json
import re

from runs import Run, failed


def parts(text, word):
    """The text after each `word at iteration N:`."""
    found = re.split(rf"^{word} at [Ii]teration (\d+): ?", text, flags=re.M)
    return {int(found[at]): found[at + 1] for at in range(1, len(found) - 1, 2)}


def labels(history, agent, name):
    """How often people called an action a repetition of the one before it."""
    for known in (name, re.sub(r"^experiment_\d+_", "", name)):
        file = f"{agent}_csv/action_action/{known}.csv"
        if file in history.objects:
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


def study(history):
    """The runs of the study whose actions can be read."""
    agents = [("openhands", "actions_actions", "rq1/codeact_iterations.csv", openhands),
              ("repairagent", "actions_actions", "rq1/repairagent_iterations.csv", repairagent)]
    for agent, folder, figures, action_of in agents:
        known = table(history, figures)
        most = max(steps for steps, _ in known.values())
        base = f"trajectories/{agent}/parsed/"
        for file in (name for name in history.names if name.startswith(f"{base}{folder}/")):
            name = file.rsplit("/", 1)[1].removesuffix(".txt")
            key = next((key for key in known if key == name or key.endswith(f"_{name}")), None)
            actions = parts(history.read(file), "Action")
            results = answers_of(history.read(file.replace(folder, "results_actions")) or "")
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
            yield Run({"openhands": "OpenHands", "repairagent": "RepairAgent"}[agent], f"{agent}/{name}", calls, outcome,
                      labels(history, agent, name))
