"""A warning about a plan. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.model import Ref


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning. `words` are ours; `refs`, `said` and `names` are foreign text, not yet safe.

    `said` follows the name in `refs`, if there is one. `title` names the problem in a word or
    two, `ways` are its remedies. Reports group notices by `title`. `code` is the code of a guard.
    """

    title: str
    words: str = ""
    refs: tuple[Ref, ...] = ()
    said: str = ""
    names: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    code: str = ""
