"""The loop rules of four clients, written down anew after their sources, so that they judge the same calls as Andon.

Each rule says the step (from 0) at which it would have stopped the run, or None.
"""

import json


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
    ("gemini-cli: 5 equal calls running", lambda run: same_running(run, 5)),
    ("OpenHands: 4 equal pairs, 3 equal errors, A/B three times", openhands_stuck),
    ("opencode: 3 equal calls running", lambda run: same_running(run, 3)),
    ("Cline: 5 equal calls or 3 failed ones running", lambda run: earliest(same_running(run, 5), failures_running(run, 3))),
]
