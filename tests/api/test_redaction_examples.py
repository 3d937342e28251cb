"""What is hidden of a text, told by example: all of a secret, and nothing that is another."""

from __future__ import annotations

import pytest

from reconciler.api.secret import Redaction


@pytest.mark.parametrize("inner", ["part-of-it-1", "a-part-of-it", "it-1-and-on"])
def test_secret_inside_another(inner: str) -> None:
    """Of a secret that holds another nothing stays, in whichever order they became known."""
    outer = "a-part-of-it-1-and-on"

    assert [Redaction(known)(f"<{outer}>") for known in ((inner, outer), (outer, inner))] == [
        "<***>",
        "<***>",
    ]


def test_another_escape() -> None:
    r"""An escape that means another character, as `\t` does, is not taken for the letter."""
    told = r"at\tack-now-1"

    assert Redaction(["attack-now-1"])(told) == told


def test_bytes_of_a_letter() -> None:
    """A letter of several bytes is known where a shell or a log writes it byte by byte."""
    assert Redaction(["secrét-word"])(r"<secr\xc3\xa9t-word>") == "<***>"
