"""What a plan has to say of what is known to have been done, and to nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from world_laws import UNSEEN, Round
from world_workspace import Files, Thing

Done = Mapping[str, frozenset[str]]
"""By what was done, the things it was done to since the last apply."""

ACCIDENTS = frozenset(("lose journal", "roll back journal"))
OVERWRITING = frozenset(("overwrites-edit", "takes-over"))
NONE: frozenset[str] = frozenset()


def unexpected(turn: Round, done: Done, files: Files) -> Iterator[tuple[str, str]]:
    """Yield what a plan should have said, or should not have, with the name of the law."""
    if done.keys() & ACCIDENTS:
        # What the journal knew is not known any more.
        return
    for thing in files.things.values():
        change = turn.changes.get(thing.ref)
        if change is not None and thing.known is not None:
            for said in _edit_unguarded(turn, done, thing, change):
                yield "edits_are_guarded", said
            for said in _rename_changed(done, thing, change, files):
                yield "renames_change_nothing", said


def only(done: Done, thing: Thing, *deeds: str) -> bool:
    """Whether some deeds were done to a thing, and nothing else that may change its plan."""
    touched = {what for what, things in done.items() if thing.thing in things}
    harmless = {"move", "move journal", "foreign"}
    refers = "${ref:" in json.dumps(thing.spec)
    return touched - harmless == set(deeds) and not refers


def guards_of(plan: Mapping[str, Any], ref: str) -> set[str]:
    """Give the codes of the guards about one resource."""
    return {guard["code"] for guard in plan["guards"] if guard["ref"] == ref}


def _edit_unguarded(turn: Round, done: Done, thing: Thing, change: dict[str, Any]) -> Iterator[str]:
    """See that a write over what others did is refused without a review."""
    undone = only(done, thing, "live") and change["action"] == "update"
    if undone and thing.kind not in UNSEEN and not guards_of(turn.plan, thing.ref) & OVERWRITING:
        yield f"{thing.ref} undoes an edit of others, and no guard says so: {change['fields']}"


def _rename_changed(
    done: Done, thing: Thing, change: dict[str, Any], files: Files
) -> Iterator[str]:
    """See that another name for the same id is no change."""
    renamed = only(done, thing, "rename") and thing.remote_id is not None
    if renamed and thing.ref not in files.blind | files.hopeless and change["action"] != "keep":
        yield f"{thing.ref} has another name only, and is to be written: {change}"
