"""Explanations of codes, each read from its page in `codes/` on request.

A page is Markdown, and its file name is its code. The front matter has the `family`, with `page`
and `command` where these differ from the family's. Then follow the title as the heading, a
paragraph for the meaning of the code, a paragraph for why it matters, and a section for each
sample.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final

from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.runtime.advice import is_added


@dataclass(frozen=True, slots=True)
class Family:
    """A family of codes. `noun` names one of its codes, `about` completes "they are about".

    `page` and `command` are the defaults of its explanations.
    """

    noun: str
    about: str
    page: str = "manifests"
    command: str = ""


_VALIDATE = "validate"

FAMILIES: Final[Mapping[str, Family]] = {
    "text": Family("a complaint", "the text of a file", command=_VALIDATE),
    "envelope": Family("a complaint", "what is around `spec`", command=_VALIDATE),
    "spec": Family("a complaint", "what is under `spec`", command=_VALIDATE),
    "workspace": Family(
        "a complaint", "the workspace as a whole, and expressions", command=_VALIDATE
    ),
    "reuse": Family("a complaint", "what is said once for many", "reuse", _VALIDATE),
    "practice": Family("a complaint", "practice", "practice", _VALIDATE),
    "query": Family("a complaint", "queries", "graph", _VALIDATE),
    "audit": Family("a finding", "what is declared against what happened", "audit"),
    "tests": Family("a complaint", "tests of alerts", "alert-tests", "test"),
    "project": Family("a complaint", "the project file", command=_VALIDATE),
    "guard": Family("a guard", "what an apply refuses without consent", "guards"),
    "reason": Family("a reason", "why a change of a plan is as it is", "plan"),
    "remark": Family("a remark", "what a plan says of itself", "plan"),
    "exit": Family("an exit code", "what a command ends with", "exit-codes"),
}
"""Every family by its name in the front matter of a page, in the order of the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Files of a workspace at their places, or shell commands that reproduce the case.

    `says` describes in words what no file shows. `environ` is set while `command` checks the
    sample, in a folder with the files and the results of the commands.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The meaning of a code, for a person who met it.

    `title` completes "this is reported where ..." in a few words. `command` reports the code for
    `wrong`, and does not report it for `right`; "" where no sample can show it. `page` is the page
    of docs/ that says more. `advises` is the feature's command in `right`, or ""; without that
    feature, `right` has no command.
    """

    code: str
    family: Family
    title: str
    means: str
    why: str
    wrong: Sample
    right: Sample
    command: str
    page: str
    advises: str


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
    advises = head.get("advises", "")
    right = _sample(found["right"])
    return Explanation(
        code=code,
        family=family,
        title=found["title"],
        means=found["means"],
        why=found["why"],
        wrong=_sample(found["wrong"]),
        right=right if not advises or is_added(advises) else replace(right, typed=()),
        command=head.get("command", family.command),
        page=head.get("page", family.page),
        advises=advises,
    )


def title_of(code: str) -> str:
    """Return the title of a code; "" for a code without a page, as that of a team's rule."""
    page = explanation(code)
    return page.title if page is not None else ""


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


def code_text(explanation: Explanation) -> str:
    """Return the explanation of a code as plain text."""
    return "\n".join(code_lines(explanation, Style()))


def code_markdown(explanation: Explanation, heading: str = "") -> str:
    """Return the explanation as Markdown, ending in a line break; headings begin with `heading`."""
    parts = [explanation.means, explanation.why]
    for word, sample in (("wrong", explanation.wrong), ("right", explanation.right)):
        title = _titled(word, explanation).capitalize()
        parts.append(f"{heading} {title}" if heading else f"**{title}**")
        parts.extend(_markdown(sample))
    return "\n\n".join(parts) + "\n"


def _markdown(sample: Sample) -> Iterator[str]:
    if sample.says:
        yield sample.says
    if typed := [*_exports(sample), *sample.typed]:
        yield "\n".join(("```bash", *typed, "```"))
    for name, content in sample.files.items():
        yield f"`{name}`:"
        yield f"```{'json' if name.endswith('.json') else 'yaml'}\n{content}```"


def code_lines(explanation: Explanation, style: Style) -> Iterator[str]:
    """Yield the lines of an explanation for a terminal."""
    yield style.paint(safe(f"{explanation.code}: {explanation.title}"), Colour.BOLD)
    yield ""
    yield fitted(f"  {safe(explanation.means)}", style)
    yield ""
    yield fitted(f"  {safe(explanation.why)}", style)
    for word, sample in (("wrong", explanation.wrong), ("right", explanation.right)):
        yield ""
        yield style.paint(_titled(word, explanation), Colour.DIM)
        yield from _sample_lines(sample, style)


def _titled(word: str, explanation: Explanation) -> str:
    if explanation.command:
        return word
    return "for example" if word == "wrong" else "what to do"


def _sample_lines(sample: Sample, style: Style) -> Iterator[str]:
    if sample.says:
        yield fitted(f"  {sample.says}", style)
    for line in (*_exports(sample), *sample.typed):
        yield f"  $ {line}"
    for name, content in sample.files.items():
        yield f"  # {name}"
        yield from (f"  {safe(line)}" for line in content.splitlines())


def _exports(sample: Sample) -> Iterator[str]:
    for name, value in sample.environ.items():
        yield f"export {name}={value!r}"
