#!/usr/bin/env python3
"""Draws the pictures of terminals in docs/pictures/ from what the program prints.

A `console` block of a page that an image follows is drawn as that image: the block's commands are run in a pseudo
terminal, after all that the page shows before it, and what they print is drawn as it is, colours included. Only commit
ids, hashes and times are replaced by fixed ones, so that a picture is the same each time.

    docs/pictures.py --andon target/debug/andon [--check]
"""

import argparse
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from hashlib import sha1
from html import escape

COLUMNS = 80
PERSON = {"NAME": "A. Person", "EMAIL": "person@example.org"}
DOCS = pathlib.Path(__file__).parent
# Blocks that are files or commands, and images: `![title](file)`.
PARTS = re.compile(r"^```(?P<language>bash|sh|toml|makefile|text|console) ?(?P<file>\S*)\n(?P<text>.*?)^```\n"
                   r"(?:\n!\[(?P<title>[^]]*)\]\((?P<picture>pictures/[^)]*\.svg)\))?", re.M | re.S)

CELL = 8.4  # width of a character at 14 px
LINE = 19
MARGIN = 16
BAR = 30

# SGR foreground colours that the program uses, as classes of the picture.
COLOURS = {31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}
STYLE = """
  .back { fill: #ffffff; stroke: #d0d7de } .bar { fill: #eaeef2 } text { fill: #1f2328 }
  .prompt, .dim { fill: #656d76 } .red { fill: #b3141f } .green { fill: #116329 } .yellow { fill: #7d4e00 }
  .blue { fill: #0550ae } .magenta { fill: #8250df } .cyan { fill: #0b6478 } .bold { font-weight: bold }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d } .bar { fill: #161b22 } text { fill: #e6edf3 }
    .prompt, .dim { fill: #9198a1 } .red { fill: #ff7b72 } .green { fill: #7ee787 } .yellow { fill: #e3b341 }
    .blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #76e3ea }
  }
"""


def environment(andon: pathlib.Path, home: str) -> dict[str, str]:
    """What the commands see: nothing of this machine but its programs."""
    return {
        "PATH": f"{andon.parent}:{os.environ['PATH']}",
        "HOME": home,
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()},
    }


