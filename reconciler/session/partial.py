"""`plan --changed-since REV`: the part of a workspace that a change touches."""

from __future__ import annotations

import os
from dataclasses import replace

from reconciler.guards.rules import TOO_MANY
from reconciler.journal.history import History
from reconciler.manifests.changed import Changed, branching_point, changed_since
from reconciler.manifests.expressions import Scope, withheld_from
from reconciler.report.safe import safe
from reconciler.resource import Orphan, Plan
from reconciler.session.opening import Asked, Bench
from reconciler.session.voice import Voice


def find_changed(bench: Bench, asked: Asked, since: str) -> Changed:
    """Compare the workspace with what it has in common with a revision.

    Raises UsageError without git, or where the revision cannot be told or read.
    """
    revision = branching_point(bench.project.root, since)
    withheld = withheld_from(os.environ)
    scope = Scope(bench.name, bench.environment.variables, os.environ, bench.salt, withheld)
    return changed_since(revision, bench.workspace, bench.project, scope, asked.paths)


def part_of(bench: Bench, changed: Changed) -> Bench:
    """Give a bench that holds only what is examined."""
    workspace = replace(bench.workspace, manifests=changed.manifests)
    examined = {one.ref for one in changed.manifests}
    rest = tuple(one for one in bench.workspace.manifests if one.ref not in examined)
    return replace(bench, workspace=workspace, whole=False, others=(*rest, *bench.others))


def as_part(made: Plan, changed: Changed, history: History) -> Plan:
    """Say in the plan of a part what it is a part of, and what is declared no more."""
    gone = ((ref, history.of(ref)) for ref in changed.deleted)
    return replace(
        made,
        # The share of a part that changes says nothing of the whole.
        guarded=tuple(one for one in made.guarded if one.code != TOO_MANY),
        orphans=tuple(Orphan(ref, memory.remote_id) for ref, memory in gone if memory.exists),
        changed_since=str(changed.since),
        not_examined=changed.not_examined,
    )


def tell_part(changed: Changed, voice: Voice) -> None:
    """Say what was compared, and what was deleted."""
    voice.say(
        f"compared with {safe(str(changed.since))}, the last commit in common, as the files are"
    )
    for ref in changed.deleted:
        voice.say(f"declared no more: {safe(str(ref))}")
