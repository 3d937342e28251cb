"""Shards: parts of the resources, each with a journal of its own. Source: docs/ci.md."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reconciler.errors import InvalidInput, UsageError

SHARD = "{shard}"
"""The placeholder in `journal:` that each shard replaces, so that it has its own journal."""

MOST_SHARDS = 256
"""The largest number of jobs in a matrix of the forge."""

_WRITTEN = re.compile(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard: part `number` of `count`, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        """Return the shard as people write it, as `2/4`."""
        return f"{self.number}/{self.count}"

    @property
    def key(self) -> str:
        """The shard in names of files, refs and objects, as `2-of-4`."""
        return f"{self.number}-of-{self.count}"


def read_shard(text: str) -> Shard:
    """Read `2/4`. Raises UsageError with what the text must be."""
    found = _WRITTEN.fullmatch(text)
    if found is not None:
        number, count = map(int, found.groups())
        if number <= count <= MOST_SHARDS:
            return Shard(number, count)
    raise UsageError(
        f"`{text}` is no shard: it is NUMBER/COUNT, as 2/4, counted from 1, {MOST_SHARDS} at most"
    )


def check_filled(journal: str) -> None:
    """Raise InvalidInput where a journal needs a shard, and none was selected."""
    if SHARD in journal:
        raise InvalidInput(
            f"`journal: {journal}` is one journal for each shard, and no shard is selected: add "
            "`--select shard:1/4`, or `--shard 1/4` to a command that works with a journal alone"
        )


def first_filled(journal: str) -> str:
    """Return the journal of the only shard of one."""
    return journal.replace(SHARD, Shard(1, 1).key)
