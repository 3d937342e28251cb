"""The models as a description of the API."""

import re
from pathlib import Path
from typing import Any

import pytest
from harness.documented import REPLIES
from pydantic import BaseModel

from reconciler.emulator.alert_definition_endpoints import AlertDefProperties
from reconciler.emulator.endpoint import Endpoint
from reconciler.emulator.resources import RESOURCES

ENDPOINTS = [endpoint for resource in RESOURCES for endpoint in resource.endpoints]
DOCUMENT = Path(__file__).parents[3] / "shared" / "management-api.md"
PARTS = (
    ("## Resources", "## States"),
    ("Case listing request body", "Rules:"),
    ("## Events", "## Errors"),
)
NOT_FIELDS = {"int32"}


def names_in(model: type[BaseModel]) -> set[str]:
    """Give the names of all fields of a model and of the models inside it."""
    schema = model.model_json_schema(by_alias=True)
    parts = (schema, *schema.get("$defs", {}).values())
    return {name for part in parts for name in part.get("properties", {})}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.number}")
def test_models_describe_themselves(endpoint: Endpoint[Any]) -> None:
    """A schema can be made of every request and reply, with the names of the wire."""
    names = names_in(endpoint.reply) | (set() if endpoint.in_query else names_in(endpoint.request))

    assert not [name for name in names if "_" in name]


@pytest.mark.skipif(not DOCUMENT.exists(), reason="the API document is not here")
def test_every_documented_field() -> None:
    """Every camelCase name that the API document gives these resources is in a model."""
    text = DOCUMENT.read_text()
    parts = [text[text.index(start) : text.index(end)] for start, end in PARTS]
    documented = set(re.findall(r"\b[a-z]+(?:[A-Z0-9][a-z0-9]*)+\b", " ".join(parts))) - NOT_FIELDS

    modelled = names_in(AlertDefProperties)
    for endpoint in ENDPOINTS:
        modelled |= names_in(endpoint.request) | names_in(endpoint.reply)

    assert documented - modelled == set()


def test_endpoints_of_the_document() -> None:
    """Each endpoint of the API document stands once."""
    assert sorted(endpoint.number for endpoint in ENDPOINTS) == sorted(REPLIES)
