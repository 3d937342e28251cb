"""schemas/: fresh, valid, and true to what the command line reads and prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError  # type: ignore[import-untyped]  # it ships no types
from openapi_spec_validator import OpenAPIV31SpecValidator

from reconciler.commands.root import run
from reconciler.commands.schema import schemas
from reconciler.source.reading import read_text

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "schemas"
EXAMPLES = ROOT / "examples"
MANIFESTS = sorted(file for file in EXAMPLES.rglob("*.yaml") if file.name != "reconciler.yaml")


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

    assert held == schemas()


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schemas_are_valid(name: str) -> None:
    """Every schema is a valid one of Draft 2020-12."""
    Draft202012Validator.check_schema(validator(name).schema)

    assert validator(name).schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: str(file.relative_to(EXAMPLES)))
def test_examples_fit_the_schema(file: Path) -> None:
    """Every manifest of the examples is valid for an editor that knows the schema."""
    for document in documents(file):
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


def test_plans_fit_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `plan --format json` prints is valid before an apply, and after it."""
    shop = tmp_path / "shop"
    shutil.copytree(EXAMPLES, shop, ignore=shutil.ignore_patterns(".reconciler"))
    actions = set()
    for _ in range(2):
        assert run(["plan", str(shop), "--format", "json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        validator("plan").validate(plan)
        actions |= {change["action"] for change in plan["changes"]}
        assert run(["apply", str(shop), "--yes", "--quiet"]) == 0
        capsys.readouterr()

    assert actions == {"create", "update", "assert", "keep"}


# What is printed, by what, and the schema of the whole or of each line.
PRINTED = [
    (["validate", "--format", "json"], "complaints", False),
    (["validate", "--format", "jsonl"], "complaint", True),
    (["plan", "--format", "jsonl"], "plan-line", True),
    (["apply", "--yes", "--format", "json"], "applied", False),
    (["drift", "--format", "json"], "drift", False),
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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What each command prints as JSON, on a workspace with a warning, fits its schema."""
    shop = tmp_path / "shop"
    shutil.copytree(EXAMPLES, shop, ignore=shutil.ignore_patterns(".reconciler"))
    (shop / "empty.yaml").write_text("# nothing yet\n", encoding="utf-8")
    for arguments, name, by_line in PRINTED:
        run([*arguments, "--project", str(shop / "reconciler.yaml")])
        printed = capsys.readouterr().out
        found = [json.loads(one) for one in (printed.splitlines() if by_line else [printed])]
        assert found, arguments
        for document in found:
            validator(name).validate(document)


def test_a_line_of_a_plan_is_of_one_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line of a plan tells all but its changes, and each other line is one change."""
    shop = tmp_path / "shop"
    shutil.copytree(EXAMPLES, shop, ignore=shutil.ignore_patterns(".reconciler"))
    whole = run(["plan", str(shop), "--format", "json"]), json.loads(capsys.readouterr().out)
    run(["plan", str(shop), "--format", "jsonl"])
    head, *changes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert {**head["plan"], "changes": [one["change"] for one in changes]} == whole[1]


def test_openapi_is_valid() -> None:
    """schemas/management-api.openapi.json is a valid OpenAPI 3.1 document of all 21 endpoints."""
    document = json.loads((FOLDER / "management-api.openapi.json").read_text(encoding="utf-8"))

    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert sum(len(methods) for methods in document["paths"].values()) == 21
