"""`reconciler apply`: bring the service to the state that the manifests declare.

Every command that applies a plan has these options. They give consent, or choose whether a person
is asked.
"""

import functools
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from reconciler.cli import options
from reconciler.cli.console import EventConsole, is_terminal, report_applied, words
from reconciler.cli.options import Command, lock_timeout, read_patience, together
from reconciler.errors import UsageError
from reconciler.journal.store import LockTimeout
from reconciler.model import Action, Ref, Written
from reconciler.model.guards import ALLOW_DESTROY, NEW_JOURNAL
from reconciler.operations import added_by_features
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, begin_session
from reconciler.operations.plan_and_drift import as_reviewed, part_asked_for, read_plan_file
from reconciler.planning.guards import UnderReview, read_overridden
from reconciler.project import Embedded
from reconciler.report.plan.document import listed_in
from reconciler.report.words import plural
from reconciler.runtime.advice import on_all_manifests
from reconciler.runtime.progress import Deed

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_FLAGS = (
    click.option(
        "--expect",
        metavar="DIGEST",
        help="Apply only if the plan still has this digest, which `plan` prints last.",
    ),
    click.option(
        "--plan",
        "plan_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Apply only the plan in FILE, which `--out FILE` wrote; nothing is "
        "applied if live changed since.",
    ),
    click.option(
        "--yes", is_flag=True, help="Do not ask for consent; without a terminal it is required."
    ),
    click.option(
        "--allow-destroy",
        is_flag=True,
        help="Allow the apply to destroy log policies, which cannot be restored.",
    ),
    click.option(
        "--override-guard",
        "override",
        metavar="CODE=REASON",
        multiple=True,
        help="Apply though this guard objects; REASON goes into the journal. Without "
        "CODE= it lifts all guards that have no flag of their own.",
    ),
)


def _added(name: str) -> Callable[[Command], Command]:
    flag, shown = f"--{name}", added_by_features.ADDED_OPTIONS.load(name).help
    if name not in added_by_features.BEFORE_LOCK:
        return click.option(flag, metavar="REASON", help=shown)
    return click.option(flag, metavar="DURATION", default="0", callback=read_patience, help=shown)


def _files_option(name: str) -> Callable[[Command], Command]:
    added = added_by_features.CONSENT_FILES.load(name)
    kind = click.Path(path_type=Path)
    return click.option(added.flag, name, metavar="FILE", multiple=True, type=kind, help=added.help)


def parameter_of(option: str) -> str:
    """Return the name of the parameter of an option."""
    return option.replace("-", "_")


def consenting(command: Command) -> Command:
    """Add the options of an apply to a command, which gets them as `consent` and `patience`."""

    @functools.wraps(command)
    def gathered(
        *,
        expect: str | None,
        plan_file: Path | None,
        yes: bool,
        allow_destroy: bool,
        override: tuple[str, ...],
        new_journal: bool = False,
        **own: Any,
    ) -> Any:
        if expect is not None and plan_file is not None:
            raise UsageError("--expect and --plan exclude each other")
        given = {name: own.pop(parameter_of(name)) for name in added_by_features.REASONS}
        reasons = {name: reason for name, reason in given.items() if reason is not None}
        waits = {name: own.pop(parameter_of(name)) for name in added_by_features.BEFORE_LOCK}
        files = {name: own.pop(name) for name in added_by_features.CONSENT_FILES}
        for name, reason in reasons.items():
            if not reason.strip():
                raise UsageError(f"--{name} needs a reason, which is kept in the journal")
        waited = [name for name, timeout in waits.items() if timeout.seconds]
        if (pair := added_by_features.excluding((*reasons, *waited))) is not None:
            raise UsageError(f"--{pair[0]} and --{pair[1]} exclude each other")
        if expect is not None and not _DIGEST.fullmatch(expect):
            raise UsageError(
                "--expect takes the digest of a plan, as sha256:…: 64 digits of 0-9, a-f"
            )
        reviewed = read_plan_file(plan_file) if plan_file is not None else None
        flags = {
            ALLOW_DESTROY: "" if allow_destroy else None,
            NEW_JOURNAL: "" if new_journal else None,
            **reasons,
        }
        consent = Consent(
            expect=expect,
            reviewed=reviewed,
            yes=yes,
            flags={flag: reason for flag, reason in flags.items() if reason is not None},
            overridden=read_overridden(override),
            waits=waits,
            files=files,
        )
        return command(consent=consent, **own)

    added = (
        *map(_added, added_by_features.ADDED_OPTIONS),
        *map(_files_option, added_by_features.CONSENT_FILES),
    )
    return together(*_FLAGS, *added, lock_timeout)(cast("Command", gathered))


def check_asked(consent: Consent) -> None:
    """Raise UsageError where there is no consent and no person can be asked."""
    if not consent.given and not is_terminal():
        raise UsageError("there is no terminal: give --yes, --expect DIGEST or --plan FILE")


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "jsonl", "junit")
@consenting
@click.option(
    "--new-journal",
    is_flag=True,
    help="Start a new journal if this environment has none; an existing journal is used as it is.",
)
def apply(*, options: Options, form: str, consent: Consent, patience: LockTimeout) -> int:
    """Plan again, ask, and write. The service is read again just before each write.

    Without a terminal, one of --yes, --expect and --plan is needed.
    """
    check_asked(consent)
    if form == "jsonl":
        options = replace(options, reporter=EventConsole(options.verbose, options.quiet))
    consent = replace(consent, part=part_asked_for(options, consent.reviewed))
    session = begin_session(as_reviewed(options, consent.reviewed))
    if (reviewed := consent.reviewed) is not None:
        session = replace(session, review=UnderReview(listed=lambda _: listed_in(reviewed)))
    added_by_features.wait_before_lock(session, consent.waits)
    made, applied = plan_and_apply(session, lambda _: consent, "apply", patience=patience)
    with options.waits.step(Deed.REPORTING):
        try:
            return report_applied(applied, made, form, verbose=options.verbose)
        finally:
            if applied is not None and form == "text" and not options.quiet:
                written = {it.ref for it in applied.outcomes if isinstance(it, Written)}
                creates = (it.ref for it in made.changes if it.action is Action.CREATE)
                shard = f"--shard {options.shard}" if options.shard is not None else ""
                _advise_to_keep_ids(session, written.intersection(creates), shard)


def _advise_to_keep_ids(session: Session, created: Collection[Ref], shard: str) -> None:
    """Print how many ids only the journal has, after an apply that created something."""
    if isinstance(session.target, Embedded):
        return
    kept = session.journal().history.unwritten_ids(session.workspace.manifests)
    if any(manifest.ref in created for manifest, _ in kept):
        verb = "is" if len(kept) == 1 else "are"
        way = on_all_manifests("journal write-ids", shard)
        words(f"{plural(len(kept), 'id')} {verb} only in the journal: `{way}`")
