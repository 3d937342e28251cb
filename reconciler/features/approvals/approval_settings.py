"""`approvals:` and `approvers:` of an environment: how many people must sign a plan, and who may.

Source: docs/approvals.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from reconciler.features.approvals.signers import read_signers
from reconciler.model.assumptions import STRICT
from reconciler.syntax.diagnostic import Complaint, Finding
from reconciler.syntax.files import read_own_file

if TYPE_CHECKING:
    from reconciler.project import Environment

MOST_PEOPLE: Final = 20

Count = Annotated[
    int, Field(ge=1, le=MOST_PEOPLE, description="How many people must approve a plan.")
]


class Approvals(BaseModel):
    """The approvals that a plan needs before it is applied."""

    model_config = STRICT

    count: Count
    break_glass: Annotated[
        bool,
        Field(
            alias="breakGlass",
            description="Whether --break-glass REASON may apply without them, in an emergency.",
        ),
    ] = False

    def offline(self) -> None:
        """Return None: a plan on an emulator of its own concerns no person."""

    def findings(self, environment: Environment, path: tuple[str, ...]) -> Iterator[Finding]:
        """Yield a finding where there is no list of people who may sign."""
        if environment.setting("approvers", Approvers) is None:
            message = "needs `approvers: FILE`, a list of the people who may sign"
            yield Finding("P101", path, message)


class Approvers(str):
    """The path of a list of signers, below the project's folder."""

    __slots__ = ()

    def findings(self, environment: Environment, path: tuple[str, ...]) -> Iterator[Finding]:
        """Yield a finding where a list has no `approvals`: it binds nothing."""
        if environment.setting("approvals", Approvals) is None:
            message = "binds nothing without `approvals: N`, how many of them must approve"
            yield Finding("P101", path, message)

    def file_flaws(self, environment: Environment, root: Path) -> Iterator[str]:
        """Yield what is wrong with the list of a checkout: once merged, it stops each apply."""
        needed = environment.setting("approvals", Approvals)
        text = read_own_file(root / self, str(self))
        if isinstance(text, Complaint):
            yield f"`{self}` is needed, the list of who may sign: {text.message}"
        elif needed is not None:
            yield from flaws_of(needed, self, text)


def flaws_of(approvals: Approvals, file: str, text: str) -> Iterator[str]:
    """Yield what is wrong with a list of signers, for the approvals that are needed."""
    signers = read_signers(text)
    yield from (f"`{file}`, line {number}: {flaw}" for number, flaw in signers.flaws)
    people = signers.people()
    if not signers.flaws and len(people) < approvals.count:
        named = f" ({', '.join(sorted(min(person) for person in people))})" if people else ""
        yield (
            f"{approvals.count} people must approve, and `{file}` has {len(people)} who can{named}"
        )


def count_of(environment: Environment) -> int:
    """Return how many approvals an environment needs."""
    needed = environment.setting("approvals", Approvals)
    return needed.count if needed is not None else 0


def is_bound(environment: Environment) -> bool:
    """Return whether an environment needs approvals."""
    return count_of(environment) > 0


def _spelled_out(setting: object) -> object:
    is_number = isinstance(setting, int) and not isinstance(setting, bool)
    return {"count": setting} if is_number else setting


_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MOST_PEOPLE},
        Approvals.model_json_schema(),
    ],
}


def _inside(file: str | None) -> Approvers | None:
    if file is None:
        return None
    path = Path(file)
    if not file.strip() or path.is_absolute() or ".." in path.parts:
        said = "must be a path below the folder of the project file"
        raise PydanticCustomError("approvers", "{said}", {"said": said})
    return Approvers(file)


APPROVALS: Final = Annotated[
    Annotated[Approvals, BeforeValidator(_spelled_out), WithJsonSchema(_SCHEMA)] | None,
    Field(
        default=None,
        description="How many people must approve a plan before it is applied: a number, or "
        "`{count: 2, breakGlass: true}`.",
    ),
]
APPROVERS: Final = Annotated[
    str | None,
    AfterValidator(_inside),
    Field(
        default=None,
        description="Who may approve: a file of OpenSSH's allowed signers, below the folder of "
        "the project file. The default branch's newest one is used.",
    ),
]
