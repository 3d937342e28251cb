"""Lint rules for SLOs. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.features.lint.lint_rule import LintFinding, LintRule, Neighbours, text_of
from reconciler.kinds.shape import places
from reconciler.model import Manifest, Ref
from reconciler.redaction.templates import references_in
from reconciler.syntax.diagnostic import Advice
from reconciler.syntax.expressions import ExpressionKind, expression

ALERT = "AlertDefinition"
WATCHED = ("sloThreshold", "sloDefinition", "sloId")


def _leaves_no_budget(spec: dict[str, Json]) -> Iterator[LintFinding]:
    target = spec.get("targetThresholdPercentage")
    if isinstance(target, int | float) and target == 100:  # noqa: PLR2004 - per cent
        message = (
            "a target of 100 % leaves no error budget: the first failure breaks it for the whole "
            "time frame"
        )
        yield LintFinding(
            ("targetThresholdPercentage",),
            message,
            Advice("write a target that may be missed now and then, as 99.9"),
        )


def unwatched(neighbours: Neighbours) -> Iterator[tuple[Manifest, LintFinding]]:
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
            yield slo, LintFinding(("name",), message, remedy)


PRACTICES = (
    LintRule(code="L301", find=_leaves_no_budget),
    LintRule(code="L302", among=unwatched),
)
