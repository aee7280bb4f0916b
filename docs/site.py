#!/usr/bin/env python3
"""Makes a site of the pages: the preprocessor that docs/book.toml names, and the check of what was built.

As a preprocessor it reads the book from standard input. Links to files outside of docs/ lead to the repository on its
forge, at the commit that is built; where no forge is known, as on a machine of one's own, their text alone stays.

    docs/site.py check target/book     every link and anchor of the built pages leads somewhere
"""

import json
import os
import pathlib
import posixpath
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"(?<!!)\[([^][]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```(\w+) (\S+)$")


def forge() -> str | None:
    """The address of the files of this commit, in a job of GitHub."""
    parts = [os.environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "SHA")]
    return "{}/{}/blob/{}".format(*parts) if all(parts) else None


def prepared(text: str, folder: str) -> str:
    """A page, whose path is in `folder` of docs/, as the site has it."""
    address = forge()

    def leads(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join("docs", folder, target))
        if "://" in target or path.startswith("docs/"):
            return found[0]
        return f"[{words}]({address}/{path}{anchor})" if address else words

    lines, in_block = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            named = None if in_block else FENCE.match(line)
            if named:
                lines += [f'<div class="file">{named[2]}</div>', "", f"```{named[1]}"]
            else:
                lines.append(line)
            in_block = not in_block
        else:
            lines.append(line if in_block else LINK.sub(leads, line))
    return "\n".join(lines)


def preprocess() -> None:
    _, book = json.load(sys.stdin)

    def walk(items: list) -> None:
        for item in items:
            chapter = item.get("Chapter") if isinstance(item, dict) else None
            if chapter:
                folder = posixpath.dirname(chapter.get("path") or "")
                chapter["content"] = prepared(chapter["content"], folder)
                walk(chapter["sub_items"])

    walk(book["items"])
    json.dump(book, sys.stdout)


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "base":  # of 404.html: where the site is served
            return
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def check(root: pathlib.Path) -> int:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    links = broken = 0
    for path, page in pages.items():
        # It is served below any path, so its links begin at the root of the site.
        folder = root if path.name == "404.html" else path.parent
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            to = (folder / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            known = pages.get(to)
            if not to.is_file() or (parts.fragment and known and unquote(parts.fragment) not in known.anchors):
                broken += 1
                print(f"error: {path.relative_to(root)}: {link} leads nowhere", file=sys.stderr)
    print(f"{len(pages)} pages, {links} links, {broken} of them broken")
    return 1 if broken or not links else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        sys.exit(check(pathlib.Path(sys.argv[2]).resolve()))
    if sys.argv[1:2] != ["supports"]:
        preprocess()
