"""What a plan says of itself as a whole. Source: docs/plan.md."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import do as _do
from reconciler.explaining.explanation import of_plan as _told

_PLAN = "reconciler plan"

REMARK_CODES: Final = (
    _told(
        "no-journal",
        "nothing was applied from here yet, or the journal is lost",
        "There is no journal of this environment and target where the project file says it is.",
        "Without its memory a plan takes what is there for the work of others.",
        "The first plan of a new checkout whose journal is a file that was not carried along.",
        _do("Nothing at the first apply; otherwise bring the journal back.", _PLAN),
    ),
    _told(
        "old-journal",
        "the journal is an old copy, and what was applied since is not in it",
        "The end of a run is missing, which its lock, the remote or this machine remembers.",
        "Without it a plan makes again what was made since and cannot be looked up.",
        "A mirror of the repository was restored from a backup of yesterday.",
        _do("Bring the newer one back.", _PLAN),
    ),
    _told(
        "not-permitted",
        "the target answers, and the key may not list policies",
        "Nothing else that proves the target could be read, and this key may list no policies.",
        "The key is known there, so the target is one; what it may do shows at the first write.",
        "A key for dashboards alone, and manifests that cannot be read.",
        _do("Nothing, or a key that may list log policies."),
    ),
    _told(
        "freeze-unknown",
        "nobody can tell whether it is frozen, and `onUnknown: allow` lets that pass",
        "The environment has a `freeze:` that asks for incidents, and they could not be read.",
        "An apply may go on though an incident would have stopped it.",
        "The service does not answer the list of incidents.",
        _do("Look for incidents by hand, or set `onUnknown: refuse`."),
    ),
    _told(
        "clock-unchecked",
        "no window of a freeze holds by the clock of this machine, and the service tells no time "
        "to hold it against",
        "The environment has a `freeze:` with windows, and no answer of the service has a `Date`.",
        "Where the clock of this machine is wrong, a window may hold all the same.",
        "A service, or a proxy before it, that sends no `Date` header.",
        _do("Nothing, where the clock of the machine is kept right, as by NTP."),
    ),
    _told(
        "rolls-back",
        "it is a rollback of this run; `state` is what is put back, `declared` or `live`, and "
        "`liveKept` is true where what was live then is kept and not put back. `files` seem to "
        "declare what is put back, `refs`; `commitBefore` is that of the apply before",
        "The plan is one of `rollback`, and says which run it undoes.",
        "The manifests still declare what the run wrote: the next apply would write it again.",
        "`reconciler rollback last`.",
        _do("Revert the commit too; the remark names the files.", "git revert --help"),
    ),
    _told(
        "signals-unread",
        "evidence that was asked for and not told: `why` says it for each of `what`",
        "A track record, incidents or another signal was asked for, and could not be read.",
        "Evidence that is missing must not look as if there were nothing to tell.",
        "`plan --track-record` with a key that may not read events.",
        _do("Plan again later, or with a key that may read it.", "reconciler plan --track-record"),
    ),
    _told(
        "base-refused",
        "the revision declares these, and an emulator did not take them",
        "`plan --against REV` applies the manifests of then to an emulator, which refused these.",
        "What is compared with nothing shows as new.",
        "An SLO that was wrong in the revision and is mended by now.",
        _do("Nothing: read their differences as whole new resources."),
    ),
    _told(
        "only-live-knows",
        "declared by an id of the service that the revision does not name: planned as new",
        "The manifest has an id, the revision has no manifest of it: only the service knows it.",
        "Without a look at the service it is planned as new, though it may be there.",
        "An alert definition that was made in the web interface and is declared now.",
        _do("Plan against the service to see it.", _PLAN),
    ),
)
