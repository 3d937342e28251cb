"""Which resources belong to one shard: those that refer to each other are never apart.

Resources that references join, in whatever direction, are one group. A group goes where the
digest of its smallest name leads, so that what is added or taken away beside it moves nothing of
it. Source: docs/ci.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Protocol

from reconciler.model import Manifest, Ref
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.selection import EVERYTHING


class EnvironmentReading(Protocol):
    """What was read of one environment."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All that is declared there."""


def homes_of(manifests: Iterable[Manifest]) -> dict[Ref, int]:
    """Give the number that decides where each resource goes; it is the same all over a group."""
    joined: dict[Ref, Ref] = {}
    for manifest in manifests:
        _root(joined, manifest.ref)
        for other in manifest.references:
            _join(joined, manifest.ref, other)
    known: dict[Ref, int] = {}
    homes: dict[Ref, int] = {}
    for ref in joined:
        root = _root(joined, ref)
        if root not in known:
            known[root] = int.from_bytes(sha256(str(root).encode()).digest())
        homes[ref] = known[root]
    return homes


def _root(joined: dict[Ref, Ref], ref: Ref) -> Ref:
    """Give the smallest name of a group, and shorten the way there."""
    root = joined.setdefault(ref, ref)
    while joined[root] != root:
        root = joined[root]
    while ref != root:
        joined[ref], ref = root, joined[ref]
    return root


def _join(joined: dict[Ref, Ref], one: Ref, other: Ref) -> None:
    small, large = sorted((_root(joined, one), _root(joined, other)), key=str)
    joined[large] = small


def with_homes(
    scopes: Sequence[Scope], read: Callable[[Sequence[Scope]], Mapping[str, EnvironmentReading]]
) -> Sequence[Scope]:
    """Give scopes whose selections know what belongs to their shards.

    All manifests are read for that, without a secret: a name or a reference holds none.
    """
    if not any(scope.selection.shard for scope in scopes):
        return scopes
    plain = [
        replace(scope.without_secrets, selection=EVERYTHING, unread=frozenset(), ruled=False)
        for scope in scopes
    ]
    found = read(plain)
    return [
        replace(
            scope, selection=scope.selection.at_homes(homes_of(found[scope.environment].manifests))
        )
        for scope in scopes
    ]
