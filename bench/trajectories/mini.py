"""Runs of mini-swe-agent: one command of a shell a step. Three repositories, three ways of keeping what was said.

Terminal-Bench keeps what the terminal showed. mini-swe-agent prints each step there with its command and answer, wrapped at
the width of the terminal, alike for alike texts; the lines of its spinner and of a logger are left out. Of the other agents
on that board the terminal shows no calls.
"""

import json
import re

from runs import Run, failed

AGENT = "mini-swe-agent"


def outcome_of(name, resolved, ended):
    return "solved" if name in resolved else "exhausted" if ended == "LimitsExceeded" else "gave up"


def live(history):
    """RussellRyanH/CSCI-635-LiveSWE-Agent: calls of tools."""
    resolved = set()
    for name in history.names:
        if name.endswith("gpt-5-mini/eval-results.json"):
            resolved.update(json.loads(history.read(name)).get("resolved_ids", []))
    for file in (name for name in history.names if name.endswith(".traj.json")):
        said = json.loads(history.read(file))
        answers = {message.get("tool_call_id"): message.get("content") for message in said["messages"]
                   if message["role"] == "tool"}
        calls = []
        for message in said["messages"]:
            for call in message.get("tool_calls") or []:
                answer = answers.get(call["id"])
                calls.append(("bash", json.loads(call["function"]["arguments"]), answer, failed(answer)))
        name = said.get("instance_id") or file.rsplit("/", 1)[1].removesuffix(".traj.json")
        if calls:
            yield Run(AGENT, f"mini-swe-agent/{name}", calls, outcome_of(name, resolved, said["info"].get("exit_status")))


def verified(history):
    """gruckion/mini-swe-agent: commands in blocks of text, the answer as the next message."""
    results = next(name for name in history.names if name.endswith("/results_summary.json"))
    resolved = {one["instance_id"] for one in json.loads(history.read(results))["instances"] if one["resolved"]}
    folder = results.rsplit("/", 1)[0]
    for file in (name for name in history.names if name.startswith(folder) and name.endswith(".traj.json")):
        said = json.loads(history.read(file))
        calls = []
        for message, answer in zip(said["messages"], said["messages"][1:] + [None]):
            command = message["role"] == "assistant" and re.search(r"```bash\s*\n(.*?)\n```", message["content"], re.S)
            if command:
                answer = answer and answer["content"]
                calls.append(("bash", {"command": command.group(1)}, answer, failed(answer)))
        name = said["instance_id"]
        if calls:
            yield Run(f"{AGENT}, second model", f"mini-swe-agent, second model/{name}", calls,
                      outcome_of(name, resolved, said["info"].get("exit_status")))


LOGGER = re.compile(r"^\d\d:\d\d:\d\d - LiteLLM:.*?^ImportError: [^\n]*\n", re.S | re.M)
SPINNER = re.compile(r"^. Waiting for the LM to respond\.\.\.\n", re.M)


def shown(text):
    """What a terminal showed, without control sequences, overwritten lines and noise."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")
    text = re.sub(r"[^\n]*\r", "", text)
    return SPINNER.sub("", LOGGER.sub("", text))


def terminal(history):
    """laude-institute/terminal-bench-leaderboard: runs whose outcome is known. Who ran out of time is exhausted."""
    logs = [name for name in history.names if "swe-agent-mini" in name and name.endswith("/sessions/agent.log")]
    for file in logs:
        told = history.read(file.replace("sessions/agent.log", "results.json"))
        told = told and json.loads(told)
        if not told or told["is_resolved"] is None:
            continue
        steps = re.split(r"^mini-swe-agent \(step \d+, \$[\d.]+\):\n", shown(history.read(file) or ""), flags=re.M)[1:]
        calls = []
        for step in steps:
            command = re.search(r"^```bash\n(.*?)\n```$", step, re.S | re.M)
            if not command:
                continue
            answer = re.search(r"^<returncode>.*?(?:^</output>|\Z)|^The last command .*?(?=^─|\Z)", step, re.S | re.M)
            answer = answer and answer.group(0)
            wrong = True if answer and answer.startswith("The last command") else failed(answer)
            calls.append(("bash", {"command": command.group(1)}, answer, wrong))
        late = told["failure_mode"] == "agent_timeout"
        outcome = "solved" if told["is_resolved"] else "exhausted" if late else "gave up"
        if calls:
            yield Run(f"{AGENT}, Terminal-Bench", f"terminal-bench/{told['trial_name']}", calls, outcome)
