"""Runs and the repositories they are read from: what every collection and the tables share.

Repositories are read object by object, never checked out, so that no text of theirs lies about afterwards. Snapshots may
lack their largest files: `read` then says None, and each collection does without.
"""

import json
import re
import subprocess
import zlib


class History:
    """The newest commit of a bare repository."""

    def __init__(self, mirrors, name):
        self.path = mirrors / name.replace("/", "+") / "repo"
        self.there = (self.path / "HEAD").exists()
        self.objects, self.reader = {}, None
        listed = self.git("ls-tree", "-r", "-z", "HEAD") if self.there else ""
        for line in filter(None, listed.split("\0")):
            told, name = line.split("\t", 1)
            self.objects[name] = told.split()[2]
        self.names = sorted(self.objects)

    def git(self, *args):
        return subprocess.run(["git", "--git-dir", self.path, *args], capture_output=True, check=True).stdout.decode(
            "utf-8", "replace")

    def read(self, name):
        """The text of a file; None where it is not there."""
        if name not in self.objects:
            return None
        if self.reader is None:
            self.reader = subprocess.Popen(["git", "--git-dir", self.path, "cat-file", "--batch"],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader.stdin.write(self.objects[name].encode() + b"\n")
        self.reader.stdin.flush()
        told = self.reader.stdout.readline().split()
        if told[1] == b"missing":
            return None
        text = self.reader.stdout.read(int(told[2]) + 1)[:-1]
        return text.decode("utf-8", "replace")

    def close(self):
        if self.reader is not None:
            self.reader.stdin.close()
            self.reader.stdout.close()
            self.reader.wait()


class Run:
    """One run: calls as (tool, arguments, answer, failed), its outcome, and the repetitions that people labelled."""

    def __init__(self, collection, name, calls, outcome, repeated=None):
        self.collection, self.name, self.calls = collection, name, calls
        self.outcome, self.repeated = outcome, repeated
        self.sizes = [len(json.dumps(args, ensure_ascii=False)) + len(answer or "") for _, args, answer, _ in calls]

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


def failed(answer):
    """Whether an answer is that of a call that failed; unknown without a sign."""
    if answer is None:
        return None
    code = re.search(r"exit code (-?\d+)|<returncode>(-?\d+)", answer)
    if code:
        return (code.group(1) or code.group(2)) != "0"
    return True if re.search(r"^\s*(ERROR|Error|Traceback|Invalid)|Command \w+ returned: Error", answer) else None
