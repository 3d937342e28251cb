"""Assignment of resources to shards: resources that refer to each other stay together.

Resources joined by references, in either direction, are one group. The digest of its smallest name
decides the shard of a group, so that changes outside a group do not move it. Source: docs/ci.md.
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
    """The result of reading one environment."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Return all manifests of the environment."""


def homes_of(manifests: Iterable[Manifest]) -> dict[Ref, int]:
    """Return the number that decides the shard of each resource; a group shares one number."""
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
    """Return the smallest name of a group, and shorten the path to it."""
    root = joined.setdefault(ref, ref)
    while joined[root] != root:
        root = joined[root]
    while ref != root:
        joined[ref], ref = root, joined[ref]
    return root


def _join(joined: dict[Ref, Ref], ref: Ref, other: Ref) -> None:
    small, large = sorted((_root(joined, ref), _root(joined, other)), key=str)
    joined[large] = small


def with_homes(
    scopes: Sequence[Scope], read: Callable[[Sequence[Scope]], Mapping[str, EnvironmentReading]]
) -> Sequence[Scope]:
    """Return scopes with selections that know the shard of each resource.

    All manifests are read for that, without secrets: names and references contain none.
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
