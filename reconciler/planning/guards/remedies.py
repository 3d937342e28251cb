"""Remedies of a guard: flags on a command line, or a merge or a manual run in CI. Pure.

Only this module decides which of the two a remedy names, so that all reports of a plan agree.
Source: docs/guards.md, docs/ci.md.
"""

from __future__ import annotations

from reconciler.model import Ref
from reconciler.model.guards import ARGUMENTS, NAMES, ResourceRemedy
from reconciler.runtime.advice import bring_back, is_in_job, on_journal, on_service

_FILE = "reconciler.yaml"
_MERGE = "merge: the review of a plan that lists it consents"
_TERMINAL = "or answer `yes` on a terminal"


def reviewing() -> str:
    """Return how a review consents."""
    if is_in_job():
        return _MERGE
    return f"review the plan, and apply just that: `--expect DIGEST` or `--plan FILE`, {_TERMINAL}"


def reviewing_file() -> str:
    """Return how a review consents to what the digest does not cover; the comment lists that."""
    if is_in_job():
        return _MERGE
    return (
        f"review the plan, and apply just that: `--plan FILE`, {_TERMINAL}; "
        "`--expect DIGEST` is not enough, as the digest does not cover incidents"
    )


def splitting(ref: Ref) -> str:
    """Return how to apply all but one change."""
    return ResourceRemedy(
        f"split the change: leave {ref} as it is, and apply the rest",
        f"split the change: leave {NAMES} as they are, and apply the rest",
    )


def adopting(ref: Ref, what: str) -> str:
    """Return how to declare what is live instead of overwriting it."""
    return ResourceRemedy(
        *(
            f"declare {what}, and plan again: `{on_service('adopt', f'{named} --theirs')}`"
            for named in (ref, ARGUMENTS)
        )
    )


def renaming(ref: Ref, was: Ref, environment: str) -> tuple[str, str]:
    """Return what to do about a create that looks like a rename: rename, or forget.

    The commands take one resource, so for several they name none.
    """
    ways = (
        ("if it is the same under a new name", "rename", f"{was} {ref}", "OLD NEW"),
        ("if it is another, and the old one is no concern any more", "forget", str(was), "OLD"),
    )
    rename, forget = (
        ResourceRemedy(
            *(f"{words}: `{on_journal(command, named, environment=environment)}`" for named in both)
        )
        for words, command, *both in ways
    )
    return rename, forget


def allowing(code: str, environment: str) -> str:
    """Return how to consent to a guard permanently."""
    return f"in an earlier merge, set `guards: {{allow: [{code}]}}` of `{environment}` in {_FILE}"


def overriding(code: str) -> str:
    """Return how to override one guard once. A reason without a code would lift others too."""
    return f"{consenting('override-guard', f'{code}=REASON')}, which the journal keeps"


def bringing_journal_back() -> str:
    """Return what to do where the journal was lost."""
    return f"if the journal was lost or is kept elsewhere (`journal:` says where), {bring_back()}"


def consenting(name: str, value: str = "") -> str:
    """Return how to give a consent for one apply: a flag, or the input of the same name."""
    if is_in_job():
        return (
            "after the merge, run the apply workflow by hand (`workflow_dispatch` of `apply.yml`) "
            f"with the input `{name}: {value or 'REASON'}`"
        )
    return f"apply with `--{name}{f' {value}' if value else ''}`"
