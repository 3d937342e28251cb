"""A team's own rule, as the core sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol

OWN_RULE: Final = "R/"
"""The prefix of the codes of a team's own rules, as `R/alerts-have-an-owner`."""


class OwnRule(Protocol):
    """A rule of `rules:` in the project file."""

    @property
    def name(self) -> str:
        """Its name, unique in the project."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that it is about; empty for all."""

    @property
    def on(self) -> Literal["resource", "plan"]:
        """The subject that it judges: manifests or planned changes."""

    @property
    def level(self) -> Literal["review", "explicit"]:
        """Who may consent, of a plan."""

    @property
    def code(self) -> str:
        """The code of its findings and guards."""
