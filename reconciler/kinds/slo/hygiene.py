"""Checks of SLOs against what is known of them. Source: docs/evidence.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.kinds.hygiene import Check, Record, Trace
from reconciler.kinds.practice import Neighbours
from reconciler.kinds.slo.practice import ALERT, PRACTICES, unwatched


def _unwatched(neighbours: Neighbours, record: Record) -> Iterator[Trace]:
    alerts = sum(one.ref.kind == ALERT for one in neighbours.every)
    for slo, found in unwatched(neighbours):
        known = record.declared(slo)
        age: dict[str, Json] = {} if known is None else {"declaredSince": known.at.isoformat()}
        yield Trace(slo, found, {"alerts": alerts, **age})


_JUDGED = next(one for one in PRACTICES if one.among is unwatched)

HYGIENE = (
    Check(
        code="A201",
        why="An objective that nobody is told about is missed in silence. It is judged as by "
        f"{_JUDGED.code}, over all manifests of the project.",
        find=_unwatched,
        rests_on=(),
        wrong=_JUDGED.wrong,
        wrong_where="Nothing need have happened.",
        right=_JUDGED.right,
        right_where="Nothing need have happened.",
    ),
)
