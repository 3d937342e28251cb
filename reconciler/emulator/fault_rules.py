"""Faults as a file describes them: rules, each with one fault, and which rule strikes a request.

    {"seed": 7, "rules": [
        {"method": "POST", "path": "/v1/slo/*", "nth": 2, "fault": {"drop": "after"}},
        {"probability": 0.3, "fault": {"status": 503, "retryAfter": "2"}}
    ]}

The first rule that strikes decides. Source: docs/emulator.md.
"""

import json
import random
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from reconciler.emulator.profile import UnreadableSettingsError, settings_in

_LONGEST = 3600.0  # seconds

Seconds = Annotated[float, Field(ge=0, le=_LONGEST)]


class _Settings(BaseModel):
    """A part of the file: names in lower camelCase, and no other names."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_alias=True,
        validate_by_name=True,
    )


class Drip(_Settings):
    """Send the body in pieces with a pause after each."""

    size: Annotated[int, Field(ge=1)] = 1
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

    delay: Annotated[Seconds, Field(description="Wait before anything else happens.")] = 0.0
    drop: Annotated[
        Literal["before", "after"] | None,
        Field(description="Close the connection before the request is carried out, or after."),
    ] = None
    status: Annotated[
        int | None, Field(ge=200, le=599, description="Answer this status instead.")
    ] = None
    commit: Annotated[
        bool, Field(description="Carry the request out all the same before answering `status`.")
    ] = False
    retry_after: Annotated[
        str | list[str], Field(description="Retry-After as it is; a list is sent twice.")
    ] = Field(default_factory=list)
    retry_after_date: Annotated[
        int | None,
        Field(description="Retry-After as a date so many seconds from now, negative in the past."),
    ] = None
    headers: Annotated[dict[str, str], Field(description="Further headers: a Location.")] = Field(
        default_factory=dict
    )
    body: Annotated[str | None, Field(description="This text is the body.")] = None
    html: Annotated[bool, Field(description="The body is a page of HTML.")] = False
    content_type: Annotated[str | None, Field(description="The Content-Type says this.")] = None
    truncate: Annotated[
        int | None, Field(ge=0, description="Only so many bytes of the body are sent.")
    ] = None
    declared: Annotated[
        Literal["cut", "whole"],
        Field(description="Whether the Content-Length of a truncated body is that of the cut."),
    ] = "cut"
    drip: Annotated[Drip | None, Field(description="Send the body drop by drop.")] = None
    partial: Annotated[
        PartialBulk | None, Field(description="A bulk request that works in part.")
    ] = None

    @property
    def answers_alone(self) -> bool:
        """Return whether the request is never carried out."""
        return self.drop == "before" or (self.status is not None and not self.commit)


class Rule(_Settings):
    """Which requests a fault strikes; a rule without conditions strikes all."""

    method: Annotated[
        Literal["GET", "POST", "PUT", "*"], Field(description="GET, POST, PUT, or * for any.")
    ] = "*"
    path: Annotated[str, Field(description="Below the API root; * means any path.")] = "*"
    nth: Annotated[
        int | list[int], Field(description="Only the n-th request the rule fits, from 1.")
    ] = Field(default_factory=list)
    probability: Annotated[float, Field(ge=0, le=1, description="Only by this chance.")] = 1.0
    times: Annotated[int | None, Field(ge=0, description="At most so often.")] = None
    above: Annotated[
        int | None,
        Field(
            ge=1,
            description="Only what goes beyond so many requests in a second; those it strikes "
            "do not count.",
        ),
    ] = None
    fault: Fault


class Faults(_Settings):
    """All rules, and the seed of their chance."""

    seed: int = 0
    rules: list[Rule] = Field(default_factory=list)


def load_faults(path: Path) -> Faults:
    """Read faults from a JSON file. Raises UnreadableSettingsError, which names the place."""
    try:
        return Faults.model_validate_json(json.dumps(settings_in(path)))
    except ValidationError as problem:
        raise UnreadableSettingsError.from_model(path, problem) from None


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
