"""Words of `explain` that a shell completes."""

from __future__ import annotations

from collections.abc import Iterable

import click

from reconciler.cli.complete import refs
from reconciler.workspace.completion_names import CompletionProject, rules_in


def offered(place: CompletionProject, ctx: click.Context, incomplete: str) -> Iterable[str]:
    """Yield fields one level at a time, codes as a whole, or what can be expanded."""
    if ctx.params.get("expanded"):
        return refs(place, ctx, incomplete)
    from reconciler.features.explain.field_reference import addresses  # noqa: PLC0415 - models, for this alone

    if incomplete.startswith("R"):
        return (f"R/{name}" for name in rules_in(place))
    depth = incomplete.count(".")
    return (address for address in addresses() if address.count(".") == depth)
