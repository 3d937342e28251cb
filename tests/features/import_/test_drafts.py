"""Drafts say of themselves what they hold only where reading them would tell nothing else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reconciler.document import Json, identical
from reconciler.features.import_.drafts import Draft, draft_of
from reconciler.features.import_.match_declared import KnownRefs
from reconciler.features.import_.records import ImportRecord, minimal
from reconciler.kinds import BY_NAME
from reconciler.model import Ref
from reconciler.syntax.read_text import read_text
from reconciler.workspace.compose import UnwritableError, check_writable

HOSTILE = ("true", "No", "1:30", "012", "1e21", "- x", "a: b", "a #b", "|", "~", "=", "<<", "$${")
texts = st.one_of(
    st.text("ab \n\t'\"#:-{}[],&*!|>%@`$~\\?=<.0159eExo_/\u200b\u00e9", max_size=12),
    st.text("a :#\n-", max_size=80),
    st.sampled_from(HOSTILE),
)
values: st.SearchStrategy[Json] = st.recursive(
    texts | st.booleans() | st.none() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(texts, values, min_size=1, max_size=4))
@example({"description": "a\n  b\n\n"})
@example({"description": "x" * 3_000, "on": "on"})
def test_what_a_draft_says_of_itself_is_what_is_read(spec: dict[str, Json]) -> None:
    """Where a draft tells what it holds, its text is read as that very document, without a flaw."""
    try:
        check_writable(spec)
    except UnwritableError:
        return
    record = ImportRecord(kind=BY_NAME["SLO"], spec=spec, remote_id="1", where="live")
    drawn = draft_of(record, Ref("SLO", "x"), (), KnownRefs({}), "")
    assert isinstance(drawn, Draft)
    if drawn.document is None:
        assert not drawn.manifest.isascii() or "\\" in drawn.manifest
        return
    reading = read_text(drawn.manifest)
    assert not reading.flaws, drawn.manifest
    assert identical(reading.documents[0].value, drawn.document), drawn.manifest


@pytest.mark.promise("S36")
def test_zeros_that_say_something_stay() -> None:
    """Left out is what equals absent, and neither a choice, nor a flag that is usually on."""
    says: dict[str, Json] = {
        "enabled": False,
        "priority": "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED",
        "notificationGroup": {"router": {}},
        "unknown": 0,
    }
    spec = {**says, "deleted": False, "entityLabels": {}, "groupByKeys": [], "description": ""}
    record = ImportRecord(kind=BY_NAME["AlertDefinition"], spec=spec, remote_id="1", where="live")

    assert minimal(record).spec == says
