"""From a job to what it works with: which project, and where it may lead. See `trust.py`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.ci.checkout import Place, examine, is_brought, place_of, reviewed_at, tips_of
from reconciler.ci.ended import Ended
from reconciler.ci.runner import Inputs
from reconciler.ci.trust import (
    Barred,
    Checkout,
    Found,
    Lost,
    OverBase,
    Reviewed,
    Settings,
    Use,
    Whole,
    barred_paths,
    barred_target,
    in_folder,
    may_use,
)
from reconciler.console import words
from reconciler.errors import GuardRefused
from reconciler.forge.event import Event
from reconciler.project import Environment, Project, choose_environment, journal_place
from reconciler.project.settings import InFile, InGit, parse_journal_place
from reconciler.report.safe import safe
from reconciler.session.opening import Bench, bench_of
from reconciler.session.projects import Asked
from reconciler.source.files import PROJECT_FILE


def use_of(event: Event, inputs: Inputs, project: Project, read: Sequence[Path]) -> Use:
    """Tell what a job may use of a project, of which these files were read.

    Raises InvalidInput where a link leads to the project file.
    """
    settings = Settings(
        own=project,
        reviewed=Lost("nothing tells the base branch"),
        base_url=inputs.base_url,
        allow_untrusted=inputs.allow_untrusted,
    )
    if not event.name:
        return may_use(event, Checkout(), settings)
    file = project.file or project.root / PROJECT_FILE
    place = place_of(file, os.environ)
    if place is None:
        return may_use(event, Checkout(), settings)
    tips = tips_of(event, place.commits)
    files = [*read, *([project.file] if project.file is not None else [])]
    checkout = examine(event, place, tips, files, _written(project, place))
    default = _newest(tips, place)
    trusted = tuple(default.settings.trusted_branches) if isinstance(default, Found) else ()
    return may_use(
        event,
        checkout,
        Settings(
            own=project,
            reviewed=_reviewed(event, place, default, trusted),
            trusted_branches=trusted,
            base_url=inputs.base_url,
            allow_untrusted=inputs.allow_untrusted,
        ),
    )


def _written(project: Project, place: Place) -> Iterator[Path]:
    """Yield the files that runs of a project write below its folder."""
    folder = place.commits.top / place.folder
    for name, environment in project.settings.environments.items():
        kept = parse_journal_place(environment.journal or f".reconciler/{name}.journal.jsonl")
        if isinstance(kept, InFile):
            yield folder / kept.path
            yield folder / f"{kept.path}.lock"
        if environment.emulator is not None:
            yield folder / environment.emulator.data


def _newest(tips: Sequence[str], place: Place) -> Reviewed:
    """Read the project file of the default branch, as new as it is known."""
    lost: Reviewed = reviewed_at("", place)
    for tip in tips:
        found = reviewed_at(tip, place)
        if not isinstance(found, Lost):
            return found
        lost = found
    return lost


def _reviewed(
    event: Event, place: Place, default: Reviewed, trusted_branches: Sequence[str]
) -> Reviewed:
    """Give the project file of the branch that a change is for, if that is a trusted one."""
    if event.named_branch in trusted_branches and not event.is_on_default:
        return reviewed_at(event.named_commit, place)
    return default


@contextmanager
def opened(use: Use, event: Event, inputs: Inputs, ended: Ended, asked: Asked) -> Iterator[Bench]:
    """Do all that comes before the first request; here it is decided where the key may go.

    Raises GuardRefused for what only an untrusted change says.
    """
    if isinstance(use, Barred):
        raise GuardRefused(use.why)
    name, environment = choose_environment(use.project, asked.environment)
    ended.environment = name
    why = barred_target(event, use, name, environment, inputs.base_url)
    if why := why or barred_paths(use, name, environment) or _barred_journal(event, use, name):
        raise GuardRefused(why)
    if isinstance(use, OverBase):
        _tell(use, ended)
    with TemporaryDirectory(prefix="reconciler-") as folder:
        if isinstance(use, OverBase):
            environment = _confined(use, name, environment, Path(folder))
        yield bench_of(asked, use.project, name, environment)


def _barred_journal(event: Event, use: Whole | OverBase, name: str) -> str:
    """Say why a journal in git is not reached, "" where it may be.

    Git reaches a server by what the repository around the project says, commands
    among it, and one that stands inside another may have been brought along.
    """
    _, environment = choose_environment(use.project, name)
    if not event.name or not isinstance(journal_place(use.project, name, environment), InGit):
        return ""
    place = place_of(use.project.file or use.project.root / PROJECT_FILE, os.environ)
    if place is None or not place.commits.is_nested:
        return ""
    return (
        f"environment `{name}` keeps its journal in git, and the project stands in a repository "
        "inside of another: check it out by itself, or keep the journal in a bucket"
    )


def _tell(use: OverBase, ended: Ended) -> None:
    ended.postponed = use.postponed
    words(
        f"untrusted change ({safe(use.why)}): its manifests and variables are used with the base "
        "branch's settings"
    )


def _confined(use: OverBase, name: str, environment: Environment, folder: Path) -> Environment:
    """Keep the files of a change's run where none of its own can take their place.

    Raises GuardRefused for a journal that the change brings.
    """
    if environment.emulator is not None:
        return in_folder(environment, folder)
    kept = journal_place(use.project, name, environment)
    place = place_of(use.project.file or use.project.root / PROJECT_FILE, os.environ)
    if isinstance(kept, InFile) and place is not None:
        head = place.commits.head()
        if is_brought(place, head, use.commit, kept.path):
            raise GuardRefused(
                f"the change brings a journal of its own ({kept.path.name}), and only that of the "
                "base branch is believed"
            )
    return environment
