"""Explanations of codes, each read from its page in `codes/` on request.

A page is Markdown, and its file name is its code. The front matter has the `family`, with `page`
and `command` where these differ from the family's. Then follow the title as the heading, a
paragraph for the meaning of the code, a paragraph for why it matters, and a section for each
sample.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from reconciler.report.explanations.explanation import FAMILIES, Explanation, Sample

EXIT: Final = "exit-"
"""The prefix of an exit code that may be left out when it is typed."""

_FOLDER = files("reconciler.report.explanations") / "codes"
_SUFFIX = ".md"
_PAGE = re.compile(
    r"---\n(?P<head>(?:\w+: .+\n)+)---\n\n# (?P<code>\S+): (?P<title>.+)\n\n(?P<means>.+)\n\n"
    r"(?P<why>.+)\n\n## (?:Wrong|For example)\n\n(?P<wrong>(?:.*\n)+?)\n"
    r"## (?:Right|What to do)\n\n(?P<right>(?:.*\n)+)"
)
_BLOCK = re.compile(r"(?:`(?P<name>.+)`:\n\n)?```\w+\n(?P<content>(?:.*\n)*?)```\n")
_EXPORT = re.compile(r"export (\w+)='(.*)'")


@cache
def codes() -> tuple[str, ...]:
    """Return every code that has an explanation, in alphabetical order. No page is read."""
    names = sorted(file.name for file in _FOLDER.iterdir())
    return tuple(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


@cache
def explanation(code: str) -> Explanation | None:
    """Return the explanation of a code; None for a code without a page."""
    if code not in codes():
        return None
    found = _PAGE.fullmatch((_FOLDER / f"{code}{_SUFFIX}").read_text(encoding="utf-8"))
    if found is None or found["code"] != code:
        raise ValueError(f"{code}{_SUFFIX} is no page of a code")
    head = dict(line.split(": ", 1) for line in found["head"].splitlines())
    family = FAMILIES[head["family"]]
    return Explanation(
        code=code,
        family=family,
        title=found["title"],
        means=found["means"],
        why=found["why"],
        wrong=_sample(found["wrong"]),
        right=_sample(found["right"]),
        command=head.get("command", family.command),
        page=head.get("page", family.page),
    )


def _sample(text: str) -> Sample:
    blocks = [(block["name"], block["content"]) for block in _BLOCK.finditer(text)]
    lines = [line for name, content in blocks if not name for line in content.splitlines()]
    return Sample(
        files={name: content for name, content in blocks if name},
        typed=tuple(line for line in lines if not _EXPORT.fullmatch(line)),
        environ={found[1]: found[2] for line in lines if (found := _EXPORT.fullmatch(line))},
        says=_BLOCK.sub("", text).strip(),
    )


@cache
def spelled() -> dict[str, str]:
    """Return every code by each way in which it may be typed, in lower case."""
    short = {code.removeprefix(EXIT): code for code in codes()}
    return {**short, **{code.casefold(): code for code in codes()}}
