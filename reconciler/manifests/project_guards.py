"""The guards of a project file, held against the kinds that there are.

A guard for a kind that is misspelled would guard nothing, in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kinds import BY_NAME, KINDS
from reconciler.project import ProjectFile
from reconciler.project.settings import SEEN_LIVE
from reconciler.slips import nearest
from reconciler.source.diagnostic import Finding

CONSENTS = (*(code for kind in KINDS for code in kind.consents), *SEEN_LIVE)
"""What `allow:` may hold."""


def guard_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield the kinds and codes under `guards:` that there are not."""
    for name, environment in settings.environments.items():
        path = ("environments", name, "guards")
        for kind in environment.guards.kinds:
            if kind not in BY_NAME:
                said = f"unknown kind `{kind}` (known: {', '.join(BY_NAME)})"
                near = nearest(kind, BY_NAME)
                yield Finding("P101", (*path, "kinds", kind), said, suggestion=near, at_key=True)
        for index, code in enumerate(environment.guards.allow):
            if code not in CONSENTS:
                said = f"unknown code `{code}` (known: {', '.join(CONSENTS)})"
                near = nearest(code, CONSENTS)
                yield Finding("P101", (*path, "allow", index), said, suggestion=near)
