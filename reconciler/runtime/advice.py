"""Commands in advice: as printed, each works in the environment of the run that printed it.

A default environment or another folder must not make the command of one environment act on another.
So messages never spell such commands themselves (tests/test_advice.py): they use this module.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

from reconciler.runtime.rows import Rows

LOST_JOURNAL: Final = (
    'the page "Live through the loss of the journal" (docs/lost-journal.md) says what to do '
    "without one"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The options that lead a command to the environment of this run, each after a blank.

    `to_journal` is for commands with `--path`, `to_manifests` for commands with paths, `to_all` for
    those about all manifests, and `to_project` for the others. `root` is the project's folder
    relative to the current one. `selection` limits commands with paths to some manifests.
    `way_back` is text with the commands that bring back what the journal lost, or "".
    """

    environment: str = ""
    to_journal: str = ""
    to_manifests: str = ""
    to_project: str = ""
    to_all: str = ""
    root: str = "."
    selection: str = ""
    way_back: str = ""


_NOWHERE: Final = Here()
_here: ContextVar[Here] = ContextVar("here", default=_NOWHERE)


@dataclass(frozen=True, slots=True)
class PlanOfJob:
    """The artifact that a job keeps its plan in, and the name of the plan's file there."""

    artifact: str = "plan"
    file: str = "plan.json"


_PLAN: Final = PlanOfJob()
_in_job: ContextVar[PlanOfJob | None] = ContextVar("in_job", default=None)


_ADDED: Final = Rows[object]("commands")


def is_added(command: str) -> bool:
    """Return whether a feature adds a command, so that it may be advised. Imports nothing."""
    return command in _ADDED


def lead_to(here: Here) -> None:
    """Set the environment of this run, as soon as it is known."""
    _here.set(here)


def lead_back(way: str) -> None:
    """Set the commands that bring back what the journal of this run lost; "" for none."""
    _here.set(replace(_here.get(), way_back=way))


@contextmanager
def in_job(plan: PlanOfJob = _PLAN) -> Iterator[None]:
    """Advise actions for CI inside this context: a merge, or a run by hand with an input."""
    before = _in_job.set(plan)
    try:
        yield
    finally:
        _in_job.reset(before)


def is_in_job() -> bool:
    """Return whether the reader of the advice acts by a merge or a workflow."""
    return _in_job.get() is not None


def plan_of_job() -> PlanOfJob:
    """Return where people find the plan of this job."""
    return _in_job.get() or _PLAN


def on_journal(command: str, rest: str = "", *, environment: str = "") -> str:
    """Return a `journal` command by its name; `rest` follows its options."""
    return _line(f"journal {command}", _here.get().to_journal, rest, environment)


def from_journal(command: str, rest: str = "") -> str:
    """Return a command that takes its input from the journal."""
    return _line(command, _here.get().to_journal, rest)


def on_manifests(command: str, rest: str = "") -> str:
    """Return a command that reads manifests, with the paths and the selection of this run."""
    here = _here.get()
    return _line(command, f"{here.to_manifests}{here.selection}", rest)


def on_all_manifests(command: str, rest: str = "") -> str:
    """Return a command that reads all manifests, whatever this run was limited to."""
    return _line(command, _here.get().to_all, rest)


def on_files(command: str, *files: str, rest: str = "") -> str:
    """Return a command that reads files of manifests, named as in the project's folder."""
    return on_service(command, " ".join(filter(None, (*map(_typed, files), rest))))


def on_part(command: str, *files: str, rest: str = "") -> str:
    """Return a command that is limited by `--select` to the resources of some files."""
    part = (f"--select {shlex.quote(f'file={file}')}" for file in files)
    return on_service(command, " ".join(filter(None, (rest, *part))))


def from_export(file: str) -> str:
    """Return the command that makes a manifest of an export, named as in the project's folder."""
    return on_service("import", f"--from {_typed(file)}")


def on_service(command: str, rest: str = "") -> str:
    """Return a command that only uses the service."""
    return _line(command, _here.get().to_project, rest)


def _typed(file: str) -> str:
    place = os.path.normpath(os.path.join(_here.get().root, file))  # noqa: PTH118 - text, as it is typed
    return shlex.quote(f"./{place}" if place.startswith("-") else place)


def in_git(command: str, rest: str) -> str:
    """Return a git command in the project's folder; its paths are relative to that folder."""
    root = _here.get().root
    folder = "" if root == "." else f" -C {shlex.quote(root)}"
    return f"git{folder} {command} {rest}"


def from_newest(remote: str, newest: str, ref: str) -> str:
    """Return the commands that move a ref of a remote to the target of its ref `newest`."""
    fetch = in_git("fetch", shlex.join((remote, newest)))
    push = in_git("push", shlex.join(("--force", remote, f"FETCH_HEAD:{ref}")))
    return f"`{fetch}`, then `{push}`"


def declared_id(known: str = "ID") -> str:
    """Return the line of a manifest's `metadata` that has its id in the environment of this run."""
    environment = _here.get().environment
    return f"ids: {{{environment}: {known}}}" if environment else f"id: {known}"


def bring_back(what: str = "it") -> str:
    """Return how to bring back a journal: by commands if its remote has what was lost."""
    way = _here.get().way_back
    return f"bring {what} back {f'with {way}' if way else f'from a copy; {LOST_JOURNAL}'}"


def _line(command: str, place: str, rest: str, environment: str = "") -> str:
    environment = environment or _here.get().environment
    chosen = f" -e {shlex.quote(environment)}" if environment else ""
    return f"reconciler {command}{chosen}{place}{f' {rest}' if rest else ''}"
