"""The published OpenAPI holds every field of the API document, and leaves no body open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.documented import BODIES, MANIFESTS, REPLIES, REQUESTS, known_places

from reconciler.emulator.app import openapi_document
from reconciler.emulator.resources import RESOURCES
from reconciler.kinds import BY_NAME

PAPER = Path(__file__).parents[3] / "shared" / "management-api.md"
PAPER_PARTS = (
    ("## Resources", "## States"),
    ("## Endpoints", "## Authentication"),
    ("## Events", "## Errors"),
)
NOT_FIELDS = {"int32"}
UNKNOWN = {"AlertDefinition": {"sloThreshold.burnRate"}}
"""What the emulator takes beyond the models: neither is in the API document."""
PUBLISHED = openapi_document()
ENDPOINTS = {endpoint.number: endpoint for resource in RESOURCES for endpoint in resource.endpoints}


def operation(number: int) -> dict[str, Any]:
    endpoint = ENDPOINTS[number]
    found: dict[str, Any] = PUBLISHED["paths"][endpoint.path][endpoint.method.lower()]
    return found


def schema_of(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["content"]["application/json"]["schema"]
    return found


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow references, and take the one form of what may be absent."""
    if "$ref" in schema:
        return resolved(PUBLISHED["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    forms = [form for form in schema.get("anyOf", ()) if form.get("type") != "null"]
    return resolved(forms[0]) if forms else schema


def missing(schema: dict[str, Any], paths: str) -> Iterator[str]:
    """Yield every path that a schema does not describe."""
    for path in paths.split():
        inner = schema
        for step in path.replace("[]", ".[]").split("."):
            inner = resolved(inner)
            found = inner.get("items") if step == "[]" else inner.get("properties", {}).get(step)
            if found is None:
                yield path
                break
            inner = found


@pytest.mark.promise("P53")
@pytest.mark.parametrize("number", sorted(ENDPOINTS))
def test_request_bodies(number: int) -> None:
    """Every field of a request body that the API document shows is in the published schema."""
    described = operation(number).get("requestBody")

    assert (described is not None) == (number in REQUESTS)
    if described is not None:
        assert list(missing(schema_of(described), REQUESTS[number])) == []


@pytest.mark.promise("P53")
@pytest.mark.parametrize("number", sorted(ENDPOINTS))
def test_answers(number: int) -> None:
    """Every field of an answer that the API document shows is in the published schema."""
    described = schema_of(operation(number)["responses"]["200"])

    assert list(missing(described, REPLIES[number])) == []


def published(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield every place of a schema, without what is inside of any object."""
    for name, inner in resolved(schema).get("properties", {}).items():
        place, shape = f"{prefix}{name}", resolved(inner)
        yield place
        if "items" in shape:
            place, shape = f"{place}[]", resolved(shape["items"])
        yield from published(shape, f"{place}.")


@pytest.mark.promise("P53")
@pytest.mark.parametrize("kind", BY_NAME)
def test_every_published_field_is_in_the_model(kind: str) -> None:
    """Each field that the emulator takes of a kind is known to the model of the client."""
    known = dict(known_places(BY_NAME[kind].spec))
    around = "alertDefsToReplace[].alertDefProperties."
    places = {
        place.removeprefix(around)
        for place in published(schema_of(operation(BODIES[kind])["requestBody"]))
        if kind != "AlertDefinition" or place.startswith(around)
    }
    # What is inside a value that the client passes on as it is has no place there.
    passed_on = tuple(
        f"{place}{end}"
        for place, facts in known.items()
        if facts.part is None and (facts.items is None or facts.items.part is None)
        for end in (".", "[")
    )

    assert {
        place for place in places - known.keys() if not place.startswith(passed_on)
    } == UNKNOWN.get(kind, set())


@pytest.mark.promise("P53")
@pytest.mark.skipif(not PAPER.exists(), reason="the API document is not here")
def test_fields_beyond_the_document_are_marked() -> None:
    """A field of a kind that the API document does not name is marked as observed."""
    named = set(re.findall(r"\w+", PAPER.read_text()))
    ours = {word for places in MANIFESTS.values() for word in re.findall(r"\w+", places)}

    # The document writes it apart, in words and with the other indicator.
    assert ours - named == {"requestBasedMetricSli"}


@pytest.mark.promise("P53")
@pytest.mark.skipif(not PAPER.exists(), reason="the API document is not here")
def test_every_field_of_the_document_is_listed() -> None:
    """The list that schemas are compared with leaves out no field of the API document."""
    text = re.sub(r"`{api_root}[^`]*`", "", PAPER.read_text())
    parts = [text[text.index(start) : text.index(end)] for start, end in PAPER_PARTS]
    named = set(re.findall(r"\b[a-z]+(?:[A-Z0-9][a-z0-9]*)+\b", " ".join(parts)))
    listed = " ".join((*REQUESTS.values(), *REPLIES.values(), *MANIFESTS.values()))

    assert named - set(re.findall(r"\w+", listed)) - NOT_FIELDS == set()


def test_what_is_open_would_be_told() -> None:
    """A body that is any object lacks every field that stands below it."""
    opened = {"type": "object", "properties": {"selection": {"type": "object"}}}

    assert list(missing(opened, "selection.all selection")) == ["selection.all"]
