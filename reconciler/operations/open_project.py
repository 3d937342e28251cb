"""Options of the command line, the project that they lead to, and where a use case reports.

Nothing in `operations` prints or asks by itself.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from reconciler.errors import InvalidInput, MissingExtra, UsageError
from reconciler.model import Outcome, Plan, UnconfirmedJournal
from reconciler.project import Project, Shard, check_filled, journal_place_at
from reconciler.project.settings import JournalPlace
from reconciler.report.reasons import describe_remark
from reconciler.report.safe import safe
from reconciler.runtime.advice import Here, bring_back, lead_to
from reconciler.runtime.progress import Deed, Waits
from reconciler.runtime.regular_files import NOT_REGULAR
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import PROJECT_FILE, is_plan_file
from reconciler.workspace.project_file import load_project
from reconciler.workspace.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from reconciler.api.secret import Redaction
    from reconciler.journal.journal import Journal
    from reconciler.journal.store import Store
    from reconciler.report.html import ReportOccasion


class Reporter:
    """Output of a use case while it runs, and its questions to a person.

    This one shows nothing, and agrees to nothing.
    """

    quiet = True

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Show text to a person; long lines are wrapped unless `laid_out`."""

    def complain(self, complaints: Sequence[Complaint]) -> None:
        """Show complaints about manifests or the project file."""

    def show(self, plan: Plan) -> None:
        """Show a plan as it is now."""

    def confirm(self, plan: Plan) -> bool:
        """Show a plan, and return whether the person agrees to it."""
        del plan
        return False

    def writing(self, plan: Plan) -> Callable[[Outcome], None]:
        """Return a function that receives each outcome of an apply as soon as it is known."""
        del plan
        return lambda _: None

    def hide(self, redaction: Redaction) -> None:
        """Pass all later output through a filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Values of the shared flags.

    `waits` records what the run waits for, and `reporter` is where it reports. `selection` chooses
    manifests. With `cached`, what did not change since an earlier run is not read again; `kept_in`
    is a cache folder of the run's own. `journal_of_shard` is the shard for commands that read no
    manifests.
    """

    paths: tuple[Path, ...]
    environment: str | None
    project: Path | None
    verbose: bool
    quiet: bool
    waits: Waits = field(default_factory=Waits)
    reporter: Reporter = field(default_factory=Reporter)
    selection: Selection = EVERYTHING
    cached: bool = False
    kept_in: Path | None = None
    journal_of_shard: Shard | None = None

    @property
    def shard(self) -> Shard | None:
        """Return the selected shard, None where no shard is selected."""
        return self.journal_of_shard or self.selection.shard


def today() -> date:
    """Return the present day in UTC; the dates of rules and exemptions are in UTC."""
    return now().date()


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def open_project(options: Options) -> Project:
    """Find and read the project file: as given, else upward from the manifests.

    Raises UsageError for a missing file, and InvalidInput for a malformed file, after reporting its
    complaints.
    """
    project, complaints = read_project(options)
    if complaints:
        options.reporter.complain(complaints)
    if project is None:
        raise InvalidInput(f"{project_file(options)} is not a valid project file")
    return project


def read_project(options: Options) -> tuple[Project | None, Sequence[Complaint]]:
    """Return the project, None where its file is malformed, and the complaints about it.

    Raises UsageError for a missing file.
    """
    with options.waits.step(Deed.OPENING):
        file = project_file(options)
        if file is None:
            return Project(_folder_of(options.paths[0] if options.paths else Path())), ()
        return load_project(file)


def project_file(options: Options) -> Path | None:
    """Return the project file: as given, else found upward from the manifests; None without one.

    Raises UsageError for a missing file.
    """
    if options.project is not None and not _is_there(options.project):
        if os.path.exists(options.project) and not os.path.isdir(options.project):  # noqa: PTH110, PTH112 - never raise
            raise UsageError(f"cannot read the project file {options.project}: {NOT_REGULAR}")
        raise UsageError(f"there is no project file {options.project}")
    return options.project or _find_project(options.paths)


def _find_project(paths: Sequence[Path]) -> Path | None:
    for start in (*paths[:1], Path()):
        folder = _folder_of(start)
        for place in (folder, *folder.parents):
            file = place / PROJECT_FILE
            if _is_there(file):
                return file
            if (place / ".git").exists():
                break
    return None


def lead_here(options: Options, project: Project, name: str) -> None:
    """Make commands in later advice lead to this environment and project, from this folder."""
    here, found = _folder_of(Path()), _find_project(())
    without = found.resolve() if found is not None else here
    there = project.file.resolve() if project.file is not None else project.root
    given = _typed([str(path) for path in options.paths if not is_plan_file(path)])
    selection = _typed(options.selection.flags())
    root = os.path.relpath(project.root.resolve())
    shard = _typed(["--shard", str(options.shard)]) if options.shard is not None else ""
    file = options.project or project.file
    to_project = "" if file is None or without == there else _typed(["--project", str(file)])
    if without == there:
        to_journal, to_manifests = "", given
    elif options.project is not None:
        to_journal, to_manifests = to_project, f"{to_project}{given}"
    else:
        to_journal = _typed(["--path", str(options.paths[0])]) if options.paths else ""
        to_manifests = given or to_project
    lead_to(
        Here(
            environment=name,
            to_journal=f"{to_journal}{shard}",
            to_manifests=to_manifests,
            to_project=to_project,
            to_all=given if file is None else to_project,
            root=root,
            selection=selection,
        )
    )


