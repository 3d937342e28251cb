"""Approval files: a statement about one plan, signed with an SSH key as git signs commits.

The signature is over the canonical JSON of the statement. It names the digest of the plan and the
digest of what the signer was shown: a plan file with other content has another digest. Source:
docs/approvals.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from reconciler.document import Json, canonical_text, digest
from reconciler.errors import GuardRefused
from reconciler.features.approvals.signers import Signers
from reconciler.features.approvals.ssh_signatures import is_signed, key_in
from reconciler.model.guards import REVIEW_LEVEL, guard_key
from reconciler.model.quoting import quoted
from reconciler.report.plan.document import ChangeDocument, GuardDocument
from reconciler.runtime import regular_files

SUFFIX: Final = ".approval"
LARGEST: Final = 1 << 20
MOST_FILES: Final = 100
LONGEST: Final = timedelta(days=7)
MOST_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_DIGEST = "^sha256:[0-9a-f]{64}$"


@with_config(ConfigDict(extra="forbid"))
class ShownGuard(TypedDict):
    """A guard of level review that the signer was shown, and consents to."""

    code: str
    ref: Annotated[str | None, Field(description="null where it is about many resources.")]
    figures: str
    message: Annotated[str, Field(description="The sentence that was shown.")]


@with_config(ConfigDict(extra="forbid"))
class Statement(TypedDict):
    """The content that is signed, as JSON with sorted keys, no blanks and no line break at the end.

    Numbers are not in it, except for the version.
    """

    formatVersion: Literal[1]
    environment: str
    target: str
    digest: Annotated[str, Field(pattern=_DIGEST, description="Of the plan.")]
    content: Annotated[
        str,
        Field(
            pattern=_DIGEST,
            description="Of what was shown: the changes with their fields, without kept resources.",
        ),
    ]
    guards: list[ShownGuard]
    at: Annotated[str, Field(description="When it was signed, in UTC.")]
    until: Annotated[str, Field(description="From then on it is worth nothing, in UTC.")]


@with_config(ConfigDict(extra="forbid"))
class ApprovalDocument(TypedDict):
    """The content of a file that `approve` writes."""

    statement: Statement
    signature: Annotated[str, Field(description="Of `ssh-keygen -Y sign -n reconciler-plan`.")]


def content_of(changes: Iterable[ChangeDocument]) -> str:
    """Return the digest of what a plan would write, as its JSON shows it."""
    shown: list[Json] = [
        cast(
            "Json",
            [
                change["ref"],
                change["action"],
                change["evidence"],
                change["remoteId"],
                [dict(field) for field in change["fields"]],
                change["destroys"],
            ],
        )
        for change in changes
        if change["action"] != "keep"
    ]
    return digest({"changes": shown})


def shown_guards(guards: Iterable[GuardDocument]) -> list[ShownGuard]:
    """Return the guards of a plan's JSON to which its signer consents: those of level review."""
    return [
        {
            "code": guard["code"],
            "ref": guard["ref"],
            "figures": guard["figures"],
            "message": guard["message"],
        }
        for guard in guards
        if guard["level"] == REVIEW_LEVEL
    ]


def keys_of(statement: Statement) -> frozenset[tuple[str, str]]:
    """Return the keys of the guards that a statement lists, each with the sentence shown."""
    return frozenset(
        (guard_key(guard["code"], guard["ref"] or "", guard["figures"]), guard["message"])
        for guard in statement["guards"]
    )


def signed_bytes(statement: Statement) -> bytes:
    """Return the bytes that are signed."""
    return canonical_text(cast("Json", statement)).encode()


@cache
def _reader() -> TypeAdapter[ApprovalDocument]:
    return TypeAdapter(ApprovalDocument)


def read_approval(file: Path) -> ApprovalDocument:
    """Read an approval file. Raises ValueError with what is wrong with it."""
    try:
        return _reader().validate_json(regular_files.read(file, LARGEST), strict=True)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from error
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"it is no approval: {quoted(place)}: {first['msg']}") from invalid


def files_in(paths: Sequence[Path]) -> list[Path]:
    """Return the approval files at paths; those in a folder are the files that end in `.approval`.

    Raises GuardRefused for a folder that cannot be read, and for more files than are read.
    """
    found: list[Path] = []
    for path in paths:
        try:
            inside = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
        except OSError as error:
            raise GuardRefused(f"approvals in {path} cannot be read: {error.strerror}") from error
        found.extend(inside)
    if len(found) > MOST_FILES:
        raise GuardRefused(f"there are {len(found)} approvals, and at most {MOST_FILES} are read")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanToApprove:
    """The plan that an approval must match, and the moment at which it must be valid.

    `last_write` is the resource of the plan that was written last, and when; None if none was
    written.
    """

    environment: str
    target: str
    digest: str
    content: str
    now: datetime
    last_write: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidApproval:
    """An approval that is valid: the signer's principals and key, its end, and its guards."""

    principals: frozenset[str]
    fingerprint: str
    until: str
    guards: frozenset[tuple[str, str]]


def verify(document: ApprovalDocument, plan: PlanToApprove, signers: Signers) -> ValidApproval:
    """Return an approval that holds for a plan. Raises ValueError with why it does not."""
    statement = document["statement"]
    if (
        flaw := _mismatch(statement, plan)
        or _untimely(statement, plan.now)
        or _written_since(statement, plan)
    ):
        raise ValueError(flaw)
    fingerprint = key_in(document["signature"])
    if fingerprint is None:
        raise ValueError("its signature is not an SSH signature")
    known = signers.of_key(fingerprint)
    if not known:
        raise ValueError(f"its key {fingerprint} is of no approver")
    signed = signed_bytes(statement)
    holding = [signer for signer in known if is_signed(signed, document["signature"], signer)]
    if not holding:
        raise ValueError("its signature does not hold for that statement")
    return ValidApproval(
        principals=frozenset(signer.principal for signer in holding),
        fingerprint=fingerprint,
        until=statement["until"],
        guards=keys_of(statement),
    )


def _mismatch(statement: Statement, plan: PlanToApprove) -> str:
    """Return which part of a statement is about another plan, "" for none."""
    if statement["environment"] != plan.environment:
        return f"it is for the environment {quoted(statement['environment'])}"
    if statement["target"] != plan.target:
        return f"it is for the target {quoted(statement['target'])}"
    if statement["digest"] != plan.digest:
        return f"it is for another plan, {statement['digest']}"
    if statement["content"] != plan.content:
        return "its signer was shown other changes than would be written"
    return ""


def _untimely(statement: Statement, now: datetime) -> str:
    """Return why a statement does not hold at a moment, "" where it does."""
    try:
        begin, end = (_moment(statement[name]) for name in ("at", "until"))
    except ValueError:
        return "its times are no times in UTC"
    if end <= now:
        return f"it expired at {statement['until']}"
    if begin > now + MOST_CLOCKS_DIFFER:
        return f"it was signed in the future, at {statement['at']}: one of the clocks is wrong"
    if end - begin > LONGEST:
        return f"it is to hold for more than {LONGEST.days} days"
    return ""


def _written_since(statement: Statement, plan: PlanToApprove) -> str:
    """Return which resource was written since an approval was signed, "" for none.

    A digest covers only values: after a write is undone, the same plan has the same digest again.
    """
    if plan.last_write is None or _moment(plan.last_write[1]) <= _moment(statement["at"]):
        return ""
    return f"{plan.last_write[0]} was written at {plan.last_write[1]}, after it was signed"


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found


def shown_moment(at: datetime) -> str:
    """Return a moment in the form that statements use."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
