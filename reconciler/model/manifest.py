"""What the manifests declare, and what each resource is called. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from reconciler.document import Json

API_VERSION = "reconciler/v1"

RemoteId: TypeAlias = str | int
"""What the service calls a resource: a uuid, 21 characters, or an int32."""


class Ref(NamedTuple):
    """The name of a resource in the workspace, `Kind/name`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Ref | None:
        """Read `Kind/name`; None where the text has another form."""
        kind, slash, name = text.partition("/")
        return cls(kind, name) if slash and kind and name else None


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """One item of a `forEach`, by its number from 1; `label` says what it holds, as `service: a`.

    The `forEach` has `total` items.
    """

    number: int
    label: str = ""
    total: int = 1

    def __str__(self) -> str:
        return f"item {self.number} ({self.label})" if self.label else f"item {self.number}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a manifest stands: `file` relative to the project, lines and columns from 1.

    `item` is the one of a `forEach` that it is made of.
    """

    file: str
    line: int
    column: int = 1
    item: Member | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return place if self.item is None else f"{place}, {self.item}"


@dataclass(frozen=True, slots=True)
class Exemption:
    """Why a complaint does not hold for a resource, and the last day of that; None for no end."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Unopened:
    """A `spec` that is still text, as that of most manifests stays where nothing changed.

    `sum` is what `sum_of` gave for the manifest, `declared_id` the id that it declares, and
    `plain` says that nothing in it is filled in late: no secret and no reference.
    """

    opened: Callable[[], dict[str, Json]]
    sum: str
    declared_id: RemoteId | None
    plain: bool


_OPENED = "opened_spec"


class _Spec:
    """Opens a `spec` when somebody looks at it."""

    def __get__(self, one: Manifest, _: type[Manifest]) -> dict[str, Json]:
        held: dict[str, Json] | Unopened = one.__dict__["spec"]
        if not isinstance(held, Unopened):
            return held
        opened: dict[str, Json] | None = one.__dict__.get(_OPENED)
        if opened is None:
            opened = one.__dict__[_OPENED] = held.opened()
        return opened

    def __set__(self, one: Manifest, spec: dict[str, Json] | Unopened) -> None:
        one.__dict__["spec"] = spec


@dataclass(frozen=True)
class Manifest:
    """One declared resource: variables filled in, secrets sealed, references still open.

    `protect` asks that nothing changes it from its next apply on. `exempt` are the complaints
    that it is exempted from today, by code: it is no part of what is declared.
    """

    ref: Ref
    spec: dict[str, Json]
    source: Source
    remote_id: RemoteId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[Ref] = frozenset()
    protect: bool = False
    exempt: Mapping[str, Exemption] = field(default_factory=dict, compare=False)

    @property
    def unopened(self) -> Unopened | None:
        """What is known of a `spec` without looking at it; None where that is nothing."""
        held = self.__dict__["spec"]
        return held if isinstance(held, Unopened) else None

    def fold(self) -> None:
        """Let a `spec` that was text be text again."""
        self.__dict__.pop(_OPENED, None)


# Set apart from the class, in which it would be the default of the field.
Manifest.spec = _Spec()  # type: ignore[assignment]  # a descriptor stands for the field


@dataclass(frozen=True, slots=True)
class Selected:
    """What a run was limited to by `--select` and `--exclude`, and how many it left out."""

    select: tuple[str, ...]
    exclude: tuple[str, ...]
    left_out: int
