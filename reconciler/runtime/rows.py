"""Rows of features: how the core reaches what a feature adds, without importing it.

`FEATURES` in reconciler/features/__init__.py is the table. Each part of the core that can be
extended has one `Rows`, next to the type of what it expects. A row is imported when it is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Generic, TypeVar, cast

from reconciler.features import FEATURES

T = TypeVar("T")


class Loaded(Mapping[str, T]):
    """Values by their names, each loaded when it is first used; names are known without that."""

    def __init__(self, names: Callable[[], Iterable[str]], load: Callable[[str], T]) -> None:
        self._names, self._load = cache(lambda: dict.fromkeys(names())), cache(load)

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise KeyError(name)
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


class Rows(Generic[T]):
    """The rows of one sort, by their keys, in the order of the table.

    What a key means is up to the sort: a command, a setting, an option, a code.
    """

    def __init__(self, sort: str) -> None:
        self.sort = sort

    def __iter__(self) -> Iterator[str]:
        """Yield the keys, each once. Imports nothing."""
        yield from dict.fromkeys(
            key for feature in FEATURES.values() for key in feature.get(self.sort, ())
        )

    def __contains__(self, key: str) -> bool:
        """Return whether a feature has a row with this key. Imports nothing."""
        return any(key in feature.get(self.sort, ()) for feature in FEATURES.values())

    def load(self, key: str) -> T:
        """Import and return what a row names. Raises KeyError without such a row."""
        return cast("T", _loaded(self.sort, key))

    def words(self, key: str) -> str:
        """Return what follows the address of a row; "" where nothing does. Imports nothing."""
        rows = (feature.get(self.sort, {}).get(key, "") for feature in FEATURES.values())
        return "".join(rows).partition(" ")[2]

    def all(self) -> Iterator[T]:
        """Import and yield what every row names."""
        return map(self.load, self)


@cache
def _loaded(sort: str, key: str) -> object:
    for name, feature in FEATURES.items():
        if key in feature.get(sort, ()):
            module, _, attribute = feature[sort][key].partition(" ")[0].partition(":")
            return getattr(import_module(f"reconciler.features.{name}.{module}"), attribute)
    raise KeyError(f"no feature has a row {sort}: {key}")