def in_terminal(command: str, directory: str, env: dict[str, str]) -> str:
    """What a command writes to a terminal."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=directory, env=env, stdin=child, stdout=child, stderr=child, start_new_session=True
    )
    os.close(child)
    output = b""
    while True:
        try:
            read = os.read(parent, 65536)
        except OSError:  # the terminal was closed
            break
        if not read:
            break
        output += read
    process.wait()
    os.close(parent)
    return output.decode().replace("\r\n", "\n").rstrip("\n")


def fixed(text: str) -> str:
    """The text with ids and times that do not change from run to run."""
    ids: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        number = str(len(ids)).encode()
        return ids.setdefault(found[0], sha1(number).hexdigest()[: len(found[0])])

    # A colour ends with an `m`, which is no part of the word behind it.
    text = re.sub(r"(?<![0-9a-ln-z])[0-9a-f]{12}(?![0-9a-z])", replaced, text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "2026-11-20 15:30 UTC", text)
    age = r"(?:just now|\d+ minutes? ago) \((?:\d{4}-\d\d-\d\d )?\d\d:\d\d [^)]*\)"
    return re.sub(age, "just now (15:30 UTC)", text)


def rows(line: str) -> list[list[tuple[int, str, str]]]:
    """The rows that a line takes; of each the column, classes and text of each run of one style."""
    found, classes, column = [[]], [], 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b["):
            while part:
                if column == COLUMNS:
                    found, column = [*found, []], 0
                here, part = part[: COLUMNS - column], part[COLUMNS - column :]
                found[-1].append((column, " ".join(classes), here))
                column += len(here)
            continue
        for code in part[2:-1].split(";"):
            number = int(code or 0)
            if number == 0:
                classes = []
            elif number in (1, 2):
                classes = [*classes, {1: "bold", 2: "dim"}[number]]
            elif number in COLOURS or number - 60 in COLOURS:
                classes = [*classes, COLOURS.get(number) or COLOURS[number - 60]]
    return found


def picture(lines: list[str], title: str) -> str:
    """The picture of a terminal with these lines."""
    all_rows = [row for line in lines for row in rows(line)]
    width = round(COLUMNS * CELL + 2 * MARGIN)
    height = BAR + MARGIN + len(all_rows) * LINE + MARGIN // 2
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-labelledby="title">',
        f'<title id="title">{escape(title)}</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="bar" d="M1 {BAR}V9a8 8 0 0 1 8-8h{width - 18}a8 8 0 0 1 8 8v{BAR - 9}z"/>',
        *(f'<circle class="dim" cx="{20 + 18 * n}" cy="{BAR / 2 + 0.5}" r="5"/>' for n in range(3)),
        "<g font-family=\"ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">",
    ]
    for number, row in enumerate(all_rows):
        y = BAR + MARGIN + number * LINE + 8
        for column, classes, text in row:
            # Leading blanks are a matter of the place.
            blanks = len(text) - len(text.lstrip(" "))
            text = text.strip(" ")
            if text:
                x = round(MARGIN + (column + blanks) * CELL, 1)
                style = f' class="{classes}"' if classes else ""
                length = round(len(text) * CELL, 1)
                svg.append(
                    f'<text x="{x}" y="{y}"{style} textLength="{length}" xml:space="preserve">{escape(text)}</text>'
                )
    return "\n".join([*svg, "</g>", "</svg>", ""])


def drawn(commands: list[str], directory: str, env: dict[str, str], title: str) -> str:
    """The picture of a terminal in which these commands are typed."""
    lines: list[str] = []
    for command in commands:
        lines.append(f"\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m")
        shown = in_terminal(command, directory, env)
        lines += shown.split("\n") if shown else []
        lines.append("")
    return picture(fixed("\n".join(lines).rstrip()).split("\n"), title)


def walk(page: pathlib.Path, andon: pathlib.Path) -> dict[pathlib.Path, str]:
    """Goes through a page as a reader does; its pictures."""
    found: dict[pathlib.Path, str] = {}
    with tempfile.TemporaryDirectory() as home:
        env, directory = environment(andon, home), f"{home}/work"
        os.mkdir(directory)
        for part in PARTS.finditer(page.read_text(encoding="utf-8")):
            if part["file"]:
                pathlib.Path(directory, part["file"]).write_text(part["text"], encoding="utf-8")
            if part["language"] != "console":
                continue
            commands = [line[2:] for line in part["text"].split("\n") if line.startswith("$ ")]
            if part["picture"]:
                found[DOCS / part["picture"]] = drawn(commands, directory, env, part["title"])
                continue
            for command in commands:
                if command.startswith("cd "):
                    directory = os.path.normpath(os.path.join(directory, command[3:]))
                else:
                    # The page shows a person at a terminal; here there is none.
                    command = command.replace("andon resume ", "andon resume --yes ")
                    subprocess.run(["sh", "-c", command], cwd=directory, env=env, capture_output=True, check=False)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--check", action="store_true", help="only say whether the pictures are current")
    given = parser.parse_args()
    pages = [page for page in DOCS.glob("*.md") if "](pictures/" in page.read_text(encoding="utf-8")]
    made = {file: text for page in pages for file, text in walk(page, given.andon.resolve()).items()}
    stale = sorted(file for file, text in made.items() if not file.exists() or file.read_text() != text)
    stale += sorted(file for file in (DOCS / "pictures").glob("*.svg") if file not in made)
    if given.check:
        for file in stale:
            print(f"error: {file} is not current\n  help: {sys.argv[0]} --andon {given.andon}", file=sys.stderr)
        return 1 if stale else 0
    for file in stale:
        if file in made:
            file.write_text(made[file])
        else:
            file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
