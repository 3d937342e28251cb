from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import ABSENT, Json, Missing
from reconciler.model import Ref
from reconciler.redaction.templates import (
    HIDDEN,
    RefHole,
    SecretHole,
    Template,
    as_sent,
    fingerprint,
    holds_seal,
    is_sealed_text,
    named_values,
    pointing,
    references_in,
    resolve,
    reveal,
    seal,
    secret_values,
    secrets_in,
    unsealed,
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


KNOWN = {"TOKEN": VALUE, "OTHER": "another-secret"}
HOLES = {name: SecretHole(name, value, seal(value, name, "salt")) for name, value in KNOWN.items()}
PIECES: list[str | SecretHole | RefHole] = ["", "a", " ", "${", *HOLES.values()]
PARTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4)
SEALED = st.recursive(
    PARTS.map(lambda parts: Template(tuple(parts))) | st.text(max_size=4) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(SEALED)
def test_unsealed(document: Json) -> None:
    """What a journal keeps of a document is sent as that was, where its secrets are as then."""
    kept = json.loads(json.dumps(document))

    opened, lost = unsealed(kept, lambda name: KNOWN.get(name, ""), "salt")

    assert lost == frozenset()
    assert reveal(opened) == reveal(document)
    assert json.dumps(opened) == json.dumps(kept)


@given(SEALED, st.sampled_from(["", "a third"]))
def test_unsealed_with_another_value(document: Json, now: str) -> None:
    """Every secret that has another value by now, or none, is named, and no other."""
    kept = json.loads(json.dumps(document))
    text = json.dumps(document)

    _, lost = unsealed(kept, lambda name: KNOWN["TOKEN"] if name == "TOKEN" else now, "salt")

    assert lost == ({"OTHER"} if "secret:OTHER " in text else set())


def test_what_was_hidden_is_lost() -> None:
    """A text that was hidden cannot be sent, and has no name."""
    document: Json = {"a": [HIDDEN]}

    assert unsealed(document, KNOWN.__getitem__, "salt")[1] == {""}


OLD, NEW = "0f8b0cce-643d-5b49-9a1b-16b4b2b76ba4", "b99e3f8a-a10f-57cc-9a3c-6b4870fbdac2"


def test_pointing() -> None:
    """An id in a text is that of by then, or waits for it; a part of a longer one is none."""
    slo = Ref("SLO", "checkout")
    things: dict[str, Ref | str] = {OLD: NEW, "A1234567890123456789z": slo}
    document: Json = {
        "a": f"/slos/{OLD}/x",
        "b": ["A1234567890123456789z"],
        "c": f"{OLD}0",
        "d": Template((TOKEN, f" {OLD}")),
    }

    found = pointing(document, things)

    assert isinstance(found, dict)
    assert (found["a"], found["c"]) == (f"/slos/{NEW}/x", f"{OLD}0")
    assert references_in(found["b"]) == {slo}
    assert reveal(found["d"]) == f"{VALUE} {NEW}"


@pytest.mark.parametrize("now", ["", "another"])
def test_changed_secret(now: str) -> None:
    """A secret that is gone, or has another value than was sealed, is named as lost."""
    kept: Json = {"a": [str(BEARER), 1, True, None, 1.5]}

    opened, lost = unsealed(kept, lambda _: now, "salt")

    assert lost == {"TOKEN"}
    assert isinstance(opened, dict)
    assert opened["a"][1:] == [1, True, None, 1.5]  # type: ignore[index]  # the list above


@pytest.mark.parametrize("template", [BEARER, Template((TOKEN,)), Template((TOKEN, "; ok"))])
def test_opened_as_it_was(template: Template) -> None:
    """What a journal keeps opens to the very parts that were sealed, and no empty ones."""
    opened, _ = unsealed(str(template), lambda _: VALUE, "salt")

    assert isinstance(opened, Template)
    assert opened.parts == template.parts


def test_pointing_at_known_ids() -> None:
    """A text whose id has another by now is plain; one that is a resource's id has one part."""
    old, new, ref = "0123456789abcdef", "fedcba9876543210", Ref("SLO", "one")

    plain = pointing(f"/slo/{old}", {old: new})
    whole = pointing(old, {old: ref})

    assert plain == f"/slo/{new}"
    assert not isinstance(plain, Template)
    assert isinstance(whole, Template)
    assert whole.parts == (RefHole(ref),)


def test_named_values() -> None:
    """Each secret of a document is known by its name, one that is not set too."""
    assert named_values({"a": [BEARER, {"b": EMPTY}], "c": LINK}) == {"TOKEN": VALUE, "NONE": ""}


@pytest.mark.parametrize("fill", [lambda one: resolve(one, {}), as_sent])
def test_plain_documents(fill: Callable[[Json], Json]) -> None:
    """A document without holes is given back itself, and is not copied."""
    document: Json = {"a": ["b", {"c": 1}]}

    assert fill(document) is document
