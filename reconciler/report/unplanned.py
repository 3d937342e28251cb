"""Words of runs that end without a plan, or without an apply."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_all_manifests, on_manifests

FIRST_MANIFEST = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    layout: {sections: []}
"""
"""The smallest manifest that can be planned without reading anything else."""

_ELSEWHERE = (
    "  - if they are elsewhere: give their PATH, as in `reconciler validate PATH`, or name it in "
    "reconciler.yaml, as in `manifests: [PATH]`"
)
_INDENT = "      "


def no_manifests(where: Sequence[str], *, is_finding: bool = False) -> str:
    """Return what to do where nothing is declared, unless a complaint says it."""
    nothing = f"there are no manifests in {', '.join(map(safe, where))}"
    if is_finding:
        return nothing
    lines = [
        nothing,
        _ELSEWHERE,
        "  - to begin, save this as checkout.yaml; `reconciler schema` names all kinds:",
        *(_INDENT + line for line in FIRST_MANIFEST.splitlines()),
    ]
    return "\n".join(lines)


def misplaced_plan(path: str) -> str:
    """Return what to do with a plan that was passed as a manifest."""
    command = on_manifests("apply", f"--plan {safe(shlex.quote(path))}")
    return f"{safe(path)} is a plan: `{command}` applies it"


def none_for(environment: str, elsewhere: int, environments: Sequence[str]) -> str:
    """Return what to do where every resource is limited to other environments; "" is any."""
    others = ", ".join(safe(text) for text in environments if text != environment)
    choose = f"choose another with -e ({others}), or " if environment and others else ""
    here = f"the environment {safe(environment)}" if environment else "any environment"
    return (
        f"{plural(elsewhere, 'resource')} declared, and none is for {here}: "
        f"{choose}change `metadata.environments`"
    )


def none_selected(left_out: int) -> str:
    """Return that a selection matches no declared resource."""
    return f"nothing is selected: {plural(left_out, 'resource')} left out by --select and --exclude"


def describe_unheeded(count: int) -> str:
    """Return the number of errors in resources that are not selected; "" for none."""
    if not count:
        return ""
    what = plural(count, "error")
    return f"{what} in what is not selected: `{on_all_manifests('validate')}` shows more"


def not_applied(digest: str, command: str = "") -> str:
    """Return that the user declined, and the command that applies the same plan later.

    Without `command`, it is an `apply`.
    """
    command = (
        f"{command} --expect {digest}" if command else on_manifests("apply", f"--expect {digest}")
    )
    return f"nothing was applied; to apply exactly this plan: `{command}`"
