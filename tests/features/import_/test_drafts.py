"""Drafts say of themselves what they hold only where reading them would tell nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from reconciler.document import Json, identical
from reconciler.emulator.alert_definition_endpoints import AlertDefProperties
from reconciler.emulator.dashboard_endpoints import StoredDashboard
from reconciler.emulator.log_policy_endpoints import OverwriteRequest
from reconciler.emulator.saved_view_endpoints import SavedView
from reconciler.emulator.slo_endpoints import SloDefinition
from reconciler.emulator.wire import WireObject
from reconciler.features.import_.import_resources import Draft, draft_of
from reconciler.features.import_.match_declared import KnownRefs
from reconciler.features.import_.records import ImportRecord, minimal
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part
from reconciler.kinds.shape import facts_of
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
    """Left out is what equals absent, and neither a number, a choice, nor a flag usually on."""
    says: dict[str, Json] = {
        "enabled": False,
        "priority": "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED",
        "activeOn": {"startTime": {"hours": 0, "minutes": 0}},
        "notificationGroup": {"router": {}},
        "metricThreshold": {"rules": [{"condition": {"threshold": 0, "forOverPct": 0}}]},
        "unknown": 0,
    }
    spec = {**says, "deleted": False, "entityLabels": {}, "groupByKeys": [], "description": ""}
    record = ImportRecord(kind=BY_NAME["AlertDefinition"], spec=spec, remote_id="1", where="live")

    assert minimal(record).spec == says


@pytest.mark.promise("S36")
@pytest.mark.parametrize("description", ["", "What to do."])
def test_only_a_file_that_lacks_something_says_so(description: str) -> None:
    """A manifest says that fields are left out where some are, and nowhere else."""
    spec: dict[str, Json] = {"name": "a", "description": description, "enabled": True}
    record = ImportRecord(kind=BY_NAME["AlertDefinition"], spec=spec, remote_id="1", where="live")
    drawn = draft_of(minimal(record), Ref("AlertDefinition", "a"), (), KnownRefs({}), "")

    assert isinstance(drawn, Draft)
    assert drawn.manifest.startswith("# ") is not bool(description)


EMULATED = {
    "AlertDefinition": AlertDefProperties,
    "SLO": SloDefinition,
    "Dashboard": StoredDashboard,
    "LogPolicySet": OverwriteRequest,
    "SavedView": SavedView,
}


def empty_documents(part: type[Part]) -> Iterator[dict[str, Json]]:
    """Yield objects with all fields of a part: empty, then with one empty item in each list."""
    for inside in (False, True):
        document: dict[str, Json] = {}
        for name, info in part.model_fields.items():
            key, facts = info.alias or name, facts_of(part)[info.alias or name]
            inner = facts.part or (facts.items.part if facts.items else None)
            if inner is not None:
                found = [*empty_documents(inner)][inside]
                document[key] = found if facts.part else [found] if inside else []
            elif facts.read_only is None:
                validator = TypeAdapter(info.rebuild_annotation()).validator
                allowed = partial(validator.isinstance_python, strict=True)
                document[key] = next(filter(allowed, ("", False, 0, [], {})), None)
        yield document


def left_out(whole: Json, rest: Json, model: Any) -> Iterator[tuple[str, Json, Json]]:
    """Yield the fields that `rest` lacks: name, value, and what the emulator fills in for it."""
    while get_args(model):
        model = get_args(model)[0]
    if isinstance(whole, list) and isinstance(rest, list):
        for before, after in zip(whole, rest, strict=True):
            yield from left_out(before, after, model)
    elif isinstance(whole, dict) and isinstance(rest, dict) and issubclass(model, WireObject):
        infos = {info.alias or name: info for name, info in model.model_fields.items()}
        for key, value in whole.items():
            if key in rest and key in infos:
                yield from left_out(value, rest[key], infos[key].annotation)
            elif key not in rest:
                known = infos.get(key)
                yield key, value, known and known.get_default(call_default_factory=True)


@pytest.mark.promise("S36")
@pytest.mark.parametrize("kind", EMULATED)
def test_only_what_a_service_fills_in_is_left_out(kind: str) -> None:
    """A field that is left out is one that the emulator fills in with that value if not sent."""
    specs = [*empty_documents(BY_NAME[kind].spec)]
    records = [
        ImportRecord(kind=BY_NAME[kind], spec=spec, remote_id="1", where="live") for spec in specs
    ]
    lacking = [
        found
        for record in records
        for found in left_out(record.spec, minimal(record).spec, EMULATED[kind])
    ]

    assert lacking
    for name, value, filled in lacking:
        assert (filled, type(filled)) == (value, type(value)), name
