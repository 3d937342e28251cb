"""The explanation of a code: its meaning, why it matters, an example and its repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """A family of codes. `noun` names one of its codes, `about` completes "they are about".

    `page` and `command` are the defaults of its explanations.
    """

    noun: str
    about: str
    page: str = "manifests"
    command: str = ""


_VALIDATE = "validate"

FAMILIES: Final[Mapping[str, Family]] = {
    "text": Family("a complaint", "the text of a file", command=_VALIDATE),
    "envelope": Family("a complaint", "what is around `spec`", command=_VALIDATE),
    "spec": Family("a complaint", "what is under `spec`", command=_VALIDATE),
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
    """Files of a workspace at their places, or shell commands that reproduce the case.

    `says` describes in words what no file shows. `environ` is set while `command` checks the
    sample, in a folder with the files and the results of the commands.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The meaning of a code, for a person who met it.

    `title` completes "this is reported where ..." in a few words. `command` reports the code for
    `wrong`, and does not report it for `right`; "" where no sample can show it. `page` is the page
    of docs/ that says more.
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