def _typed(words: Sequence[str]) -> str:
    """Return words as they are typed in a shell, a blank before each."""
    return "".join(f" {shlex.quote(word)}" for word in words)


def _is_there(file: Path) -> bool:
    """Return whether a path is a file or any link. A broken link is reported by who reads it."""
    return os.path.isfile(file) or os.path.islink(file)  # noqa: PTH113, PTH114 - never raise


def _folder_of(path: Path) -> Path:
    """Return a folder, or the folder of a file, without links; accepts a name of any length."""
    real = Path(os.path.realpath(path))
    return real if os.path.isdir(real) else real.parent  # noqa: PTH112 - never raises


def manifest_paths(options: Options, project: Project) -> list[Path]:
    """Return the places of the manifests: the arguments, else the project's own setting.

    Raises UsageError where a shard is combined with paths that leave manifests out.
    """
    if options.selection.shard is not None and not is_whole(options, project):
        raise UsageError("a shard is one of all manifests of the project: leave the paths out")
    if options.paths:
        return list(options.paths)
    return [project.root / path for path in project.settings.manifests]


def is_part(options: Options, project: Project) -> bool:
    """Return whether the paths are a part of the manifests that a project file names."""
    given, named = _real_paths(options, project)
    return (
        project.file is not None
        and all(any(path.is_relative_to(around) for around in named) for path in given)
        and not is_whole(options, project)
    )


def is_whole(options: Options, project: Project) -> bool:
    """Return whether the paths cover all manifests of the project."""
    given, named = _real_paths(options, project)
    return not given or all(any(path.is_relative_to(around) for around in given) for path in named)


def _real_paths(options: Options, project: Project) -> tuple[list[Path], list[Path]]:
    """Return the given paths, and those that the project file names, with all links followed."""
    named = (project.root / path for path in project.settings.manifests)
    # resolve() raises where links form a loop.
    given_real, named_real = (
        [Path(os.path.realpath(path)) for path in paths] for paths in (options.paths, named)
    )
    return given_real, named_real


def warn_of_lost_end(journal: Journal, reporter: Reporter) -> None:
    """Warn once where the end of the last run, or the whole journal, is missing."""
    if journal.is_warned_of:
        return
    journal.is_warned_of = True
    if journal.is_gone:
        reporter.say(
            f"warning: the journal at {safe(journal.place)} is gone: the last run left one there. "
            "What is written without it may be a second one, so before you apply, "
            f"{bring_back()}"
        )
    elif journal.is_old_copy:
        reporter.say(
            f"warning: {safe(journal.place)} seems to be an old copy, as the end of the last run "
            f"is missing: {bring_back('the newer one')}"
        )


def warn_of_new_journal(
    journal: Journal, reporter: Reporter, begun_by: str = "", *, begins: bool = True
) -> None:
    """Warn, before a run writes where there is no journal, of what its new journal lacks.

    `begun_by` is the command of the run, "" where a person confirmed that no earlier journal is
    lost. With `begins` false, the run has no entry to write and begins no journal.
    Raises JournalError where a journal is known to be gone: a new one would hide that.
    """
    journal.refuse_gone()
    if journal.header is None:
        journal.begun_by = begun_by
        begun = ", so this run begins a new one" if begins else ""
        reporter.say(
            f"warning: there is no journal at {safe(journal.place)}{begun}. "
            "If resources were applied before, a new one does not know it: an apply would make "
            "SLOs and saved views without an id in their manifest a second time, drift of alerts "
            "and saved views is not seen before their next apply, and earlier runs cannot be "
            f"rolled back. If the old one is lost, first {bring_back()}"
        )


def why_unconfirmed(journal: Journal) -> str:
    """Return the warning that an earlier journal may be lost; "" where a person ruled that out."""
    command = journal.history.begun_unasked
    # The data of the embedded emulator, which has no address, is as new as its journal.
    if not command or "://" not in journal.target:
        return ""
    return f"{describe_remark(UnconfirmedJournal(command))}; {bring_back()}"


def store_at(project: Project, setting: str) -> Store:
    """Return the store at a place that is written as in the project file.

    Raises UsageError for an invalid place, or for a place that needs an extra. Raises InvalidInput
    for a journal of each shard where no shard was selected.
    """
    check_filled(setting)
    try:
        return _store(journal_place_at(project, setting), project)
    except ValueError as error:
        raise UsageError(f"the place of a journal {error}") from error


def applied_commit(project: Project) -> str:
    """Return the commit of the project's manifests; "" where there is none."""
    from reconciler.journal.provenance import commit_of  # noqa: PLC0415 - not for validate

    paths = [project.root / path for path in project.settings.manifests]
    return commit_of(os.environ, project.root, paths)


def made_now(project: Project) -> ReportOccasion:
    """Return the occasion of a report that is made now."""
    from reconciler.journal.provenance import actor_of, run_of  # noqa: PLC0415 - not for validate
    from reconciler.report.html import ReportOccasion  # noqa: PLC0415 - for this format only

    who = actor_of(os.environ, project.root)
    return ReportOccasion(now(), applied_commit(project), who, run_of(os.environ))


def _store(place: JournalPlace, project: Project) -> Store:
    """Return the store; the module of a store is imported only where it is used."""
    try:
        module = import_module(f"reconciler.journal.{place.store}")
    except ImportError as error:
        raise MissingExtra(f"a journal at {place}", "remote") from error
    return cast("Store", module.opened(place, project.root))
