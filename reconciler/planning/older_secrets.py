"""Live texts that hold a secret which the manifests do not name any more, or not there. Pure.

A copy of a widget keeps the value that its secret had when it was copied, and no place tells
that a secret belongs there: only what the journal was told of that value does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from reconciler.document import ABSENT, Difference, Json
from reconciler.journal.entries import Entry
from reconciler.journal.seals import Sealed, ToldSeals, seals_in, texts_in
from reconciler.model import Ref, RemoteId
from reconciler.redaction.templates import HIDDEN, Template, seal, secret_values

SHORTEST: Final = 8
MOST_TRIED: Final = 500
"""Some milliseconds each; what is not tried any more is hidden."""

_WORD = re.compile(r"[^\s\"'`,;(){}\[\]<>]+")
_PART = re.compile(r"[^\s\"'`,;(){}\[\]<>=:/?&@]+")

Older: TypeAlias = Callable[[Ref, RemoteId | None], Sealed]
"""Gives the seals of secrets that a resource ever held, by its name and its id."""


def no_seals(_: Ref, __: RemoteId | None) -> Sealed:
    """Give none, where no journal is asked."""
    return frozenset()


@dataclass(slots=True)
class OlderSeals:
    """Gives the seals of all that a journal tells to have been declared of a resource.

    `entries` are gone through once, when the first resource is asked for.
    """

    entries: Callable[[], Iterable[Entry]]
    _told: ToldSeals | None = field(init=False, default=None)

    def __call__(self, ref: Ref, remote_id: RemoteId | None) -> Sealed:
        """Give those of one resource, by its name and by its id."""
        if self._told is None:
            self._told = ToldSeals()
            self._told.add(self.entries())
        return self._told.of(ref, remote_id)


@dataclass(slots=True)
class OlderSecrets:
    """What a live document must not show of one resource.

    `seals` are those of older values. The values of secrets that are `declared` are looked for
    inside of texts, and texts that stand there as they are have been shown already.
    """

    seals: Sealed
    declared: Json
    salt: str
    _tried: int = field(init=False, default=0)
    _values: frozenset[str] = field(init=False)
    _public: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._values = frozenset(
            one for one in secret_values(self.declared) if len(one) >= SHORTEST
        )
        self._public = frozenset(
            text for text in texts_in(self.declared) if not isinstance(text, Template)
        )
        self.seals = self.seals - seals_in([self.declared])

    def hidden(self, live: Json) -> Json:
        """Give a live document in which no text holds such a value."""
        if not self.seals and not self._values:
            return live
        return self._hidden(live)

    def unshown(self, one: Difference) -> Difference:
        """Give a difference that shows no such value of what is live."""
        return one if one.before is ABSENT else replace(one, before=self.hidden(one.before))

    def _hidden(self, live: Json) -> Json:
        match live:
            case dict():
                return {key: self._hidden(value) for key, value in live.items()}
            case list():
                return [self._hidden(value) for value in live]
            case Template():
                return live
            case str():
                return HIDDEN if live != HIDDEN and self._holds(live) else live
            case _:
                return live

    def _holds(self, text: str) -> bool:
        if len(text) < SHORTEST or text in self._public:
            return False
        return any(value in text for value in self._values) or any(map(self._fits, _pieces(text)))

    def _fits(self, piece: str) -> bool:
        """Tell whether a text is what one of the seals stands for, or too many were tried."""
        for name, sealed in self.seals:
            self._tried += 1
            if self._tried > MOST_TRIED or seal(piece, name, self.salt) == sealed:
                return True
        return False


def _pieces(text: str) -> Iterator[str]:
    """Yield what may be a secret in a text: all of it, its lines, words and parts of words."""
    found = (text, text.strip(), *text.splitlines(), *_WORD.findall(text), *_PART.findall(text))
    yield from dict.fromkeys(value for value in found if len(value) >= SHORTEST)
