"""Differences between live and the base branch, shown next to the plan of a change. Pure.

Source: docs/ci.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import ABSENT
from reconciler.features.against.base_drift import BaseDifference, BaseDrift, FieldBeside
from reconciler.report.markdown import code
from reconciler.report.safe import safe
from reconciler.report.sections import Notice, SectionFormats
from reconciler.report.table import INDENT, Colour, Style, wrapped
from reconciler.report.words import place, plural, value

TITLE = "Live has drifted from the base branch here"
SHOWN_DIGITS = 12
MOST_ROWS = 20
MOST_FIELDS = 5
LONGEST_VALUE = 60
LONGEST_WHY = 300


@with_config(ConfigDict(extra="ignore"))
class FieldBesideDocument(TypedDict):
    """A field that is not live as the base branch declares it; a side without it is left out.

    Values are safe to show.
    """

    path: list[str | int]
    base: NotRequired[JsonValue]
    live: NotRequired[JsonValue]


@with_config(ConfigDict(extra="ignore"))
class StrayedDocument(TypedDict):
    """A resource, with what the change would do to it on either side."""

    ref: str
    base: str
    live: str
    fields: list[FieldBesideDocument]


@with_config(ConfigDict(extra="ignore"))
class BesideBaseDocument(TypedDict):
    """Differences between live and the base branch, or why they could not be found."""

    against: Annotated[str, Field(description="The commit of the base branch.")]
    why: Annotated[str, Field(description="Why they could not be found; else empty.")]
    resources: list[StrayedDocument]


BesideBase: TypeAlias = Annotated[
    BesideBaseDocument | None,
    Field(
        default=None,
        description="Where live is not as the base branch declares it; null where that was not "
        "asked for.",
    ),
]


def base_document(found: BaseDrift) -> BesideBaseDocument:
    """Return the JSON form."""
    return {
        "against": found.against,
        "why": found.why,
        "resources": [
            {
                "ref": str(base_difference.ref),
                "base": base_difference.base,
                "live": base_difference.live,
                "fields": [_field_document(field) for field in base_difference.fields],
            }
            for base_difference in found.strayed
        ],
    }


def _field_document(field: FieldBeside) -> FieldBesideDocument:
    document: FieldBesideDocument = {"path": list(field.path)}
    if field.base is not ABSENT:
        document["base"] = field.base
    if field.live is not ABSENT:
        document["live"] = field.live
    return document


def base_lines(found: BaseDrift, style: Style) -> Iterator[str]:
    """Yield lines for a terminal; none where live is as the base branch declares it."""
    if found.why:
        yield from wrapped(describe_reason(found), style, Colour.YELLOW, margin="", hang="  ")
        yield ""
    if not found.strayed:
        return
    yield style.paint(f"{TITLE} ({found.against[:SHOWN_DIGITS]})", Colour.YELLOW, Colour.BOLD)
    shown = found.strayed if style.verbose else found.strayed[:MOST_ROWS]
    for base_difference in shown:
        yield from wrapped(
            f"{base_difference.ref}: {standing(base_difference)}", style, margin="  ", hang="  "
        )
        fields = base_difference.fields if style.verbose else base_difference.fields[:MOST_FIELDS]
        for field in fields:
            yield from wrapped(_describe_field(field), style, Colour.DIM, margin=INDENT, hang="  ")
        if rest := len(base_difference.fields) - len(fields):
            yield style.paint(f"{INDENT}and {plural(rest, 'field')} more", Colour.DIM)
    if rest := len(found.strayed) - len(shown):
        yield style.paint(f"  and {rest:,} more (-v lists them)", Colour.DIM)
    yield ""


def describe_reason(found: BaseDrift) -> str:
    """Return on one line why live could not be compared with the base branch."""
    reason = " ".join(found.why.split())
    return safe(f"Not compared with the base branch: {reason}", LONGEST_WHY)


def standing(difference: BaseDifference) -> str:
    """Return the state of a resource on both sides in words."""
    if difference.base == "create":
        return "it is live, and the base branch does not declare it"
    if difference.live == "create":
        return "the base branch declares it, and it is not live"
    return f"{plural(len(difference.fields), 'field')} not live as the base branch has them"


def _describe_field(field: FieldBeside) -> str:
    base, live = (value(element, LONGEST_VALUE) for element in (field.base, field.live))
    return f"{place(field.path)}: base {base}, live {live}"


def base_markdown(found: BaseDrift, room: int) -> str:
    """Return a fold for a comment, "" for none, within `room` bytes; other rows are counted."""
    if found.why:
        line = f"\n<sub>Not compared with the base branch: {code(found.why, LONGEST_WHY)}</sub>\n"
        return line if len(line.encode()) <= room else ""
    if not found.strayed:
        return ""
    count = plural(len(found.strayed), "resource")
    head = (
        f"\n<details><summary>{TITLE} ({count})</summary>\n\nAgainst the base branch's commit "
        f"{code(found.against[:SHOWN_DIGITS])}; fields that hold secrets are left out.\n\n"
        "| resource | field | base branch | live |\n|---|---|---|---|\n"
    )
    foot = "\n</details>\n"
    rows, left = list[str](), room - len((head + foot).encode())
    for number, base_difference in enumerate(found.strayed):
        text = "".join(_rows(base_difference))
        more = f"| and {len(found.strayed) - number:,} more | | | |\n"
        left -= len(text.encode())
        if left < len(more.encode()) or number == MOST_ROWS:
            rows.append(more)
            break
        rows.append(text)
    return head + "".join(rows) + foot if left > 0 else ""


def _rows(difference: BaseDifference) -> Iterator[str]:
    named = code(str(difference.ref), LONGEST_VALUE)
    if not difference.fields:
        yield f"| {named} | {standing(difference)} | | |\n"
    for field in difference.fields[:MOST_FIELDS]:
        sides = (value(side, LONGEST_VALUE) for side in (field.base, field.live))
        cells = (place(field.path), *sides)
        yield f"| {named} | {' | '.join(code(cell, LONGEST_VALUE) for cell in cells)} |\n"
    if (rest := len(difference.fields) - MOST_FIELDS) > 0:
        yield f"| {named} | and {plural(rest, 'field')} more | | |\n"


def base_notices(found: BaseDrift) -> Iterator[Notice]:
    """Yield a notice of the resources that have drifted."""
    if found.strayed:
        words = "not live as the base branch declares it, so this change meets something else"
        yield Notice("drifted", words, tuple(difference.ref for difference in found.strayed))


FORMATS: Final[SectionFormats[BaseDrift]] = SectionFormats(
    members=lambda found: {"besideBase": base_document(found)},
    lines=base_lines,
    end_markdown=base_markdown,
    notices=base_notices,
)
