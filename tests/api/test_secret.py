from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.api.secret import Redaction, Secret, key_from
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

    assert all("hunter2" not in one for one in shown)
    assert secret.reveal() == "hunter2"


FORMS = [
    lambda secret: secret,
    lambda secret: quote(secret, safe=""),
    json.dumps,
    lambda secret: json.dumps(secret, ensure_ascii=False),
    lambda secret: base64.b64encode(secret.encode()).decode(),
    lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
]


@given(
    st.text(min_size=4, max_size=30).filter(lambda text: text.strip("*")), st.sampled_from(FORMS)
)
def test_redaction(secret: str, form: object) -> None:
    """A secret is gone from any text, in each form in which it may be written."""
    assert callable(form)
    written = form(secret.replace("*", "x"))
    redact = Redaction([secret.replace("*", "x")])

    assert written not in redact(f"before {written} after")


def test_longest_secret_first() -> None:
    """Of two secrets, one inside the other, neither leaves a rest."""
    redact = Redaction(["inner", "inner-and-outer"])

    assert redact("inner-and-outer inner") == "*** ***"
