"""Values of secrets in imports: replaced by `${secret:}` where possible, else refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.api.secret import SHORTEST_REDACTED, Redaction
from reconciler.document import Json, Path
from reconciler.features.import_.records import ImportRecord
from reconciler.redaction.templates import SecretHole, Template, seal, written_out
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.interpolate import fill
from reconciler.workspace.secret_scan import SHORTEST_FOUND_INSIDE

IN_A_NAME = "what it is called, or its id, holds the value of a secret that the manifests name"
IN_A_VARIABLE = "a variable that it needs would hold the value of a secret that the manifests name"
IN_THE_WAY = (
    "it holds the value of a secret that the manifests name where no `${secret:}` can be: in "
    "the name of a field, in a number, or spelled in another way"
)


@dataclass(frozen=True, slots=True)
class Hiding:
    """The secrets that manifests name, by name; `salt` returns the salt of their seals.

    A value of fewer than eight characters is only found as a whole text, and a value of fewer than
    four is never found.
    """

    values: Mapping[str, str]
    salt: Callable[[], str]
    _names: dict[str, str] = field(init=False, default_factory=dict, repr=False)
    _inside: re.Pattern[str] | None = field(init=False, default=None, repr=False)
    _filter: Redaction = field(init=False, default_factory=Redaction, repr=False)

    def __post_init__(self) -> None:
        for name, value in sorted(self.values.items(), reverse=True):
            if len(value) >= SHORTEST_REDACTED:
                self._names[value] = name
        long = [name for name in self._names if len(name) >= SHORTEST_FOUND_INSIDE]
        if long:
            found = "|".join(map(re.escape, sorted(long, key=lambda value: (-len(value), value))))
            object.__setattr__(self, "_inside", re.compile(f"({found})"))
        for value in long:
            self._filter.add(value)

    def record(self, record: ImportRecord) -> ImportRecord:
        """Return a record with seals in place of secrets, and the expressions to write for them."""
        if not self.values:
            return record
        spec = self.hidden(record.spec)
        places = dict(self.written(spec))
        return replace(
            record,
            spec=spec,
            expressions={**record.expressions, **places},
            comments={path: self.without(comment) for path, comment in record.comments.items()},
            keys=tuple(key for key in record.keys if key.path not in places),
        )

    def hidden(self, document: dict[str, Json]) -> dict[str, Json]:
        """Return a document with seals in place of secrets."""
        if not self._names:
            return document
        changed = self._hidden(document)
        assert isinstance(changed, dict)  # noqa: S101 - an object stays one
        return changed

    def _hidden(self, value: Json) -> Json:
        match value:
            case dict():
                return {key: self._hidden(member) for key, member in value.items()}
            case list():
                return [self._hidden(element) for element in value]
            case str():
                return self._text(value)
            case _:
                return value

    def _text(self, text: str) -> str:
        if text in self._names:
            return Template((self._hole(text),))
        if self._inside is None or self._inside.search(text) is None:
            return text
        # The pattern is one group, so every second part is the value of a secret.
        parts = enumerate(self._inside.split(text))
        return Template(tuple(self._hole(part) if nth % 2 else part for nth, part in parts if part))

    def _hole(self, value: str) -> SecretHole:
        name = self._names[value]
        return SecretHole(name, value, seal(value, name, self.salt()))

    def written(self, document: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
        """Yield the expressions to write for the seals in a document that `hidden` returned."""
        match document:
            case dict():
                for key, value in document.items():
                    yield from self.written(value, (*path, key))
            case list():
                for index, value in enumerate(document):
                    yield from self.written(value, (*path, index))
            case Template():
                yield path, str(written_out(document))
            case _:
                return

    def without(self, text: str) -> str:
        """Return a text for people without any secret."""
        return self._filter(text)

    def lies_in(self, text: str) -> bool:
        """Return whether a text contains a secret, in any spelling."""
        return text in self._names or self._filter(text) != text

    def why_not(self, record: ImportRecord) -> str:
        """Return why a record cannot be written without a secret in clear, "" where it can."""
        if not self._names:
            return ""
        ids = (*record.ids.values(), *([] if record.remote_id is None else [record.remote_id]))
        if any(self.lies_in(str(id_)) for id_ in (record.title, *ids)):
            return IN_A_NAME
        hidden = self.hidden(record.spec)
        places = dict(self.written(hidden))
        if not places.keys().isdisjoint(record.expressions):
            return IN_A_VARIABLE
        return "" if self._stays_hidden(hidden) else IN_THE_WAY

    def _stays_hidden(self, value: Json) -> bool:
        match value:
            case dict():
                return not any(map(self.lies_in, value)) and all(
                    map(self._stays_hidden, value.values())
                )
            case list():
                return all(map(self._stays_hidden, value))
            case Template():
                pieces = (part for part in value.parts if isinstance(part, str))
                # A `$` before the text may escape it.
                read = fill(str(written_out(value)), Scope("", {}, self.values, self.salt))
                is_read_back = not read.findings and read.document == value
                return is_read_back and not any(map(self.lies_in, pieces))
            case str():
                return not self.lies_in(value)
            case bool() | None:
                return True
            case _:
                return str(value) not in self._names
