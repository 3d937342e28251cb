"""Rules of log policies for the names of applications and subsystems."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from reconciler.document import ABSENT, Json, value_at
from reconciler.kinds.shape import EACH, places
from reconciler.kinds.spec_finding import text_of
from reconciler.model import Change

IS, IS_NOT, STARTS, INCLUDES = (
    f"RULE_TYPE_ID_{name}" for name in ("IS", "IS_NOT", "START_WITH", "INCLUDES")
)


@dataclass(frozen=True, slots=True)
class NameMatcher:
    """The names that a rule matches: `how` is a value of the API."""

    how: str
    names: tuple[str, ...]

    def folded(self) -> NameMatcher:
        """Return the rule for a service that ignores case."""
        return NameMatcher(self.how, tuple(name.casefold() for name in self.names))

    def lets_in(self, name: str) -> bool:
        """Return whether a name matches."""
        if self.how == IS:
            return name in self.names
        if self.how == STARTS:
            return name.startswith(self.names)
        if self.how == INCLUDES:
            return any(part in name for part in self.names)
        return name not in self.names

    def covers(self, other: NameMatcher) -> bool:
        """Return whether every name that the other rule matches also matches here.

        There are infinitely many names, with more letters than any rule has.
        """
        if other.how == IS:
            return all(map(self.lets_in, other.names))
        if other.how == IS_NOT:
            return self.how == IS_NOT and set(self.names) <= set(other.names)
        if self.how == IS:
            return False
        if self.how == IS_NOT:
            return not any(map(other.lets_in, self.names))
        if self.how == STARTS:
            return other.how == STARTS and all(name.startswith(self.names) for name in other.names)
        return all(any(part in name for part in self.names) for name in other.names)


def names_of(rule: Json) -> tuple[NameMatcher | None, bool]:
    """Return a rule's names, and whether the rule has nothing else."""
    if rule is None:
        return None, True
    if not isinstance(rule, dict):
        return None, False
    how, text = text_of(rule.get("ruleTypeId")), text_of(rule.get("name"))
    if how not in (IS, IS_NOT, STARTS, INCLUDES) or text is None:
        return None, False
    names = tuple(part.strip() for part in text.split(","))
    return NameMatcher(how, names), all(names)


_LIST = "policies"


def takes_logs_of(change: Change, application: str, subsystem: str) -> bool:
    """Return whether a changed policy may take logs of an application and a subsystem.

    If the order changes, every policy is changed. An unknown rule matches every name, and so does
    any rule if the name is "".
    """
    lists = (places(document, _LIST, EACH) for document in (change.before, change.body))
    items = [item for _, item in chain.from_iterable(lists) if isinstance(item, dict)]
    touched = {
        difference.path[1]
        for difference in change.differences
        if difference.path[:1] == (_LIST,) != difference.path
    }
    moved = any(
        difference.path == (_LIST,) or difference.operation == "move"
        for difference in change.differences
    )
    ours = [item for item in items if value_at(item, ("policy", "name")) in touched]
    if moved or not ours:
        ours = items
    return any(_lets_in(item, application, subsystem) for item in ours)


def _lets_in(item: Json, application: str, subsystem: str) -> bool:
    for name, rule in ((application, "applicationRule"), (subsystem, "subsystemRule")):
        declared = value_at(item, ("policy", rule))
        names, is_sure = names_of(None if declared is ABSENT else declared)
        if names is None or not is_sure or not name:
            continue
        if not (names.lets_in(name) or names.folded().lets_in(name.casefold())):
            return False
    return True
