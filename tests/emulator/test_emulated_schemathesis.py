"""Generated requests against the emulator: what it answers is what its document says."""

import os
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import hypothesis
import pytest
from starlette.types import Receive, Scope, Send

from reconciler.emulator import create_app
from reconciler.emulator.alert_definition_endpoints import AlertDefProperties

# Its own types are not strict enough for ours.
schemathesis: Any = import_module("schemathesis")
checks: Any = import_module("schemathesis.specs.openapi.checks")

# `make conformance` asks for many more.
EXAMPLES = int(os.environ.get("CONFORMANCE_EXAMPLES", "2"))
EXCLUDED = {
    # The key is added after generation. Names that have to differ, page tokens and fields to
    # sort by are no matter of a schema.
    "POSITIVE": [checks.ignored_auth, checks.positive_data_acceptance],
    # A null for a documented field is as good as none.
    "NEGATIVE": [checks.ignored_auth, checks.negative_data_rejection],
}


@cache
def company(seed: str | None) -> Any:
    """Return the emulator that answers all requests, with a seed in it or without."""
    return create_app(seed=seed, api_key="k")


async def emulator(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer from a seeded emulator, which is made when a test first asks: it takes a second."""
    seed = None if scope["path"] == "/openapi.json" else "demo"
    await company(seed)(scope, receive, send)


DOCUMENT = schemathesis.openapi.from_asgi("/openapi.json", emulator)
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]


class AllDrawnError(Exception):
    """Every field was drawn, and no further request is needed."""


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
@pytest.mark.filterwarnings("default")
def test_operation(operation: Any, mode: str) -> None:
    """No generated request breaks the server, or gets an answer that is not documented."""
    cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode])

    def answers_as_documented(case: Any) -> None:
        case.headers["Authorization"] = "k"
        case.validate_response(case.call(), excluded_checks=EXCLUDED[mode])

    hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        database=None,
        derandomize="CONFORMANCE_EXAMPLES" not in os.environ,
    )(hypothesis.given(case=cases)(answers_as_documented))()


@pytest.mark.promise("P53")
@pytest.mark.filterwarnings("default")
def test_generated_requests_carry_definitions() -> None:
    """Generated bulk replaces define alerts: what is in them is drawn from the schema too."""
    (operation,) = (value for value in OPERATIONS if value.path.endswith("/v3/bulk"))
    cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    wanted = {field.alias for field in AlertDefProperties.model_fields.values()}
    drawn: set[str] = set()

    def note(case: Any) -> None:
        for item in case.body["alertDefsToReplace"]:
            properties = item["alertDefProperties"]
            assert isinstance(properties["name"], str)
            drawn.update(properties)
        if drawn >= wanted:
            raise AllDrawnError

    run = hypothesis.settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        database=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate],
    )(hypothesis.given(case=cases)(note))
    with suppress(AllDrawnError):
        run()

    assert wanted - drawn == set()
