"""What is said of one code: what it means, why it matters, an example and its repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """Codes of one sort. `noun` is what one of them is, `about` completes "they are about".

    `page` and `command` are those of every explanation that names no others.
    """

    noun: str
    about: str
    page: str = "manifests"
    command: str = ""


_VALIDATE = "validate"

FAMILIES: Final[Mapping[str, Family]] = {
    "text": Family("a complaint", "the text of a file", command=_VALIDATE),
    "envelope": Family("a complaint", "what stands around `spec`", command=_VALIDATE),
    "spec": Family("a complaint", "what stands under `spec`", command=_VALIDATE),
    "workspace": Family(
        "a complaint", "the workspace as a whole, and expressions", command=_VALIDATE
    ),
    "reuse": Family("a complaint", "what is said once for many", "reuse", _VALIDATE),
    "practice": Family("a complaint", "practice", "practice", _VALIDATE),
    "query": Family("a complaint", "queries", "graph", _VALIDATE),
    "audit": Family("a finding", "what is declared against what happened", "evidence"),
    "project": Family("a complaint", "the project file", command=_VALIDATE),
    "guard": Family("a guard", "what an apply refuses without consent", "guards"),
    "reason": Family("a reason", "why a change of a plan is as it is", "plan"),
    "remark": Family("a remark", "what a plan says of itself", "plan"),
    "exit": Family("an exit code", "what a command ends with", "exit-codes"),
}
"""Every family by its name in the front matter of a page, in the order of the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Files of a workspace as they stand there, or the commands of a shell that lead there.

    `says` tells in words what no file shows. `environ` is set while it is checked, by
    `command`, in a folder that holds the files and what the commands made.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a code means to whoever met it.

    `title` completes "this is told where ..." in a few words. `command` is what tells
    the code of `wrong`, and does not tell it of `right`; "" where no sample can show it.
    `page` is the page of docs/ that says more.
    """

    code: str
    family: Family
    title: str
    means: str
    why: str
    wrong: Sample
    right: Sample
    command: str
    page: str
