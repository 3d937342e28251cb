"""An example of every reason and remark, and what is said of each."""

from __future__ import annotations

import dataclasses
from typing import get_args, get_type_hints

from reconciler.model import CreateLost, LastEdit, ProtectionTurns, Reason, Ref, Remark
from reconciler.report.reasons import words_of

REF = Ref("SLO", "checkout")
EXAMPLES: dict[object, object] = {
    str: "words",
    int: 9,
    bool: True,
    Ref: REF,
    LastEdit: LastEdit(who="Ann", at="2025-01-31T09:00:00Z"),
    tuple[Ref, ...]: (REF,),
    tuple[str, ...]: ("severities",),
    tuple[tuple[str | int, ...], ...]: (("policies", 0, "name"),),
    str | int: "id",
    str | int | None: 7,
}


def example(reason: type[Reason | Remark]) -> Reason | Remark:
    """Give a reason with something in every field."""
    hints = get_type_hints(reason)
    known = {
        field.name: EXAMPLES.get(hints[field.name], get_args(hints[field.name])[:1] and "unknown")
        for field in dataclasses.fields(reason)
    }
    return reason(**known)


def said_of_each() -> str:
    """Give the words of every reason, one a line, behind its code."""
    became = get_args(get_type_hints(CreateLost)["became"])
    reasons = [
        *(example(reason) for reason in Reason.__subclasses__() if reason is not CreateLost),
        *(CreateLost("2025-01-31T09:00:00Z", value) for value in became),
        ProtectionTurns(begins=False),
    ]
    lines = [f"{reason.code}: {words_of(reason, REF)}\n" for reason in reasons]  # type: ignore[arg-type]  # no remark
    return "".join(sorted(lines))
