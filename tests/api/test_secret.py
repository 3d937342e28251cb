from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reconciler.api.secret import HIDDEN, Redaction, Secret, key_from
from reconciler.errors import NotAuthorised


@pytest.mark.parametrize(
    "key",
    [
        "a\r\nb",
        "key\n",
        "\tkey",
        " key",
        "ke y",
        "ké",
        "key\x7f",
        "k\x1bey",
        "\u202ekey",
        "key\u00a0",
    ],
)
def test_unusable_key(key: str) -> None:
    """A key that no header can carry is refused when it is read, and not named."""
    with pytest.raises(NotAuthorised) as refused:
        key_from({"RECONCILER_API_KEY": key})

    assert key not in str(refused.value)
    assert key.strip() not in str(refused.value).replace("RECONCILER_API_KEY", "")


@pytest.mark.parametrize("environ", [{}, {"RECONCILER_API_KEY": ""}, {"RECONCILER_API_KEY": " "}])
def test_no_key(environ: dict[str, str]) -> None:
    """Without a key the error names the variable to set."""
    with pytest.raises(NotAuthorised, match="RECONCILER_API_KEY"):
        key_from(environ)


def test_shown_secret() -> None:
    """A secret shows itself in no way in which Python prints values."""
    secret = Secret("hunter2")

    shown = [str(secret), repr(secret), f"{secret}", f"{[secret]}", "%s" % secret]  # noqa: UP031 - one of the ways

    assert all("hunter2" not in text for text in shown)
    assert secret.reveal() == "hunter2"


FORMS: list[Callable[[str], str]] = [
    str,
    quote,
    lambda secret: quote(secret, safe=""),
    lambda secret: quote(quote(secret)),
    quote_plus,
    json.dumps,
    lambda secret: json.dumps(secret, ensure_ascii=False),
    lambda secret: json.dumps(json.dumps(secret)),
    lambda secret: json.dumps(secret).replace("/", "\\/"),
    html.escape,
    lambda secret: repr(secret)[1:-1],
    lambda secret: ascii(secret)[1:-1],
    lambda secret: secret.encode().hex(),
    lambda secret: secret.encode().hex().upper(),
    lambda secret: "".join(f"%{byte:02x}" for byte in secret.encode()),
    lambda secret: "".join(f"&#{ord(character)};" for character in secret),
    lambda secret: "".join(f"&#x{ord(character):X};" for character in secret),
    lambda secret: "".join(f"\\x{byte:02X}" for byte in secret.encode()),
    lambda secret: base64.b64encode(secret.encode()).decode(),
    lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
]


@example("0" * 23 + "\x80", quote)
@example("0" * 23 + "\N{KELVIN SIGN}\N{LATIN SMALL LETTER LONG S}é", quote)
@given(
    st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=4),
    st.sampled_from(FORMS),
)
def test_redaction(secret: str, form: Callable[[str], str]) -> None:
    """A secret is gone from any text, in each form in which it may be written."""
    hidden = Redaction([secret])(f"before {form(secret)} after")

    assert HIDDEN in hidden
    assert form(secret) not in hidden


@given(
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=6),
    st.text(max_size=9),
    st.text(max_size=9),
)
def test_inside_base64(secret: str, before: str, after: str) -> None:
    """A secret in the middle of something in base64 is hidden, wherever it begins."""
    whole = f"{before}{secret}{after}".encode("utf-8", "replace")
    redact = Redaction([secret])

    assert HIDDEN in redact(base64.b64encode(whole).decode())
    assert HIDDEN in redact(base64.urlsafe_b64encode(whole).decode())


@given(st.text(max_size=200))
def test_what_is_no_secret_stays(text: str) -> None:
    """A text that does not hold the secret is not changed by a character."""
    assert Redaction(["canary-key-8d1f77"])(text) == text


def test_longest_secret_first() -> None:
    """Of two secrets, one inside the other, neither leaves a rest."""
    redact = Redaction(["inner", "inner-and-outer"])

    assert redact("inner-and-outer inner") == "*** ***"
