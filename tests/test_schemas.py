"""schemas/: fresh, valid, and true to what the command line reads and prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.documented import REPLIES
from harness.doors import typed
from harness.workspaces import EXAMPLES, examples_at
from jsonschema import Draft202012Validator, ValidationError  # type: ignore[import-untyped]  # it ships no types
from openapi_spec_validator import OpenAPIV31SpecValidator

from reconciler.cli.schema import schemas
from reconciler.journal.entries import ENTRY_NAMES
from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "schemas"
EVERY = schemas()
NO_MANIFESTS = ("reconciler.yaml", "policy-samples.yaml")
MANIFESTS = sorted(file for file in EXAMPLES.rglob("*.yaml") if file.name not in NO_MANIFESTS)


def validator(name: str) -> Any:
    """Give what checks documents against one file of schemas/."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)


def documents(file: Path) -> list[Any]:
    """Read the documents of a YAML file. To YAML 1.2, as to editors, a date is text."""
    return [document.value for document in read_text(file.read_text("utf-8")).documents]


def test_schemas_are_fresh() -> None:
    """schemas/ holds a schema of each name, as the models have it now: else run `make schemas`."""
    held = {
        file.name.removesuffix(".schema.json"): json.loads(file.read_text(encoding="utf-8"))
        for file in FOLDER.glob("*.schema.json")
    }

    assert held == EVERY


@pytest.mark.parametrize("name", sorted(EVERY))
def test_schemas_are_valid(name: str) -> None:
    """Every schema is a valid one of Draft 2020-12."""
    Draft202012Validator.check_schema(validator(name).schema)

    assert validator(name).schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: str(file.relative_to(EXAMPLES)))
def test_examples_fit_the_schema(file: Path) -> None:
    """Every manifest of the examples is valid for an editor that knows the schema."""
    declared = [
        document
        for document in documents(file)
        if isinstance(document, dict) and "kind" in document
    ]
    named = f"${{file:{file.name}}}"
    assert declared or any(named in path.read_text("utf-8") for path in file.parent.glob("*.yaml"))
    for document in declared:
        validator("manifest").validate(document)
        validator(document["kind"]).validate(document)


def test_the_schema_refuses() -> None:
    """A manifest whose field has the wrong type is invalid for an editor too."""
    document = documents(EXAMPLES / "checkout" / "view.yaml")[0]
    document["spec"]["name"] = 7

    with pytest.raises(ValidationError):
        validator("manifest").validate(document)


def test_the_project_file_fits_the_schema() -> None:
    """The project file of the examples is valid, and one with an unknown setting is not."""
    (project,) = documents(EXAMPLES / "reconciler.yaml")
    validator("project").validate(project)

    with pytest.raises(ValidationError):
        validator("project").validate({**project, "enviroments": {}})


def test_plans_fit_the_schema(tmp_path: Path) -> None:
    """What `plan --format json` prints is valid before an apply, and after it."""
    shop = examples_at(tmp_path / "shop")
    actions = set()
    for _ in range(2):
        plan = shop.plan()
        validator("plan").validate(plan)
        actions |= {change["action"] for change in plan["changes"]}
        assert shop.apply("--quiet").code == 0

    assert actions == {"create", "update", "assert", "keep"}


def test_the_schema_knows_every_entry() -> None:
    """The schema of a journal names the entries that a journal can hold, and no other."""
    known = validator("journal-entries").schema["$defs"]["EntryDocument"]["properties"]["entry"]

    assert sorted(known["enum"]) == sorted(ENTRY_NAMES)


# What is printed, by what, and the schema of the whole or of each line.
PRINTED = [
    (["explain", "SLO", "--recursive", "--format", "json"], "explained", False),
    (["explain", "name", "--format", "json"], "explained", False),
    (["explain", "M303", "--format", "json"], "explained", False),
    (["init", "--format", "json"], "init", False),
    (["validate", "--format", "json"], "complaints", False),
    (["validate", "--format", "jsonl"], "complaint", True),
    (["plan", "--format", "jsonl"], "plan-line", True),
    (["apply", "--yes", "--format", "json"], "applied", False),
    (["rollback", "last", "--dry-run", "--format", "json"], "plan", False),
    (["rollback", "last", "--yes", "--format", "json"], "applied", False),
    (["drift", "--format", "json"], "drift", False),
    (["import", "policies", "--dry-run", "--format", "json"], "imported", False),
    (["adopt", "--all", "--dry-run", "--format", "json"], "adopted", False),
    (["plan", "--format", "json"], "plan", False),
    (["journal", "show", "--format", "json"], "journal-entries", False),
    (["journal", "history", "--format", "json"], "journal-history", False),
    (["journal", "history", "Dashboard/checkout", "--format", "json"], "journal-history", False),
    (["journal", "verify", "--format", "json"], "journal-verified", False),
    (["doctor", "--format", "json"], "doctor", False),
    (["conformance", "--format", "json"], "conformance", False),
]


def test_what_commands_print_fits_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each command prints as JSON, on a workspace with a warning, fits its schema."""
    monkeypatch.chdir(tmp_path)
    shop = examples_at(tmp_path / "shop")
    shop.write("empty.yaml", "# nothing yet\n")
    for arguments, name, by_line in PRINTED:
        alone = arguments[0] in {"init", "explain"}
        there = () if alone else ("--project", str(shop.root / "reconciler.yaml"))
        printed = typed(*arguments, *there).out
        found = [json.loads(line) for line in (printed.splitlines() if by_line else [printed])]
        assert found, arguments
        for document in found:
            validator(name).validate(document)


def test_a_line_of_a_plan_is_of_one_kind(tmp_path: Path) -> None:
    """The first line of a plan tells all but its changes, and each other line is one change."""
    shop = examples_at(tmp_path / "shop")
    lines = shop.run("plan", "--format", "jsonl").out.splitlines()
    head, *changes = [json.loads(line) for line in lines]

    assert {**head["plan"], "changes": [change["change"] for change in changes]} == shop.plan()


def test_openapi_is_valid() -> None:
    """schemas/management-api.openapi.json is a valid OpenAPI 3.1 document of all endpoints."""
    document = json.loads((FOLDER / "management-api.openapi.json").read_text(encoding="utf-8"))

    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert sum(len(methods) for methods in document["paths"].values()) == len(REPLIES)
