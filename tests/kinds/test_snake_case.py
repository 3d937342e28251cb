"""Exports in snake case mean what they mean in camel case."""

from __future__ import annotations

import re

import pytest
from harness.documented import MANIFESTS
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import MOST_ROUNDS, PasteRepair, repaired

PLACES = {kind: sorted(set(places.split())) for kind, places in MANIFESTS.items()}


def snake(name: str) -> str:
    """Return a name in snake case."""
    return re.sub(r"([A-Z])", r"_\1", name).lower()


def document_of(places: list[str], *, is_snake: bool) -> dict[str, Json]:
    """Return a document that has a value at each of some places, in one of two spellings."""
    document: dict[str, Json] = {}
    for place in places:
        holder = document
        *around, last = place.split(".")
        for step in around:
            key = step.removesuffix("[]")
            inner = holder.setdefault(snake(key) if is_snake else key, [{}] if key != step else {})
            found = inner[0] if isinstance(inner, list) else inner
            if not isinstance(found, dict):
                break
            holder = found
        else:
            key = last.removesuffix("[]")
            value: Json = ["a_b"] if key != last else {"data_of_map": "a_b"}
            holder.setdefault(snake(key) if is_snake else key, value)
    return document


def pasted(document: Json, kind: Kind) -> Json:
    """Return a document as a manifest has it, after all that is repaired without a guess."""
    mould = PasteRepair(kind.spec, kind.id_form, has_id=False)
    for _ in range(MOST_ROUNDS):
        made = mould.next_round(document)
        if not made:
            break
        document = repaired(document, made)
    return document


@pytest.mark.promise("S56")
@given(st.data())
def test_both_spellings(data: st.DataObject) -> None:
    """All fields of the API document in snake case, at any depth, become the same manifest."""
    name = data.draw(st.sampled_from([*PLACES]))
    places = data.draw(st.lists(st.sampled_from(PLACES[name]), min_size=1, unique=True))
    camel, other = (
        pasted(document_of(places, is_snake=is_snake), BY_NAME[name]) for is_snake in (False, True)
    )

    assert other == camel


@pytest.mark.promise("S56")
@pytest.mark.parametrize("key", ["logRules", "log_rules"])
@pytest.mark.parametrize("is_wrapped", [True, False])
def test_severities_inside_a_policy(key: str, *, is_wrapped: bool) -> None:
    """Severities that an export has inside a policy come next to it, in either spelling."""
    policy: Json = {
        "name": "errors",
        "description": "d",
        "priority": "PRIORITY_TYPE_LOW",
        key: {"severities": ["SEVERITY_ERROR"]},
    }
    document: Json = {"policies": [{"policy": policy} if is_wrapped else policy]}

    made = pasted(document, BY_NAME["LogPolicySet"])

    assert made == {
        "policies": [
            {
                "logRules": {"severities": ["SEVERITY_ERROR"]},
                "policy": {
                    "name": "errors",
                    "description": "d",
                    "priority": "PRIORITY_TYPE_LOW",
                },
            }
        ]
    }
