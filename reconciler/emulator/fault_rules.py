"""Which fault strikes a request: rules with their counts and their chance."""

import random
from fnmatch import fnmatchcase

from reconciler.emulator.faults import Fault, Faults, Rule


class FaultRules:
    """Counts the requests of one emulator; the same requests meet the same faults."""

    def __init__(self, faults: Faults) -> None:
        self._rules = [
            _Counted(rule, f"{faults.seed}:{number}") for number, rule in enumerate(faults.rules)
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

    def __init__(self, rule: Rule, seed: str) -> None:
        self.rule = rule
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
        return is_chosen and is_counted and (rule.times is None or self.struck < rule.times)
