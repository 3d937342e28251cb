"""A share of what is good and the time it is kept over, before and after. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log10

from reconciler.document import Json, Missing, value_at
from reconciler.kinds.facts import facts_at
from reconciler.kinds.fields import Part
from reconciler.kinds.picture import Objective
from reconciler.report.changes.spoken_value import duration, number_of, plain_number, spoken_value

WHOLE = 100.0
FINEST = 0.001
DAY_SECONDS = 86_400
HOUR_SECONDS = 3_600
_DAYS = re.compile(r"(\d{1,4})_DAYS$")


@dataclass(frozen=True, slots=True)
class Aim:
    """One side: the target in per cent, and the window in words and in days, where known."""

    target: float | None
    window: str
    days: int | None

    @property
    def budget(self) -> float | None:
        """The share that may be bad, in per cent, rounded as people count."""
        return None if self.target is None else round(WHOLE - self.target, 9)

    @property
    def nines(self) -> float | None:
        """Where the target stands on a scale of nines: 90 % is 1, 99.9 % is 3, 5 at most."""
        if self.budget is None:
            return None
        return -log10(min(max(self.budget, FINEST), WHOLE) / WHOLE)


@dataclass(frozen=True, slots=True)
class AimSides:
    """An objective before, where there was one, and after."""

    before: Aim | None
    after: Aim

    @property
    def changed(self) -> bool:
        """Whether target or window differ."""
        return self.before is not None and self.before != self.after


def aim_sides(
    picture: Objective, before: Json | Missing, after: Json | Missing, model: type[Part]
) -> AimSides:
    """Read target and window of both documents."""
    was = _aim(picture, before, model) if isinstance(before, dict) and before else None
    return AimSides(was, _aim(picture, after, model))


def _aim(picture: Objective, document: Json | Missing, model: type[Part]) -> Aim:
    target = value_at(document, picture.target)
    window = value_at(document, picture.window)
    found = _DAYS.search(window) if isinstance(window, str) else None
    words = f"{found[1]} days" if found else spoken_value(window, facts_at(model, picture.window))
    number = None if isinstance(target, str) else number_of(target)
    if number is not None and not 0 <= number <= WHOLE:
        # No share at all: its field says what it is.
        number = None
    return Aim(number, words, int(found[1]) if found else None)


def target_words(aim: Aim) -> str:
    """Say a target: `99.5 %`."""
    return "unknown" if aim.target is None else f"{plain_number(aim.target)} %"


def budget_words(aim: Aim) -> str:
    """Say what may be bad: `0.5 %, 1 in 200, 3 h 21 min of 28 days`."""
    if aim.budget is None:
        return "unknown"
    if aim.budget <= 0:
        return "nothing may fail"
    words = [f"{plain_number(aim.budget)} %", f"1 in {round(WHOLE / aim.budget):,}"]
    if aim.days is not None:
        seconds = round(aim.days * DAY_SECONDS * aim.budget / WHOLE)
        words.append(f"{_minutes(seconds)} of {aim.days} days")
    return ", ".join(words)


def _minutes(seconds: int) -> str:
    """Give a time without its seconds once there are hours."""
    rounded = seconds - seconds % 60 if seconds >= HOUR_SECONDS else seconds
    return duration(rounded * 1_000) or "0 s"
