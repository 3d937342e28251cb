"""A team's own rule, as all parts but its evaluation see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

OWN_RULE: Final = "R/"
"""The prefix of the codes of a team's own rules, as `R/alerts-have-an-owner`."""


class OwnExamples(Protocol):
    """Parts of manifests or of changes that a rule accepts, and those that it complains of."""

    @property
    def passing(self) -> Sequence[Mapping[str, Any]]:
        """The parts that it accepts."""

    @property
    def fail(self) -> Sequence[Mapping[str, Any]]:
        """The parts that it complains of."""


class OwnRule(Protocol):
    """A rule of `rules:` in the project file. Its expressions are in CEL."""

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
    def when(self) -> str | None:
        """An expression; where it is false, the rule says nothing."""

    @property
    def check(self) -> str:
        """An expression that must be true."""

    @property
    def message(self) -> str:
        """The message where it is not true."""

    @property
    def level(self) -> Literal["review", "explicit"]:
        """Who may consent, of a plan."""

    @property
    def until(self) -> str | None:
        """The last day on which it holds, as 2027-03-31."""

    @property
    def examples(self) -> OwnExamples:
        """The examples of `rules test`."""

    @property
    def code(self) -> str:
        """The code of its findings and guards."""

    @property
    def is_error(self) -> bool:
        """True if a finding stops a run."""
