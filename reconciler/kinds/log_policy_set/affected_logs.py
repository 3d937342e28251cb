"""The applications and subsystems that a change of the list decides about."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.model import Change

_LIST = "policies"


def takes_logs_of(change: Change, application: str, subsystem: str) -> bool:
    """Return whether a changed policy may take logs of an application and a subsystem.

    If the order changes, every policy is changed. An unknown rule matches every name, and so does
    any rule if the name is "".
    """
    items = [*_items(change.before), *_items(change.body)]
    touched = {
        difference.path[1]
        for difference in change.differences
        if difference.path[:1] == (_LIST,) != difference.path
    }
    moved = any(
        difference.path == (_LIST,) or difference.operation == "move"
        for difference in change.differences
    )
    ours = [item for item in items if _name(item) in touched]
    if moved or not ours:
        ours = items
    return any(_lets_in(item, application, subsystem) for item in ours)


def _items(document: Json) -> Iterator[dict[str, Json]]:
    items = document.get(_LIST) if isinstance(document, dict) else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            yield item


def _policy(item: dict[str, Json]) -> dict[str, Json]:
    policy = item.get("policy")
    return policy if isinstance(policy, dict) else {}


def _name(item: dict[str, Json]) -> Json:
    return _policy(item).get("name")


def _lets_in(item: dict[str, Json], application: str, subsystem: str) -> bool:
    from reconciler.kinds.log_policy_set.name_matcher import names_of  # noqa: PLC0415 - where asked

    policy = _policy(item)
    for name, rule in ((application, "applicationRule"), (subsystem, "subsystemRule")):
        names, is_sure = names_of(policy.get(rule))
        if names is None or not is_sure or not name:
            continue
        if not (names.lets_in(name) or names.folded().lets_in(name.casefold())):
            return False
    return True
