"""SLOs that no alert watches."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kinds.shape import places
from reconciler.kinds.spec_finding import Neighbours, SpecFinding, text_of
from reconciler.model import Manifest, Ref
from reconciler.redaction.templates import references_in
from reconciler.syntax.diagnostic import Advice
from reconciler.syntax.expressions import ExpressionKind, expression

ALERT = "AlertDefinition"
WATCHED = ("sloThreshold", "sloDefinition", "sloId")


def unwatched(neighbours: Neighbours) -> Iterator[tuple[Manifest, SpecFinding]]:
    """Yield the SLOs that no alert watches, in a workspace with alerts that watch SLOs.

    Nothing is certain if there are alerts of other environments. An SLO without an id is left out
    if an alert watches an unknown id.
    """
    if any(ref.kind == ALERT for ref in neighbours.elsewhere):
        return
    watched: set[Ref] = set()
    ids: set[str] = set()
    for manifest in neighbours.every:
        for _, value in places(manifest.spec, *WATCHED):
            watched |= references_in(value)
            text = text_of(value)
            if text is not None:
                ids.add(text.casefold())
    ours = {
        str(manifest.remote_id).casefold()
        for manifest in neighbours.own
        if manifest.remote_id is not None
    }
    if not watched and not ids & ours:
        return
    are_all_known = ids <= ours
    for slo in neighbours.own:
        has_watch = slo.ref in watched or str(slo.remote_id).casefold() in ids
        if not has_watch and (slo.remote_id is not None or are_all_known):
            message = (
                "no alert of this workspace watches this SLO: no one is notified when it is missed"
            )
            watching = expression(ExpressionKind.REFERENCE, str(slo.ref))
            remedy = Advice(f"watch it by `sloThreshold` with `sloId: {watching}`")
            yield slo, SpecFinding(("name",), message, remedy)
