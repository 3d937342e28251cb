"""The OpenAPI document of the endpoints."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.documented import REPLIES
from harness.emulated import Emulated
from harness.routes import API_ROOT

from reconciler.emulator.app import openapi_document
from reconciler.emulator.resources import RESOURCES

jsonschema: Any = pytest.importorskip("jsonschema")
STORED = Path(__file__).parents[2] / "schemas" / "management-api.openapi.json"
ENDPOINTS = [endpoint for resource in RESOURCES for endpoint in resource.endpoints]
API_DOCUMENT = openapi_document()
OPERATIONS = [
    (method, path, operation)
    for path, methods in API_DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def values_of(name: str, place: object) -> Iterator[Any]:
    """Find what stands under a name anywhere."""
    match place:
        case dict():
            yield from (value for key, value in place.items() if key == name)
            for value in place.values():
                yield from values_of(name, value)
        case list():
            for value in place:
                yield from values_of(name, value)
        case _:
            pass


def test_stored_document_is_fresh() -> None:
    """What is in schemas/ is what the models say; else run scripts/write_openapi.py."""
    assert json.loads(STORED.read_text()) == API_DOCUMENT


def test_served_document() -> None:
    """The emulator describes itself, without a key and without a trace in the log."""
    emulator = Emulated(api_key="canary")

    assert emulator.send("GET", "/openapi.json", headers={}).body == API_DOCUMENT
    assert not emulator.app.state.requests


def test_all_endpoints() -> None:
    """Each endpoint of the API document is an operation of its own."""
    paths = {(method.upper(), path) for method, path, _ in OPERATIONS}

    assert paths == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert len(OPERATIONS) == len(REPLIES)
    assert API_DOCUMENT["servers"] == [{"url": API_ROOT}]


def test_operations_are_complete() -> None:
    """Each operation has its own id, words, one tag that is listed, and answers."""
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    tags = {tag["name"] for tag in API_DOCUMENT["tags"]}

    assert len(set(names)) == len(names)
    for _, _, operation in OPERATIONS:
        assert operation["summary"]
        assert operation["description"]
        assert set(operation["tags"]) <= tags
        assert {"200", "400", "401"} <= set(operation["responses"])


def test_path_parameters() -> None:
    """Every part of a path in braces is a parameter, and no other is."""
    for _, path, operation in OPERATIONS:
        parameters = operation.get("parameters", [])
        named = {parameter["name"] for parameter in parameters if parameter["in"] == "path"}
        assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}
        keys = [(parameter["in"], parameter["name"]) for parameter in parameters]
        assert len(set(keys)) == len(keys)


def test_references_lead_somewhere() -> None:
    """Every reference names a schema that is there, and every schema is used."""
    schemas = API_DOCUMENT["components"]["schemas"]

    named = {reference.rpartition("/")[2] for reference in values_of("$ref", API_DOCUMENT)}

    assert named == set(schemas)


@pytest.mark.parametrize("name", sorted(API_DOCUMENT["components"]["schemas"]))
def test_schemas(name: str) -> None:
    """Every schema is one by the rules of JSON Schema, and says what it is."""
    schema = API_DOCUMENT["components"]["schemas"][name]

    jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["description"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (
            "/alerts/events/v3/alert-events",
            {"alert_ids", "timestamp_range.from", "timestamp_range.to"},
        ),
        ("/dataplans/policies/v1", {"enabled_only", "source_type"}),
        (
            "/incidents/incidents/v1/events",
            {"filter.name", "order_by.field", "filter.timestamp.from"},
        ),
    ],
)
def test_query_parameters(path: str, names: set[str]) -> None:
    """Objects of a query are flat parameters with dots."""
    parameters = API_DOCUMENT["paths"][path]["get"]["parameters"]

    assert names <= {parameter["name"] for parameter in parameters}


def test_maps_are_described() -> None:
    """Maps, which have no parameter, are in the description of the operation."""
    operation = API_DOCUMENT["paths"]["/incidents/incidents/v1"]["post"]

    assert "`filter.contextualLabels.<key>=<value>`" in operation["description"]
