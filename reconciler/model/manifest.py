"""Declared resources and their names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from reconciler.document import Json

API_VERSION = "reconciler/v1"

RemoteId: TypeAlias = str | int
"""The id of a resource in the service: a uuid, 21 characters, or an int32."""


class Ref(NamedTuple):
    """The name of a resource in the workspace, `Kind/name`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Ref | None:
        """Read `Kind/name`; None if the text has another form."""
        kind, slash, name = text.partition("/")
        return cls(kind, name) if slash and kind and name else None


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """One item of a `forEach`, by its number from 1; `label` describes it, as `service: a`.

    The `forEach` has `total` items.
    """

    number: int
    label: str = ""
    total: int = 1

    def __str__(self) -> str:
        return f"item {self.number} ({self.label})" if self.label else f"item {self.number}"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a manifest: `file` relative to the project, lines and columns from 1.

    `item` is the item of a `forEach` that it was generated from.
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
    """The reason for an exemption from a complaint, and its last day; None for no end."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Unopened:
    """A `spec` that is still text, as in most manifests that did not change.

    `sum` is the result of `sum_of` for the manifest, `declared_id` the id that it declares, and
    `plain` says that nothing in it is filled in late: no secret and no reference.
    """

    opened: Callable[[], dict[str, Json]]
    sum: str
    declared_id: RemoteId | None
    plain: bool


_OPENED = "opened_spec"


class _Spec:
    """A descriptor that opens a `spec` when it is used."""

    def __get__(self, manifest: Manifest, _: type[Manifest]) -> dict[str, Json]:
        spec: dict[str, Json] | Unopened = manifest.__dict__["spec"]
        if not isinstance(spec, Unopened):
            return spec
        opened: dict[str, Json] | None = manifest.__dict__.get(_OPENED)
        if opened is None:
            opened = manifest.__dict__[_OPENED] = spec.opened()
        return opened

    def __set__(self, manifest: Manifest, spec: dict[str, Json] | Unopened) -> None:
        manifest.__dict__["spec"] = spec


@dataclass(frozen=True)
class Manifest:
    """One declared resource: variables filled in, secrets sealed, references not yet resolved.

    `protect` means that nothing changes it after its next apply. `exempt` are the complaints that
    it is exempted from today, by code; they are not part of what is declared. `added` has the
    values that features read from their own keys.
    """

    ref: Ref
    spec: dict[str, Json]
    source: Source
    remote_id: RemoteId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[Ref] = frozenset()
    protect: bool = False
    exempt: Mapping[str, Exemption] = field(default_factory=dict, compare=False)
    added: Mapping[str, Json] = field(default_factory=dict, compare=False)

    @property
    def unopened(self) -> Unopened | None:
        """The unopened `spec`; None if it is not text."""
        spec = self.__dict__["spec"]
        return spec if isinstance(spec, Unopened) else None

    def fold(self) -> None:
        """Make a `spec` that was text into text again."""
        self.__dict__.pop(_OPENED, None)


# Set outside the class: inside, it would be the default of the field.
Manifest.spec = _Spec()  # type: ignore[assignment]  # a descriptor instead of the field


@dataclass(frozen=True, slots=True)
class Selected:
    """The limits of a run, `--select` and `--exclude`, and how many resources they left out."""

    select: tuple[str, ...]
    exclude: tuple[str, ...]
    left_out: int
