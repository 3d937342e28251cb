"""What a resource is called: here, and by the service. Pure."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

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
