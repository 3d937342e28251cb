"""Faults as a file describes them: rules, each with one fault, and which rule strikes a request.

    {"seed": 7, "rules": [
        {"method": "POST", "path": "/v1/slo/*", "nth": 2, "fault": {"drop": "after"}},
        {"probability": 0.3, "fault": {"status": 503, "retryAfter": "2"}}
    ]}

The first rule that strikes decides. Source: docs/emulator.md.
"""

import random
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from reconciler.emulator.profile import SETTINGS, load_settings

_LONGEST = 3600.0  # seconds

Seconds = Annotated[float, Field(ge=0, le=_LONGEST)]


class _Settings(BaseModel):
    """A part of the file: names in lower camelCase, and no other names."""

    model_config = SETTINGS | {"frozen": True}


class Drip(_Settings):
    """Send the body in pieces with a pause after each."""

    size: int = Field(default=1, ge=1)
    every: Seconds = 0.1


class PartialBulk(_Settings):
    """Results of the items of endpoints 1 and 10, by their index in the request.

    An item in several lists is in several lists of the answer. It is carried
    out only when it is in `replaced`; `missing` leaves it out of the answer.
    `unsent` are ids that the answer adds to `skippedIds`.
    """

    replaced: list[int] = Field(default_factory=list)
    failed: list[int] = Field(default_factory=list)
    not_found: list[int] = Field(default_factory=list)
    skipped: list[int] = Field(default_factory=list)
    missing: list[int] = Field(default_factory=list)
    unsent: list[str] = Field(default_factory=list)

    def names(self, index: int) -> bool:
        """Return whether the fault names an item."""
        lists = (self.replaced, self.failed, self.not_found, self.skipped, self.missing)
        return any(index in element for element in lists)

    def carries_out(self, index: int) -> bool:
        """Return whether an item is written."""
        return index in self.replaced or not self.names(index)

    def shows(self, index: int) -> bool:
        """Return whether the answer has an item that was written."""
        return index not in self.missing


class Fault(_Settings):
    """One thing that goes wrong, or several at once."""

    delay: Seconds = Field(default=0.0, description="Wait before anything else happens.")
    drop: Literal["before", "after"] | None = Field(
        default=None,
        description="Close the connection before the request is carried out, or after.",
    )
    status: int | None = Field(
        default=None, ge=200, le=599, description="Answer this status instead."
    )
    commit: bool = Field(
        default=False, description="Carry the request out all the same before answering `status`."
    )
    retry_after: str | list[str] = Field(
        default_factory=list, description="Retry-After as it is; a list is sent twice."
    )
    retry_after_date: int | None = Field(
        default=None,
        description="Retry-After as a date so many seconds from now, negative in the past.",
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Further headers: a Location."
    )
    body: str | None = Field(default=None, description="This text is the body.")
    html: bool = Field(default=False, description="The body is a page of HTML.")
    content_type: str | None = Field(default=None, description="The Content-Type says this.")
    truncate: int | None = Field(
        default=None, ge=0, description="Only so many bytes of the body are sent."
    )
    declared: Literal["cut", "whole"] = Field(
        default="cut",
        description="Whether the Content-Length of a truncated body is that of the cut.",
    )
    drip: Drip | None = Field(default=None, description="Send the body drop by drop.")
    partial: PartialBulk | None = Field(
        default=None, description="A bulk request that works in part."
    )

    @property
    def answers_alone(self) -> bool:
        """Return whether the request is never carried out."""
        return self.drop == "before" or (self.status is not None and not self.commit)


class Rule(_Settings):
    """Which requests a fault strikes; a rule without conditions strikes all."""

    method: Literal["GET", "POST", "PUT", "*"] = Field(
        default="*", description="GET, POST, PUT, or * for any."
    )
    path: str = Field(default="*", description="Below the API root; * means any path.")
    nth: int | list[int] = Field(
        default_factory=list, description="Only the n-th request the rule fits, from 1."
    )
    probability: float = Field(default=1.0, ge=0, le=1, description="Only by this chance.")
    times: int | None = Field(default=None, ge=0, description="At most so often.")
    above: int | None = Field(
        default=None,
        ge=1,
        description="Only what goes beyond so many requests in a second; those it strikes "
        "do not count.",
    )
    fault: Fault


class Faults(_Settings):
    """All rules, and the seed of their chance."""

    seed: int = 0
    rules: list[Rule] = Field(default_factory=list)


def load_faults(path: Path) -> Faults:
    """Read faults from a JSON file. Raises UnreadableSettingsError."""
    return load_settings(Faults, path)


class FaultRules:
    """Counts the requests of one emulator; the same requests meet the same faults.

    `moment` returns seconds, for rules on the number of requests in a second.
    """

    def __init__(self, faults: Faults, moment: Callable[[], float] = monotonic) -> None:
        self._rules = [
            _Counted(rule, f"{faults.seed}:{number}", moment)
            for number, rule in enumerate(faults.rules)
        ]

    def fault_for(self, method: str, path: str) -> Fault | None:
        """Return the fault of the first rule that strikes; all matching rules count it."""
        struck = [rule for rule in self._rules if rule.strikes(method, path)]
        if not struck:
            return None
        struck[0].struck += 1
        return struck[0].rule.fault


class _Counted:
    """A rule with the number of its requests."""

    def __init__(self, rule: Rule, seed: str, moment: Callable[[], float]) -> None:
        self.rule = rule
        self._moment = moment
        self._passed: deque[float] = deque()
        self.struck = 0
        self._fitting = 0
        self._chance = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._nth = [rule.nth] if isinstance(rule.nth, int) else rule.nth

    def strikes(self, method: str, path: str) -> bool:
        rule = self.rule
        if rule.method not in ("*", method) or not fnmatchcase(path, rule.path):
            return False
        self._fitting += 1
        is_chosen = self._chance.random() < rule.probability
        is_counted = not self._nth or self._fitting in self._nth
        is_left = rule.times is None or self.struck < rule.times
        return is_chosen and is_counted and is_left and not self._is_allowed()

    def _is_allowed(self) -> bool:
        """Return whether a second may have one more request, and count the request then."""
        if self.rule.above is None:
            return False
        now = self._moment()
        while self._passed and self._passed[0] <= now - 1:
            self._passed.popleft()
        if len(self._passed) >= self.rule.above:
            return False
        self._passed.append(now)
        return True
