"""What a job asks for: the inputs of action.yml, read from variables `INPUT_NAME`.

One table holds them all; action.yml and docs/ci.md are compared with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from reconciler import __version__
from reconciler.errors import UsageError
from reconciler.forge.marker import root_of
from reconciler.project import BASE_URL
from reconciler.slips import nearest

CommentMode: TypeAlias = Literal["changes", "always", "on-error", "never", "new"]
Review: TypeAlias = Literal["comment", "file", "none"]

FLAG = ("false", "true")
NO_FLAG = ("true", "false")

INPUTS: dict[str, tuple[str, ...]] = {
    "command": ("plan", "apply", "validate", "drift"),
    "path": (".",),
    "environment": ("",),
    "project": ("",),
    "base-url": ("",),
    "api-key": ("",),
    "comment": ("changes", "always", "on-error", "never", "new"),
    "comment-failure": ("warn", "error"),
    "summary": NO_FLAG,
    "annotations": NO_FLAG,
    "sarif-file": ("",),
    "plan-file": ("",),
    "require-plan": ("comment", "file", "none"),
    "allow-destroy": FLAG,
    "new-journal": FLAG,
    "fail-on-changes": FLAG,
    "allow-untrusted-manifests": FLAG,
    "version": ("",),
    "token": ("",),
}
"""Every input, its default first; where there are more, those are all it may say."""

_PLAN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MEANT = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs, checked. `base_url` is where alone a key may go, "" where nobody said."""

    command: str
    path: str
    environment: str
    project: str
    base_url: str
    comment: CommentMode
    require_plan: Review
    comment_must_work: bool
    summary: bool
    annotations: bool
    allow_destroy: bool
    new_journal: bool
    fail_on_changes: bool
    allow_untrusted: bool
    plan_file: Path
    sarif_file: Path | None = None
    token: str = field(default="", repr=False)

    @property
    def root(self) -> str:
        """What stands for `path` in the comment's key."""
        return root_of(self.path)

    @property
    def artifact(self) -> str:
        """The name that the plan file is kept under: one for each environment and path."""
        name = f"plan-{self.environment or 'default'}"
        return name if self.root == root_of(".") else f"{name}-{self.root}"


def read_inputs(environ: Mapping[str, str], command: str | None) -> Inputs:
    """Check the inputs; `command` is that of the command line, where it has one.

    Raises UsageError naming the input and what it may say.
    """
    given = {name: _given(environ, name) for name in INPUTS}
    given["command"] = command or given["command"]
    for name, choices in INPUTS.items():
        if len(choices) > 1 and given[name] not in choices:
            raise UsageError(_not_among(name, given[name], choices))
    if given["version"] not in ("", __version__):
        raise UsageError(f"`version`: this is {__version__}; use the action at another tag")
    if not _PLAN_NAME.fullmatch(given["environment"] or "default"):
        raise UsageError(f"`environment`: `{given['environment']}` is no name of an environment")
    sarif = given["sarif-file"]
    inputs = Inputs(
        command=given["command"],
        path=given["path"],
        environment=given["environment"],
        project=given["project"],
        base_url=(given["base-url"] or environ.get(BASE_URL, "")).strip().rstrip("/"),
        comment=given["comment"],  # type: ignore[arg-type]  # among its choices
        require_plan=given["require-plan"],  # type: ignore[arg-type]  # among its choices
        comment_must_work=given["comment-failure"] == "error",
        summary=given["summary"] == "true",
        annotations=given["annotations"] == "true",
        allow_destroy=given["allow-destroy"] == "true",
        new_journal=given["new-journal"] == "true",
        fail_on_changes=given["fail-on-changes"] == "true",
        allow_untrusted=given["allow-untrusted-manifests"] == "true",
        plan_file=Path(),
        sarif_file=Path(sarif) if sarif else None,
        token=given["token"] or environ.get("GITHUB_TOKEN", ""),
    )
    return _with_plan_file(inputs, given["plan-file"], environ)


def _with_plan_file(inputs: Inputs, given: str, environ: Mapping[str, str]) -> Inputs:
    """Say where the plan is kept: by default not among the manifests, where it would be read."""
    folder = Path(environ.get("RUNNER_TEMP", "") or ".")
    file = Path(given) if given else folder / f"{inputs.artifact}.json"
    return replace(inputs, plan_file=file.absolute())


def _given(environ: Mapping[str, str], name: str) -> str:
    return environ.get(f"INPUT_{name.replace('-', '_').upper()}", "") or INPUTS[name][0]


def _not_among(name: str, given: str, choices: tuple[str, ...]) -> str:
    folded = given.strip().casefold()
    near = folded if folded in choices else _MEANT.get(folded, "") or nearest(folded, choices)
    hint = f": did you mean `{near}`?" if near in choices else ""
    listed = " or ".join(sorted(choices, reverse=True)) if len(choices) == len(FLAG) else ""
    return f"`{name}` is {listed or 'one of ' + ', '.join(choices)}, and not `{given}`{hint}"
