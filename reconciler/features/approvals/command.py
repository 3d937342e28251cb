"""`reconciler approve`: show a plan to a person, and sign that it may be applied."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from reconciler.cli import options
from reconciler.cli.console import answered, data, is_terminal, stderr_style, words
from reconciler.document import duration_of
from reconciler.errors import GuardRefused, InvalidInput, UsageError
from reconciler.features.approvals.approval_file import (
    LONGEST,
    SUFFIX,
    ApprovalDocument,
    Statement,
    shown_guards,
    shown_moment,
    signed_bytes,
    verify,
)
from reconciler.features.approvals.approval_guard import binding_settings, plan_to_approve
from reconciler.features.approvals.approval_settings import is_bound
from reconciler.features.approvals.shown_plan import shown_plan
from reconciler.features.approvals.signers import Signers, fingerprint_of
from reconciler.features.approvals.ssh_signatures import sign
from reconciler.model.guards import NOT_APPROVED
from reconciler.operations.open_project import Options, now
from reconciler.operations.open_session import Session, open_target
from reconciler.operations.plan_and_drift import read_plan_file, write_private
from reconciler.report.plan.document import PlanDocument
from reconciler.report.safe import json_text
from reconciler.report.words import first_few
from reconciler.runtime.git import ask

_KEYS: Final = ("id_ed25519", "id_ed25519_sk", "id_ecdsa", "id_ecdsa_sk", "id_rsa")
MOST_NAMED: Final = 10
_HEAD: Final = b'{\n  "statement"'


@click.command
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The SSH key to sign with, or its public half if the agent has it; by default that of "
    "git's user.signingKey, else the first of "
    f"{', '.join(_KEYS[:-1])} and {_KEYS[-1]} in ~/.ssh.",
)
@click.option(
    "--for",
    "lasting",
    metavar="DURATION",
    default="4h",
    show_default=True,
    help="How long the approval holds, as 30m, 4h or 2d; at most 7d.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write the approval; by default PLAN.PRINCIPAL.approval.",
)
@options.connected
def approve(
    *, plan: Path, key: Path | None, lasting: str, out: Path | None, options: Options
) -> None:
    """Show the PLAN that `plan --out PLAN` wrote, ask, and sign it.

    Writes PLAN.PRINCIPAL.approval for `apply --approval`. It approves exactly this plan, in its
    environment, until it expires. Only a person on a terminal can approve.
    """
    lifetime = _lifetime(lasting)
    if not is_terminal():
        raise UsageError("there is no terminal: only a person can approve")
    document = read_plan_file(plan)
    named = options.environment or document["environment"]
    session = open_target(replace(options, environment=named))
    _check(session, document)
    binding = binding_settings(session.project, session.name, session.environment)
    signing = key or _usual_key(session.project.root)
    signer = _signer_of(signing, binding.signers, session.name)
    begun = now()
    statement: Statement = {
        "formatVersion": 1,
        "environment": document["environment"],
        "target": document["target"],
        "digest": document["digest"],
        "content": plan_to_approve(document).content,
        "guards": shown_guards(document["guards"]),
        "at": shown_moment(begun),
        "until": shown_moment(begun + lifetime),
    }
    style = stderr_style(verbose=options.verbose)
    words(shown_plan(document, style), laid_out=True)
    count = binding.needed.count
    needed = "the approval" if count == 1 else f"one of the {count} approvals"
    words(
        f"\nYou sign{signer and f' as {signer}'} with {signing}: {needed} that "
        f"`{session.name}` needs, until {statement['until']}"
    )
    if answered("Type `yes` to approve exactly this plan") != "yes":
        words("nothing was signed")
        return
    made: ApprovalDocument = {
        "statement": statement,
        "signature": sign(signed_bytes(statement), signing),
    }
    try:
        approval = verify(made, plan_to_approve(document), binding.signers)
    except ValueError as error:
        raise GuardRefused(f"this would be no approval of `{session.name}`: {error}") from error
    person = min(approval.principals)
    place = out or plan.with_name(f"{plan.name}.{person}{SUFFIX}")
    with suppress(OSError):
        # The next line names what is in the way.
        place.parent.mkdir(parents=True, exist_ok=True)
    write_private(place, json_text(made), lambda head: head.startswith(_HEAD))
    data(f"{place}\n")


def _check(session: Session, document: PlanDocument) -> None:
    """Raise UsageError for a plan that needs no approval, or is for another environment or target.

    Raises InvalidInput for blocked resources.
    """
    if document["environment"] != session.name:
        raise UsageError(f"the plan is of `{document['environment']}`, and not of `{session.name}`")
    if document["target"] != session.target.name:
        raise UsageError(
            f"the plan is of {document['target']}, and `{session.name}` is {session.target.name}"
        )
    if not is_bound(session.environment):
        raise UsageError(f"`{session.name}` needs no approvals: no `approvals:` in its settings")
    if not any(guard["code"] == NOT_APPROVED for guard in document["guards"]) and all(
        change["action"] == "keep" for change in document["changes"]
    ):
        raise UsageError("the plan has nothing to do, so it needs no approval")
    blocked = [change["ref"] for change in document["changes"] if change["action"] == "blocked"]
    if blocked:
        raise InvalidInput(
            f"the plan cannot be applied, and `plan` says why: {first_few(blocked, MOST_NAMED)} "
            f"{'is' if len(blocked) == 1 else 'are'} blocked"
        )


def _lifetime(text: str) -> timedelta:
    usual = "as 30m, 4h or 2d"
    lifetime = duration_of(text, "mhd")
    if lifetime is None:
        is_other = duration_of(text, "smhdw") is not None
        why = "is not in minutes, hours or days" if is_other else "is no duration"
        raise UsageError(f"--for {text}: it {why}; give one {usual}")
    if not lifetime:
        raise UsageError(f"--for {text}: the approval would expire at once; give more, {usual}")
    if lifetime > LONGEST:
        raise UsageError(f"--for {text}: an approval holds for at most {LONGEST.days}d")
    return lifetime


def _signer_of(key: Path, signers: Signers, environment: str) -> str:
    """Return the approver who has the public half of a key, "" where that half is not known.

    Raises UsageError where there is no key, and GuardRefused where no approver has it.
    """
    if not key.is_file():
        raise UsageError(f"there is no key {key}")
    public = key if key.suffix == ".pub" else key.with_name(f"{key.name}.pub")
    try:
        fingerprint = fingerprint_of(public.read_text(encoding="utf-8").split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    known = sorted(signer.principal for signer in signers.of_key(fingerprint or ""))
    if fingerprint is None or known:
        return known[0] if known else ""
    listed = ", ".join(sorted(min(person) for person in signers.people()))
    raise GuardRefused(
        f"{key} is the key {fingerprint}, which is of no approver of `{environment}` by the "
        f"default branch's list: sign with a key of {listed}, or merge it into the list first"
    )


def _usual_key(folder: Path) -> Path:
    """Return the key of git's user.signingKey, else the first key with a usual name.

    Raises UsageError.
    """
    answer = ask(folder, os.environ, "config", "--get", "--type=path", "user.signingKey")
    named = os.fsdecode(answer).strip() if answer is not None else ""
    # For other programs, `user.signingKey` is the id of a key, or the key itself.
    if named and Path(named).is_file():
        return Path(named)
    usual = [Path.home() / ".ssh" / name for name in _KEYS]
    found = next(filter(Path.is_file, usual), None)
    if found is None:
        raise UsageError("there is no SSH key in ~/.ssh: name one with --key FILE")
    return found
