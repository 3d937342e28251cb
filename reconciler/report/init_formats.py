"""Reports of `init`, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.report.safe import safe


@with_config(ConfigDict(extra="forbid"))
class InitDocument(TypedDict):
    """Output of `init --format json`."""

    created: Annotated[list[str], Field(description="Files, by their paths in the folder.")]
    kept: Annotated[list[str], Field(description="Files that were there, and stay as they are.")]
    next: Annotated[list[str], Field(description="Commands to go on with.")]


def format_init(kept: Sequence[str], remarks: Sequence[str], advised: Sequence[str]) -> str:
    """Return what was left as it is and what is left to do, the next commands last."""
    lines = [f"left as it is: {safe(name)}" for name in kept]
    lines += [safe(remark) for remark in remarks]
    lines += ["Next:", *(f"  {safe(command)}" for command in advised)]
    return "\n".join(lines)
