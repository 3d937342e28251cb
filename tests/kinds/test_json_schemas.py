from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from spec_models import MODELS
from test_sample_findings import EXPECTED, FOLDERS, needs_samples, read_sample

from reconciler.cli.schema import schemas
from reconciler.document import Json
from reconciler.kinds import KINDS

NEEDING_AN_ID = {kind.name for kind in KINDS if kind.id_form.required}
EVERY = schemas()
SCHEMAS = {kind: EVERY[kind] for kind in MODELS}
WORKSPACE = EVERY["manifest"]
KIND_OF = {
    folder: kind
    for folder, model in FOLDERS.items()
    for kind, other in MODELS.items()
    if model is other
}


def manifest(kind: str, spec: Json, **metadata: Json) -> dict[str, Json]:
    """Give a manifest with the id that its kind needs."""
    own: dict[str, Json] = {"name": "sample", **metadata}
    if kind in NEEDING_AN_ID:
        own.setdefault("id", "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11")
    return {"apiVersion": "reconciler/v1", "kind": kind, "metadata": own, "spec": spec}


def is_valid(kind: str, document: Json) -> bool:
    """Tell whether both the kind's schema and the workspace's take a manifest."""
    verdict, other = (
        bool(Draft202012Validator(schema).is_valid(document))
        for schema in (SCHEMAS[kind], WORKSPACE)
    )
    assert verdict == other, "the two schemas disagree"
    return verdict


@pytest.mark.parametrize("schema", [*SCHEMAS.values(), WORKSPACE], ids=[*SCHEMAS, "workspace"])
def test_schemas_are_schemas(schema: dict[str, Any]) -> None:
    """Each schema is valid by its own dialect, and every reference in it leads somewhere."""
    Draft202012Validator.check_schema(schema)

    for reference in _references(schema):
        place: Any = schema
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert place


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for item in schema for found in _references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [found for value in schema.values() for found in _references(value)]


@needs_samples
@pytest.mark.parametrize("name", EXPECTED)
def test_samples_are_valid(name: str) -> None:
    """A real payload under `spec` makes a valid manifest."""
    _, spec = read_sample(name)
    kind = KIND_OF[name.split("/", maxsplit=1)[0]]

    assert is_valid(kind, manifest(kind, spec))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("metadata", "valid"),
    [
        ({}, True),
        ({"labels": {"team": "payments"}, "environments": ["production"]}, True),
        ({"name": "Check out"}, False),
        ({"labels": {"team": 1}}, False),
        ({"environments": "production"}, False),
        ({"label": {}}, False),
        ({"id": []}, False),
    ],
)
def test_metadata(kind: str, metadata: dict[str, Json], valid: bool) -> None:
    """Metadata is a name, perhaps an id, labels and environments, and nothing else."""
    assert is_valid(kind, manifest(kind, MODELS[kind].least, **metadata)) is valid


@pytest.mark.promise("P18")
@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("AlertDefinition", "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"),
        ("SLO", "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"),
        ("Dashboard", "a-b_c"),
        ("SavedView", 7),
    ],
)
def test_ids_of_environments(kind: str, good: Json) -> None:
    """Each environment may have an id of its own, in the kind's form, and none beside `id`."""

    def valid(**ids: Json) -> bool:
        document = manifest(kind, MODELS[kind].least)
        return is_valid(kind, {**document, "metadata": {"name": "sample", **ids}})

    assert valid(ids={"staging": good, "production": good})
    assert not valid(ids={"staging": good, "production": []})
    assert not valid(ids=[good])
    assert not valid(id=good, ids={"staging": good})


def test_ids_are_needed_where_a_kind_says_so() -> None:
    """An alert definition without an id is not valid, an SLO is; a policy set has none."""
    nameless: Json = {"name": "sample"}

    assert not is_valid(
        "AlertDefinition", {**manifest("AlertDefinition", {}), "metadata": nameless}
    )
    assert is_valid("SLO", manifest("SLO", MODELS["SLO"].least))
    assert not is_valid("LogPolicySet", manifest("LogPolicySet", {"policies": []}, id="1"))


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ({"priority": "ALERT_DEF_PRIORITY_P9"}, True),
        ({"priority": 1}, False),
        ({"unheardOf": 1}, True),
        ({"enabled": "${var:ON}"}, True),
        ({"enabled": "on"}, False),
        ({"incidentsSettings": {"minutes": "${var:MINUTES}"}}, True),
        ({"incidentsSettings": {"minutes": 2**31}}, False),
        ({"notificationGroup": {"router": {"id": "${ref:Router/main}"}}}, True),
        ({"notificationGroup": {"router": {"id": "main"}}}, False),
        ({"description": None}, True),
    ],
)
def test_editors_refuse_little(fields: Json, valid: bool) -> None:
    """Open values, unknown fields, null and expressions pass; wrong types do not."""
    assert is_valid("AlertDefinition", manifest("AlertDefinition", fields)) is valid


@pytest.mark.parametrize("kind", MODELS)
def test_read_only_fields_are_not_offered(kind: str) -> None:
    """No schema names a field that a manifest must not declare."""
    text = json.dumps(SCHEMAS[kind])

    for name in ("createdAt", "updatedTime", "authorId", "revision", "companyId", "requestId"):
        assert f'"{name}"' not in text


def test_known_values_are_offered() -> None:
    """An editor can complete the listed values of an enumeration."""
    offered = SCHEMAS["SLO"]["$defs"]["SloSpec"]["properties"]["sloTimeFrame"]["anyOf"][0]["enum"]

    assert "SLO_TIME_FRAME_28_DAYS" in offered


def test_an_unknown_kind_is_refused() -> None:
    """A workspace holds only the kinds there are."""
    document = {**manifest("SLO", {}), "kind": "Sla"}

    assert not Draft202012Validator(WORKSPACE).is_valid(document)
