"""Telling of which kind a record is that says nothing of its kind. Pure."""

from __future__ import annotations

from itertools import islice

from reconciler.document import Json
from reconciler.finding import Severity
from reconciler.kinds import KINDS
from reconciler.kinds.facts import Facts, facts_of
from reconciler.kinds.kind import Kind
from reconciler.kinds.lint import lint
from reconciler.kinds.pasted import Mould
from reconciler.kinds.repairs import repaired


def kind_like(record: Json) -> Kind | None:
    """Give the only kind that a record can be of, None where that is a guess.

    It is one that finds no error in it and nothing missing, once it is repaired,
    and that alone has one of its lists or objects.
    """
    found = [kind for kind in KINDS if _fits(record, kind)]
    return found[0] if len(found) == 1 else None


def _fits(record: Json, kind: Kind) -> bool:
    for made in Mould(kind.spec, kind.id_form, has_id=True).rounds(record):
        record = repaired(record, made)
    findings = [*islice(lint(record, kind.spec), 1000)]
    if any(one.severity is Severity.ERROR or one.code == "M302" for one in findings):
        return False
    content = record.get(kind.spec.bare, record) if isinstance(record, dict) else None
    return isinstance(content, dict) and not _parts_of_its_own(kind).isdisjoint(
        key for key, value in content.items() if isinstance(value, dict | list)
    )


def _parts_of_its_own(kind: Kind) -> set[str]:
    """Give the names of lists and objects that no other kind has."""
    others = {name for one in KINDS if one is not kind for name in _content(one)}
    return {
        name
        for name, facts in _content(kind).items()
        if name not in others and (facts.part is not None or facts.items is not None)
    }


def _content(kind: Kind) -> dict[str, Facts]:
    fields = facts_of(kind.spec)
    inner = fields[kind.spec.bare].part if kind.spec.bare else None
    return dict(fields if inner is None else facts_of(inner))
