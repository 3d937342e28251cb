"""Lint rules for SLOs. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.kind import SpecFinding
from reconciler.kinds.slo import unwatched
from reconciler.syntax.diagnostic import Advice


def _leaves_no_budget(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    target = spec.get("targetThresholdPercentage")
    if isinstance(target, int | float) and target == 100:  # noqa: PLR2004 - per cent
        message = (
            "a target of 100 % leaves no error budget: the first failure breaks it for the whole "
            "time frame"
        )
        advice = Advice("write a target that may be missed now and then, as 99.9")
        yield SpecFinding(("targetThresholdPercentage",), message, advice)


PRACTICES = (
    LintRule(code="L301", find=_leaves_no_budget),
    LintRule(code="L302", among=unwatched),
)
