"""Shards: parts of the resources, each with a journal of its own. Source: docs/ci.md."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reconciler.errors import InvalidInput, UsageError

SHARD = "{shard}"
"""What a shard fills in of `journal:`, so that each has one of its own."""

MOST_SHARDS = 256
"""As many jobs as a matrix of the forge may have."""

_WRITTEN = re.compile(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        """Give it as people write it, as `2/4`."""
        return f"{self.number}/{self.count}"

    @property
    def key(self) -> str:
        """What stands for it in names of files, refs and objects, as `2-of-4`."""
        return f"{self.number}-of-{self.count}"


def read_shard(text: str) -> Shard:
    """Read `2/4`. Raises UsageError, whose words say what it must be."""
    found = _WRITTEN.fullmatch(text)
    if found is not None:
        number, count = map(int, found.groups())
        if number <= count <= MOST_SHARDS:
            return Shard(number, count)
    raise UsageError(
        f"`{text}` is no shard: it is NUMBER/COUNT, as 2/4, counted from 1, {MOST_SHARDS} at most"
    )


def check_filled(journal: str) -> None:
    """Raise InvalidInput where a journal is that of a shard, and none was selected."""
    if SHARD in journal:
        raise InvalidInput(
            f"`journal: {journal}` is one journal for each shard, and no shard is selected: add "
            "`--select shard:1/4`, or `--shard 1/4` to a command that works with a journal alone"
        )


def first_filled(journal: str) -> str:
    """Give where the journal of one shard of one would be."""
    return journal.replace(SHARD, Shard(1, 1).key)
