"""Alerts that watch what a plan changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reconciler.model.manifest import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchers:
    """Alerts that watch what a plan changes: declared alerts, and ids of others."""

    refs: tuple[Ref, ...] = ()
    others: tuple[str, ...] = ()


def watchers_named(ids: Iterable[str], alerts: Mapping[str, Ref]) -> Watchers:
    """Return the alerts with these ids by name, if they are known, and the other ids."""
    lowered = dict.fromkeys(id_.lower() for id_ in ids)
    refs = sorted({alerts[text] for text in lowered if text in alerts})
    return Watchers(refs=tuple(refs), others=tuple(text for text in lowered if text not in alerts))
