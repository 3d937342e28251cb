"""Words of the remarks on a plan as a whole. Source: docs/plan.md."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from typing import assert_never

from reconciler.model import (
    BaseRefused,
    ClockUnchecked,
    FreezeUnknown,
    NoJournal,
    NotPermitted,
    OldJournal,
    OnlyLiveKnows,
    Ref,
    Remark,
    RollsBack,
    SignalsUnread,
)
from reconciler.report.reasons import MOST_NAMED, SHORT_RUN
from reconciler.runtime.advice import in_git

SHORT_COMMIT = 12
"""This many characters of a commit identify it in a command."""

_COMMIT = re.compile("[0-9a-f]{7,64}")
"""A commit as a command may name it: a journal may contain any text."""


def describe_remark(remark: Remark) -> str:
    """Return a remark on a plan as a whole in words."""
    match remark:
        case NoJournal() | OldJournal():
            return _of_journals(remark)
        case NotPermitted(said=said):
            return f"the target answers, and the key may not list policies ({said})"
        case FreezeUnknown() | ClockUnchecked():
            return _of_freezes(remark)
        case RollsBack():
            return _rolling_back(remark)
        case SignalsUnread(what=what, why=why):
            causes = "; ".join(
                f"{signal}: {reason}" for signal, reason in zip(what, why, strict=True)
            )
            return f"the track record is not complete, as the service did not show all: {causes}"
        case BaseRefused() | OnlyLiveKnows():
            return _describe_against(remark)
        case _:
            assert_never(remark)


def _of_journals(remark: NoJournal | OldJournal) -> str:
    if isinstance(remark, NoJournal):
        return (
            "this environment has no journal: nothing was applied from here yet, "
            "or its journal is lost"
        )
    return "the journal of this environment is an old copy: what was applied since is not in it"


def _of_freezes(remark: FreezeUnknown | ClockUnchecked) -> str:
    if isinstance(remark, ClockUnchecked):
        return (
            "no window of the freeze is active by the clock of this machine, and that clock is "
            "unchecked: the service gives no time (`Date`)"
        )
    return f"it is unknown whether this environment is frozen, and it allows that: {remark.said}"


def _describe_against(remark: BaseRefused | OnlyLiveKnows) -> str:
    """Return what a plan against a revision cannot see, unlike a plan against the service."""
    named = _named(remark.refs)
    if isinstance(remark, BaseRefused):
        return (
            "the revision declares these, and an emulator did not take them, so they count as "
            f"not there: {named}"
        )
    return (
        "these are declared with an id of the service that the revision does not name: "
        f"they may be there already, and are planned as new: {named}"
    )


def _named(refs: Sequence[Ref]) -> str:
    more = f" and {len(refs) - MOST_NAMED:,} more" if len(refs) > MOST_NAMED else ""
    return f"{', '.join(map(str, refs[:MOST_NAMED]))}{more}"


def _rolling_back(remark: RollsBack) -> str:
    """Return which run is rolled back, that manifests stay, and how to find the change."""
    of = f" of commit {remark.commit}" if remark.commit else ""
    by = f" by {remark.actor}" if remark.actor else ""
    kept = "; --live puts back what was live right before it" if remark.live_kept else ""
    was = "declared" if remark.state == "declared" else "live"
    back = (
        f"puts back what was {was} before the run {remark.run[:SHORT_RUN]} ({remark.command}"
        f"{by}, {remark.at}{of}){kept}"
    )
    if not remark.refs:
        return back
    return (
        f"{back}. Manifests stay as they are: the next apply of them brings the change back, "
        f"unless they say the same as what is put back. {_in_git(remark)}"
    )


def _in_git(remark: RollsBack) -> str:
    """Return where to look in git: a run records its commit, which need not be the change."""
    where = remark.files or tuple(map(str, remark.refs))
    more = f" and {len(where) - MOST_NAMED} more" if len(where) > MOST_NAMED else ""
    named = ", ".join(where[:MOST_NAMED]) + more
    files = named if remark.files else f"the manifests of {named}"
    advice = f"To change, where they say otherwise: {files}"
    commit, _, dirty = remark.commit.partition("-")
    if not _COMMIT.fullmatch(commit):
        return advice
    before = remark.commit_before.partition("-")[0]
    since = f"{before[:SHORT_COMMIT]}.." if _COMMIT.fullmatch(before) and before != commit else ""
    ran = f"; the run before applied commit {remark.commit_before}" if since else ""
    # Edits that were not committed at the time can only be in a later commit.
    until, edits = (
        ("HEAD", ", or edits that were not committed then")
        if dirty
        else (commit[:SHORT_COMMIT], "")
    )
    paths = remark.files if len(remark.files) <= MOST_NAMED else _folder_of(remark.files)
    limited = f" -- {shlex.join(paths)}" if paths else ""
    command = in_git("log", f"{since}{until}{limited}")
    return f"{advice}{ran}. Look for what changed them in `{command}`{edits}"


def _folder_of(files: Sequence[str]) -> tuple[str, ...]:
    return (posixpath.commonpath([posixpath.dirname(file) for file in files]) or ".",)
