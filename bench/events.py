#!/usr/bin/env python3
"""A stream of events for `andon replay --events`: healthy work of two nodes, in turns.

    bench/events.py 1000000 > /tmp/million.jsonl
    bench/events.py --measure target/dist/andon --count 1000000

With --measure the stream is piped into the program (it is never a file), and the wall time, the CPU time, the peak
resident memory and the events per second of the program are printed.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time


def stream(count, seed=7):
    """Yields `count` lines: turns of about twenty events, with tests, usage and a commit in most of them."""
    rng = random.Random(seed)
    at, step, made = 1_700_000_000, 0, 0

    def line(what, **members):
        nonlocal at
        at += rng.randrange(1, 20)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        return json.dumps({"type": what, "at": moment, **members}, separators=(",", ":"))

    def turn():
        nonlocal step
        step += 1
        node = "coder" if step % 3 else "reviewer"
        code = f"{step:064x}"
        yield line("turn_start", node=node, session="auto-1", model="model-4.6")
        for call in range(rng.randrange(8, 20)):
            name = rng.choice(["Read", "Grep", "Bash", "Edit"])
            args = {"file_path": f"src/module_{rng.randrange(200)}.rs", "step": step, "call": call}
            result = f"{rng.getrandbits(64):x} " * 8
            yield line("tool_call", node=node, tool=name, args=args, result=result, error=False)
        failing = [f"suite::case_{n}_{step}" for n in range(step % 2 if step % 6 == 1 else 0)]
        status = "failed" if failing else "passed"
        errors = [f"assertion failed at {step}" for _ in failing]
        yield line("test_run", code=code, status=status, total=120, failing=failing, errors=errors)
        yield line("usage", node=node, input_tokens=1200, output_tokens=300, cost_usd="0.03",
                   context_tokens=20_000 + rng.randrange(60_000))
        yield line("output", node=node, kind="message.final", text=f"Step {step} is done: {rng.getrandbits(80):x}")
        if step % 4:
            yield line("commit", code=code, diff=f"{step:064x}", subject=f"Step {step}", kind="normal")
        yield line("turn_end", node=node, code=code)
        if step % 50 == 0:
            yield line("ack", by="a person", reason="looked")

    while made < count:
        for text in turn():
            yield text
            made += 1
            if made == count:
                return


def measure(program, count, out):
    """Pipes the stream into `program` and prints what that cost."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ANDON", "CLAUDE"))}
    began = time.perf_counter()
    child = subprocess.Popen([program, "replay", "--events", "-", "--format", "json"], stdin=subprocess.PIPE,
                             stdout=open(out, "wb"), cwd="/", env=clean)
    for text in stream(count):
        child.stdin.write(text.encode() + b"\n")
    child.stdin.close()
    if child.wait() != 0:
        sys.exit(f"exit code {child.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"{count} events: {time.perf_counter() - began:.1f} s, {cpu:.2f} s of CPU "
          f"({count / cpu:,.0f} events a second of it), {used.ru_maxrss / 1024:.1f} MiB at the most")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="?", type=int, help="print so many events")
    parser.add_argument("--measure", metavar="ANDON", help="the program to measure")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--out", default=os.devnull, help="where the decisions go")
    args = parser.parse_args()
    if args.measure:
        measure(os.path.abspath(args.measure), args.count, args.out)
    elif args.lines:
        for text in stream(args.lines):
            sys.stdout.write(text + "\n")
    else:
        parser.error("a number of events, or --measure")


if __name__ == "__main__":
    main()
