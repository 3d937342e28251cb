"""What is live as it may be shown: hidden wherever a secret belongs, or did. Pure.

A manifest that no longer declares a secret does not make the old one public:
it still stands live, and reports quote what stands live.
"""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.document import Json, Missing, Shape, by_identity
from reconciler.template import HIDDEN, holds_seal


def veiled(live: Json, written: Sequence[Json | Missing], shape: Shape) -> Json:
    """Give a live document with `***` in each place where one of `written` holds a secret.

    `written` is all that live may hold of what was declared, secrets sealed.
    """
    for sealed in written:
        if holds_seal(sealed):
            live = _veiled(live, sealed, shape)
    return live


def _veiled(live: Json, sealed: Json | Missing, shape: Shape) -> Json:
    if not holds_seal(sealed):
        return live
    if isinstance(live, dict) and isinstance(sealed, dict):
        return {
            key: _veiled(value, sealed[key], shape.at(key)) if key in sealed else value
            for key, value in live.items()
        }
    if isinstance(live, list) and isinstance(sealed, list):
        return _veiled_list(live, sealed, shape)
    return HIDDEN


def _veiled_list(live: list[Json], sealed: list[Json], shape: Shape) -> Json:
    theirs, ours = by_identity(live, shape), by_identity(sealed, shape)
    if theirs is None or ours is None:
        # Nobody can tell which item is which.
        return [HIDDEN for _ in live]
    return [_veiled(item, ours.get(name), shape.item) for name, item in theirs.items()]
