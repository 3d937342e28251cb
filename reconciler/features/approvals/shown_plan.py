"""The text that a person sees before signing: a plan file, whole, in the words of `plan`.

Nothing is folded, left out or cut, as the signature is for all of it. The words are made here from
the signed values. Words from the file that no signature covers are marked as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reconciler.document import ABSENT, Difference
from reconciler.kinds import BY_NAME
from reconciler.model import RollsBack
from reconciler.model.guards import NOT_APPROVED, REVIEW_LEVEL
from reconciler.report.changes.document import PlannedField
from reconciler.report.changes.field_changes import (
    FieldChange,
    broken_to,
    in_words,
    subject_lines,
)
from reconciler.report.counts import AS_DECLARED, AS_LAST_WRITTEN, EVIDENCE_MEANINGS
from reconciler.report.labels import FieldLabel, place_in
from reconciler.report.plan.document import ChangeDocument, GuardDocument, PlanDocument
from reconciler.report.reasons import SHORT_RUN
from reconciler.report.safe import columns, safe
from reconciler.report.table import INDENT, Colour, Style, wrapped
from reconciler.report.words import plural

_SIGNS: Mapping[str, tuple[str, Colour]] = {
    "create": ("+", Colour.GREEN),
    "update": ("~", Colour.YELLOW),
    "assert": ("!", Colour.MAGENTA),
}


def shown_plan(document: PlanDocument, style: Style) -> str:
    """Return a plan file as text: each change with all its fields, then the guards."""
    head = f"Plan for {document['environment']} ({document['target']}): {_summary(document)}"
    lines = [*wrapped(head, style, Colour.BOLD, margin="", hang="  ")]
    for change in document["changes"]:
        if change["action"] != "keep":
            lines += ["", *_change_lines(change, style)]
    if unsigned := [*_unsigned_lines(document, style)]:
        words = "The plan file also says, and no signature covers it"
        lines += ["", *wrapped(words, style, Colour.BOLD, margin="", hang="  "), *unsigned]
    lines += _guards_lines(document["guards"], style)
    lines += ["", *wrapped(f"Digest {document['digest']}", style, Colour.DIM, margin="")]
    return "\n".join(lines)


def _summary(document: PlanDocument) -> str:
    changes = document["changes"]
    found = Counter[str](change["action"] for change in changes)
    kept = [change["evidence"] for change in changes if change["action"] == "keep"]
    read = sum(evidence in ("live", "base") for evidence in kept)
    counts = {
        **{f"to {word}": found[word] for word in ("create", "update", "assert")},
        AS_DECLARED: read,
        AS_LAST_WRITTEN: len(kept) - read,
        "destroyed permanently": sum(len(change["destroys"]) for change in changes),
    }
    shown = [f"{count:,} {words}" for words, count in counts.items() if count]
    return ", ".join(shown) or "nothing is declared"


def _change_lines(change: ChangeDocument, style: Style) -> Iterator[str]:
    sign, colour = _SIGNS[change["action"]]
    yield style.paint(f"{sign} {safe(change['ref'])}", colour, Colour.BOLD)
    if change["remoteId"] is not None:
        # A new name with the id of another resource writes that one.
        yield from _broken(f"id {safe(str(change['remoteId']))}", style, Colour.DIM)
    seen = "unseen" if change["evidence"] == "none" else change["evidence"]
    if seen != "live":
        yield from wrapped(f"{seen}: {EVIDENCE_MEANINGS[seen]}", style, Colour.DIM, hang="  ")
    found = [_in_words(field, change["kind"]) for field in change["fields"]]
    yield from subject_lines(found, replace(style, verbose=True), whole=True)
    for name in change["destroys"]:
        yield from _broken(f"- destroys {safe(name)}", style, Colour.RED)


def _in_words(field: PlannedField, kind_name: str) -> FieldChange:
    kind, path = BY_NAME.get(kind_name), tuple(field["path"])
    before, after = field.get("before", ABSENT), field.get("after", ABSENT)
    difference = Difference(path, before, after, field["operation"])
    label, place = place_in(kind, path), ""
    if (known := field.get("label")) is not None:
        label = FieldLabel(safe(known["subject"]), safe(known["field"]))
        place = safe(known["place"])
    return in_words(difference, kind, label, place, whole=True)


def _broken(text: str, style: Style, *colours: Colour, margin: str = INDENT) -> Iterator[str]:
    """Yield a safe text in lines that fit, also where a word is longer than a line."""
    for part in broken_to(text, max(1, style.width - columns(margin))):
        yield margin + style.paint(part, *colours)
        margin = " " * columns(margin)


def _unsigned_lines(document: PlanDocument, style: Style) -> Iterator[str]:
    """Yield the parts of the file that the signature does not cover."""
    remarks: Sequence[Mapping[str, Any]] = document["remarks"]
    for remark in remarks:
        if remark["code"] == RollsBack.code:
            words = (
                f"a rollback: puts back what was {remark.get('state')} before the run "
                f"{str(remark.get('run'))[:SHORT_RUN]} ({remark.get('command')} by "
                f"{remark.get('actor')}, {remark.get('at')}); manifests stay as they are, and the "
                "next apply of them brings the change back"
            )
            yield from wrapped(words, style, Colour.CYAN, margin="  ", hang="  ")
    for change in document["changes"]:
        if change["action"] == "keep":
            continue
        source = change["source"]
        watchers = len(change.get("watchedBy", ())) + len(change.get("watchedByOthers", ()))
        notes = [
            f"{change['ref']}: {source['file']}:{source['line']}",
            *([f"watched by {plural(watchers, 'alert')}"] if watchers else ()),
            *change["notes"],
        ]
        yield from wrapped("; ".join(notes), style, Colour.CYAN, margin="  ", hang="  ")


def _guards_lines(guards: Sequence[GuardDocument], style: Style) -> Iterator[str]:
    listed = [guard for guard in guards if guard["code"] != NOT_APPROVED]
    headings = {
        "You consent to": [guard for guard in listed if guard["level"] == REVIEW_LEVEL],
        "You do not consent to, so whoever applies must give a flag": [
            guard for guard in listed if guard["level"] != REVIEW_LEVEL
        ],
    }
    for heading, found in headings.items():
        if found:
            yield ""
            yield from wrapped(heading, style, Colour.RED, Colour.BOLD, margin="", hang="  ")
        for guard in found:
            words = f"{guard['message']} [{guard['code']}]"
            yield from wrapped(words, style, margin="  ", hang="  ")
