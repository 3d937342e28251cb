"""Which fault strikes a request: rules with their counts and their chance."""

import random
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from time import monotonic

from reconciler.emulator.faults import Fault, Faults, Rule


class FaultRules:
    """Counts the requests of one emulator; the same requests meet the same faults.

    `moment` tells seconds, for rules about how many come in one.
    """

    def __init__(self, faults: Faults, moment: Callable[[], float] = monotonic) -> None:
        self._rules = [
            _Counted(rule, f"{faults.seed}:{number}", moment)
            for number, rule in enumerate(faults.rules)
        ]

    def fault_for(self, method: str, path: str) -> Fault | None:
        """Give the fault of the first rule that strikes; every rule that fits counts."""
        struck = [rule for rule in self._rules if rule.strikes(method, path)]
        if not struck:
            return None
        struck[0].struck += 1
        return struck[0].rule.fault


class _Counted:
    """A rule and what it has seen."""

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
        """Tell whether a request is one of those that a second may have, and count it then."""
        if self.rule.above is None:
            return False
        now = self._moment()
        while self._passed and self._passed[0] <= now - 1:
            self._passed.popleft()
        if len(self._passed) >= self.rule.above:
            return False
        self._passed.append(now)
        return True
