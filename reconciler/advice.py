"""Command lines that are advised: as printed, each leads to where it was advised.

A default environment, or another folder, must not make the command of one environment act on
another. So no message spells such a command itself (tests/test_advice.py): it asks here.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

LOST_JOURNAL: Final = (
    'the page "The journal" of reconciler\'s documentation says what to do without one'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """What leads a command to the environment of this run, each part with a blank before it.

    `to_journal` leads what takes `--path`, `to_manifests` what takes paths, and `to_project`
    what takes neither. `root` is the project's folder as seen from here, and `selection` what
    limits what takes paths to some manifests. `way_back` is the commands that bring back what the
    journal lost, as text; "" where there are none.
    """

    environment: str = ""
    to_journal: str = ""
    to_manifests: str = ""
    to_project: str = ""
    root: str = "."
    selection: str = ""
    way_back: str = ""


_here: ContextVar[Here] = ContextVar("here")
_NOWHERE = Here()
_in_job: ContextVar[bool] = ContextVar("in_job", default=False)


def lead_to(here: Here) -> None:
    """Note which environment this run is about, as soon as that is known."""
    _here.set(here)


def lead_back(way: str) -> None:
    """Note the commands that bring back what the journal of this run lost; "" for none."""
    _here.set(replace(_here.get(_NOWHERE), way_back=way))


@contextmanager
def in_job() -> Iterator[None]:
    """Advise what is done in CI for a while: a merge, or a run by hand with an input."""
    before = _in_job.set(True)
    try:
        yield
    finally:
        _in_job.reset(before)


def is_in_job() -> bool:
    """Return whether whoever reads what is advised acts by a merge or a workflow."""
    return _in_job.get()


def on_journal(command: str, rest: str = "", *, environment: str = "") -> str:
    """Give a `journal` command by its name, and what follows its options."""
    here = _here.get(_NOWHERE)
    return _line(f"journal {command}", environment or here.environment, here.to_journal, rest)


def from_journal(command: str, rest: str = "") -> str:
    """Give a command that takes what it does out of the journal."""
    here = _here.get(_NOWHERE)
    return _line(command, here.environment, here.to_journal, rest)


def on_manifests(command: str, rest: str = "", *, whole: bool = False) -> str:
    """Give a command that reads manifests, with the paths and the selection of this run.

    With `whole` it is about what is not selected too.
    """
    here = _here.get(_NOWHERE)
    place = here.to_manifests if whole else f"{here.to_manifests}{here.selection}"
    return _line(command, here.environment, place, rest)


def on_files(command: str, *files: str, rest: str = "") -> str:
    """Return a command that reads files of manifests, named as in the project's folder."""
    here = _here.get(_NOWHERE)
    named = " ".join(filter(None, (*(_typed(file, here) for file in files), rest)))
    return _line(command, here.environment, here.to_project, named)


def on_part(command: str, *files: str, rest: str = "") -> str:
    """Return a command that is limited to what some files declare by `--select`."""
    part = (f"--select {shlex.quote(f'file={file}')}" for file in files)
    return on_files(command, rest=" ".join(filter(None, (rest, *part))))


def from_export(file: str) -> str:
    """Give the command that makes a manifest of an export, named as in the project's folder."""
    here = _here.get(_NOWHERE)
    return _line("import", here.environment, here.to_project, f"--from {_typed(file, here)}")


def on_service(command: str, rest: str = "") -> str:
    """Give a command that only talks to the service."""
    here = _here.get(_NOWHERE)
    return _line(command, here.environment, here.to_project, rest)


def _typed(file: str, here: Here) -> str:
    place = os.path.normpath(os.path.join(here.root, file))  # noqa: PTH118 - text, as it is typed
    return shlex.quote(f"./{place}" if place.startswith("-") else place)


def in_git(command: str, rest: str) -> str:
    """Give a command of git in the project's folder, of which the paths in it are told."""
    root = _here.get(_NOWHERE).root
    folder = "" if root == "." else f" -C {shlex.quote(root)}"
    return f"git{folder} {command} {rest}"


def from_newest(remote: str, newest: str, ref: str) -> str:
    """Return the commands that move a ref of a remote to where another one of it is."""
    fetch = in_git("fetch", shlex.join((remote, newest)))
    push = in_git("push", shlex.join(("--force", remote, f"FETCH_HEAD:{ref}")))
    return f"`{fetch}`, then `{push}`"


def bring_back(what: str = "it") -> str:
    """Return how to bring back a journal: by commands where its remote has what it lost."""
    way = _here.get(_NOWHERE).way_back
    return f"bring {what} back {f'with {way}' if way else f'from a copy; {LOST_JOURNAL}'}"


def _line(command: str, environment: str, place: str, rest: str) -> str:
    chosen = f" -e {shlex.quote(environment)}" if environment else ""
    return f"reconciler {command}{chosen}{place}{f' {rest}' if rest else ''}"
