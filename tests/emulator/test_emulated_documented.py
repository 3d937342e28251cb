"""The published OpenAPI holds every field of the API document, and leaves no body open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.documented import MANIFESTS, REPLIES, REQUESTS

from reconciler.emulator.app import openapi_document
from reconciler.emulator.resources import RESOURCES

PAPER = Path(__file__).parents[3] / "shared" / "management-api.md"
PAPER_PARTS = (
    ("## Resources", "## States"),
    ("## Endpoints", "## Authentication"),
    ("## Events", "## Errors"),
)
NOT_FIELDS = {"int32"}
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
