from __future__ import annotations

import pytest

from reconciler.document import ABSENT, Json, Missing
from reconciler.resource import Ref
from reconciler.sealed import (
    RefHole,
    SecretHole,
    Template,
    fingerprint,
    holds_seal,
    is_sealed_text,
    references_in,
    resolve,
    seal,
    secret_values,
    secrets_in,
)

VALUE = "hunter2-hunter2"
TOKEN = SecretHole("TOKEN", VALUE, seal(VALUE, "TOKEN", "salt"))
BEARER = Template(("Bearer ", TOKEN, "; ok"))
EMPTY = Template(("<", SecretHole("NONE", "", seal("", "NONE", "salt")), ">"))
LINK = Template(("/views/", RefHole(Ref("SavedView", "errors"))))


@pytest.mark.parametrize(
    "document", [BEARER, str(BEARER), {"a": {"b": BEARER}}, [1, [str(BEARER)]]]
)
def test_seal_found(document: Json) -> None:
    """A seal is found at any depth, in a template and in the text a journal keeps of one."""
    assert holds_seal(document)


@pytest.mark.parametrize(
    "document", [LINK, str(LINK), "${secret:TOKEN}", VALUE, 1, None, ABSENT, {}, [], {"a": ["b"]}]
)
def test_no_seal(document: Json | Missing) -> None:
    """A text without a whole seal is no place of a secret."""
    assert not holds_seal(document)


@pytest.mark.parametrize(
    ("text", "sealed"),
    [(f"Bearer {VALUE}; ok", BEARER), ("<>", EMPTY), (VALUE, Template((TOKEN,)))],
)
def test_sealed_text(text: str, sealed: Template) -> None:
    """A seal stands for the one text that was sealed, whatever stands around it."""
    assert is_sealed_text(text, str(sealed), "salt")


@pytest.mark.parametrize(
    "text",
    [
        f"Bearer {VALUE}!; ok",
        f"bearer {VALUE}; ok",
        f"Bearer {VALUE}; no",
        f"Bearer {VALUE}",
        "Bearer ; ok",
        "Bearer ok",
        VALUE,
        str(BEARER),
        "",
    ],
)
def test_other_text(text: str) -> None:
    """No other text passes for a sealed one, be it only another word before or after."""
    assert not is_sealed_text(text, str(BEARER), "salt")


def test_overlap() -> None:
    """What stands before and after a seal must both be there, and not be one and the same."""
    sealed = "-${secret:NONE " + seal("", "NONE", "salt") + "}-"

    assert is_sealed_text("--", sealed, "salt")
    assert not is_sealed_text("-", sealed, "salt")


def test_not_sealed() -> None:
    """A text without a seal stands for nothing, not even for itself; nor with another salt."""
    assert not is_sealed_text("plain", "plain", "salt")
    assert not is_sealed_text(f"Bearer {VALUE}; ok", str(BEARER), "pepper")


def test_fingerprints() -> None:
    """What journals keep of live values in the place of a secret stays what it was."""
    assert fingerprint("stored", str(BEARER)) == "sha256:1e8ff2496a6665a6"
    assert fingerprint(ABSENT, str(BEARER)) == "sha256:be172279bdbe9d35"
    assert fingerprint("stored", ABSENT) == "sha256:afa0abd721e30a79"


def test_fingerprints_differ() -> None:
    """Another live value, another seal, an empty text and none at all are told apart."""
    found = {
        fingerprint("stored", BEARER),
        fingerprint("other", BEARER),
        fingerprint("stored", EMPTY),
        fingerprint("stored", ABSENT),
        fingerprint("", BEARER),
        fingerprint(ABSENT, BEARER),
        fingerprint(ABSENT, ABSENT),
    }

    assert len(found) == 7


def test_all_secrets() -> None:
    """Every template with a secret is found, at any depth, and none without one."""
    document: Json = {"a": [LINK, {"b": BEARER}], "c": EMPTY, "d": "plain"}

    assert sorted(secrets_in(document)) == sorted([BEARER, EMPTY])
    assert secret_values(document) == {VALUE, ""}


def test_what_waits() -> None:
    """All references are found, of every template, and a text without holes waits for nothing."""
    other = Template((RefHole(Ref("SLO", "b")), TOKEN, RefHole(Ref("SLO", "a"))))
    document: Json = {"a": [LINK], "b": {"c": other}}

    assert references_in(document) == {*LINK.references, *other.references}
    assert other.references == {Ref("SLO", "a"), Ref("SLO", "b")}
    assert references_in({"a": [BEARER, "x"]}) == frozenset()


def test_filled_in_part() -> None:
    """With one id of two the text still waits for the other one, and has a number's digits."""
    both = Template((RefHole(Ref("SavedView", "v")), "-", RefHole(Ref("SLO", "s"))))

    half = resolve(both, {Ref("SavedView", "v"): 7})

    assert half == "7-${ref:SLO/s}"
    assert references_in(half) == {Ref("SLO", "s")}
    assert not isinstance(resolve(half, {Ref("SLO", "s"): "x"}), Template)
