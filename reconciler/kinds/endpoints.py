"""Requests that read and write a kind, or ask about it. Source: docs/endpoints.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One request of the API document, by its number there; `does` completes "it ...".

    `sends` is whether the request has what a manifest declares.
    """

    number: int
    method: str
    path: str
    does: str
    sends: bool = True
    tells: bool = True
    """Whether the answer has what the service stores."""

    @property
    def shown(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"
