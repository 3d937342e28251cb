"""Lint rules for saved views. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.kind import SpecFinding
from reconciler.kinds.shape import places
from reconciler.syntax.diagnostic import Advice


def _fixed_time(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    for path, custom in places(spec, "timeSelection", "customSelection"):
        if isinstance(custom, dict) and custom:
            message = "this view shows one fixed time, which is past soon, and its data gone later"
            remedy = Advice("write `quickSelection: {seconds: 3600}`, or say why by an exemption")
            yield SpecFinding(path, message, remedy, at_key=True)


PRACTICES = (LintRule(code="L601", find=_fixed_time),)
