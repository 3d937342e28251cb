from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.model import Manifest, Ref, Source
from reconciler.redaction.templates import (
    RefHole,
    SecretHole,
    Template,
    as_sent,
    is_plain,
    references_in,
    resolve,
    reveal,
    seal,
    secret_values,
    secrets_in,
    sum_of,
    written_out,
)

VIEW = Ref("SavedView", "errors")
SLO = Ref("SLO", "checkout")
VALUE = "hunter2-hunter2"
TOKEN = SecretHole("TOKEN", VALUE, seal(VALUE, "TOKEN", "salt"))
BEARER = Template(("Bearer ", TOKEN))
LINK = Template(("/views/", RefHole(VIEW)))
BOTH = Template((TOKEN, "@", RefHole(SLO)))

_LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def test_seals_agree() -> None:
    """The same secret with the same name and salt has the same seal on every machine."""
    assert seal(VALUE, "TOKEN", "salt") == TOKEN.seal == "sha256:" + TOKEN.seal[-16:]
    assert TOKEN.seal == "sha256:269ac3be57ab60c9"


@pytest.mark.parametrize(
    ("value", "name", "salt"),
    [(VALUE + "!", "TOKEN", "salt"), (VALUE, "OTHER", "salt"), (VALUE, "TOKEN", "pepper")],
)
def test_seals_differ(value: str, name: str, salt: str) -> None:
    """Another value, name or salt has another seal, so that equal secrets are not seen equal."""
    assert seal(value, name, salt) != TOKEN.seal


def test_name_and_salt_do_not_run_together() -> None:
    """What ends the salt cannot stand at the start of the name instead."""
    assert seal(VALUE, "B", "A") != seal(VALUE, "AB", "")


@pytest.mark.parametrize("template", [BEARER, BOTH, Template((TOKEN, TOKEN))])
def test_a_template_does_not_show_its_value(template: Template) -> None:
    """No way of printing a template gives the secret: the text itself is the public form."""
    shown = f"{template}{template!r}{template.parts!r}{[template]}{json.dumps(template)}"

    assert VALUE not in shown + template[:] + template.upper().lower() + "".join(template)
    assert VALUE not in repr(TOKEN) + str(TOKEN)


def test_the_public_form() -> None:
    """A template reads as it was written, with the seal beside the name."""
    assert f"${{secret:TOKEN {TOKEN.seal}}}@${{ref:SLO/checkout}}" == BOTH
    assert BOTH.has_secret
    assert not LINK.has_secret
    assert BOTH.references == {SLO}


def test_reveal() -> None:
    """What is sent holds the secret, at every depth, and nothing else is touched."""
    document: Json = {"a": [BEARER, "plain"], "b": {"c": 1}}

    assert reveal(document) == {"a": [f"Bearer {VALUE}", "plain"], "b": {"c": 1}}
    assert type(reveal(BEARER)) is str


def test_reveal_with_an_open_reference() -> None:
    """What waits for an id is never sent, and the error does not tell the secret."""
    document: Json = {"a": BOTH}
    with pytest.raises(ValueError, match="SLO/checkout") as raised:
        reveal(document)

    assert VALUE not in str(raised.value)


def test_resolve() -> None:
    """Known ids are filled in; what is not known stays open, and secrets stay sealed."""
    document: Json = [LINK, BOTH, BEARER]

    some = resolve(document, {VIEW: 7})
    all_known = resolve(some, {SLO: "2f6a"})

    assert some == ["/views/7", BOTH, BEARER]
    assert references_in(some) == {SLO}
    assert references_in(all_known) == frozenset()
    assert reveal(all_known) == ["/views/7", f"{VALUE}@2f6a", f"Bearer {VALUE}"]


def test_a_reference_to_a_number_alone() -> None:
    """A reference that is all of a text gives the id as text."""
    assert resolve(Template((RefHole(VIEW),)), {VIEW: 7}) == "7"


def test_templates_that_wait() -> None:
    """A template with an open reference has no text yet: it is no known secret, and stays open."""
    waiting: Json = [BOTH]
    assert secrets_in([BOTH, LINK]) == []
    assert as_sent([BOTH, BEARER]) == [BOTH, f"Bearer {VALUE}"]
    assert secrets_in(resolve(waiting, {SLO: "x"})) == [f"{BOTH.split('@')[0]}@x"]


def test_secret_values() -> None:
    """The filter of all output knows every secret of a document, but no reference."""
    assert secret_values({"a": [BOTH], "b": LINK}) == {VALUE}


@given(_LITERALS)
@settings(max_examples=100)
def test_documents_without_holes(document: Json) -> None:
    """A document without templates is left as it is by every one of these."""
    assert resolve(document, {VIEW: 1}) == document
    assert reveal(document) == document
    assert as_sent(document) == document
    assert references_in(document) == frozenset()


MANIFEST = Manifest(
    VIEW, {"a": BEARER, "b": LINK}, Source("a.yaml", 1), references=frozenset({VIEW, SLO})
)
OTHER_TOKEN = SecretHole("TOKEN", "other", seal("other", "TOKEN", "salt"))


def test_sums_differ() -> None:
    """Each input of a decision has a part in the sum of a manifest, and its file has none."""
    others = [
        replace(MANIFEST, ref=SLO),
        replace(MANIFEST, spec={"a": str(BEARER), "b": LINK}),
        replace(MANIFEST, spec={"a": BEARER, "b": str(LINK)}),
        replace(MANIFEST, spec={"a": Template(("Bearer ", OTHER_TOKEN)), "b": LINK}),
        replace(MANIFEST, references=frozenset({SLO})),
        replace(MANIFEST, references=frozenset()),
        replace(MANIFEST, remote_id=7),
        replace(MANIFEST, protect=True),
    ]

    assert len({*map(sum_of, others), sum_of(MANIFEST)}) == len(others) + 1
    assert sum_of(replace(MANIFEST, source=Source("b.yaml", 2))) == sum_of(MANIFEST)


@pytest.mark.parametrize("template", [BEARER, LINK])
def test_plain(template: Template) -> None:
    """A manifest is plain exactly where no text of it is a template."""
    assert not is_plain(replace(MANIFEST, spec={"a": ["x", template]}))
    assert is_plain(replace(MANIFEST, spec={"a": ["x", str(template)]}))


def test_written_out() -> None:
    """A template is written as the expressions that it came from, and any other text escaped."""
    assert written_out({"a": [BEARER, LINK, 1], "b": "${var:team}"}) == {
        "a": ["Bearer ${secret:TOKEN}", "/views/${ref:SavedView/errors}", 1],
        "b": "$${var:team}",
    }
    assert written_out(BOTH) == "${secret:TOKEN}@${ref:SLO/checkout}"
