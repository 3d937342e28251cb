from __future__ import annotations

import pytest
from harness.documented import known_places
from hypothesis import given
from hypothesis import strategies as st
from spec_models import MODELS, SpecModel

from reconciler.document import Json
from reconciler.kinds.shape import camel_case_known_fields, without_read_only
from reconciler.syntax.diagnostic import CODES

NAMES = sorted(
    {
        name
        for model in MODELS.values()
        for place, _ in known_places(model.spec)
        for name in place.replace("[]", "").split(".")
    }
)

SCALARS: st.SearchStrategy[Json] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
)


def documents() -> st.SearchStrategy[dict[str, Json]]:
    """Give arbitrary JSON objects whose keys are often fields of some model."""
    keys = st.one_of(st.sampled_from(NAMES), st.text())
    values = st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6)
        ),
        max_leaves=20,
    )
    return st.dictionaries(keys, values, max_size=8)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@given(document=documents())
def test_lint_never_raises(model: SpecModel, document: dict[str, Json]) -> None:
    """Any JSON object gives findings with codes we list, and never a traceback."""
    assert {finding.code for finding in model.findings(document)} <= CODES.keys()


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@given(document=documents())
def test_rewrites_settle(model: SpecModel, document: dict[str, Json]) -> None:
    """Rewriting an export twice gives what rewriting it once gave."""
    once = without_read_only(camel_case_known_fields(document, model.spec), model.spec)
    twice = without_read_only(camel_case_known_fields(once, model.spec), model.spec)

    assert twice == once
