"""The API key and other secrets: held so that nothing prints them. Source: N6, N7."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from reconciler.errors import NotAuthorised

API_KEY = "RECONCILER_API_KEY"
HIDDEN = "***"
SHORTEST_REDACTED = 4


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """Text that shows itself as `***`; `reveal` is called where a request is made."""

    _value: str = field(repr=False)

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def reveal(self) -> str:
        """Give the text itself."""
        return self._value


def key_from(environ: Mapping[str, str]) -> Secret:
    """Give the API key of the process environment.

    Raises NotAuthorised without one, or with one that no header can carry. The
    client library would print such a key in its own error, so it never sees it.
    """
    value = environ.get(API_KEY, "")
    if not value.strip():
        raise NotAuthorised(f"there is no API key: set {API_KEY}")
    if any(not "!" <= character <= "~" for character in value):
        raise NotAuthorised(
            f"{API_KEY} holds a space, a line break or a character that is not ASCII; "
            "no header can carry it"
        )
    return Secret(value)


class Redaction:
    """The last filter before any text leaves the process."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide a secret from now on, in each form in which it may be written."""
        if len(secret) < SHORTEST_REDACTED:
            return
        encoded = secret.encode()
        forms = {
            secret,
            quote(secret, safe=""),
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
            base64.b64encode(encoded).decode().rstrip("="),
            base64.urlsafe_b64encode(encoded).decode().rstrip("="),
        }
        self._forms = sorted({*self._forms, *forms}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Give the text with every secret replaced by `***`."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text
