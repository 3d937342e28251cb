"""What is said of fields is so, and is said of every field."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from harness.workspaces import SLO
from write_reference import FOLDER, pages

from reconciler.document import Json
from reconciler.emulator.resources import RESOURCES
from reconciler.features.explain.field_reference import (
    MANIFESTS,
    PROJECT,
    Field,
    Need,
    all_fields,
    document_of,
    look_up,
    roots,
)
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.checks import lint
from reconciler.kinds.field_traits import MANIFEST, MANIFEST_KEYS
from reconciler.model import API_VERSION
from reconciler.project import project_findings
from reconciler.report.explanations.pages import explanation
from reconciler.syntax.diagnostic import Finding
from reconciler.syntax.read_text import read_text
from reconciler.syntax.tidy import yaml_text
from reconciler.workspace.envelope import METADATA_FIELDS, Around, read_envelope

ALL = all_fields()
WRITABLE = [field for field in ALL if field.read_only is None and field.path]


def test_every_field_is_described() -> None:
    """A field is described in a sentence that says more than its name."""
    for field in ALL:
        bare = re.sub(r"[^a-z]", "", field.said.lower())
        assert field.said.endswith("."), field.address
        assert len(field.said.split()) >= 3, field.address
        assert bare.removeprefix("the") != field.name.lower(), field.address


def test_every_field_of_a_model_is_there() -> None:
    """The tree of a kind has every field of its model and of the envelope, and no other."""
    for kind in KINDS:
        names = {info.alias or name for name, info in kind.spec.model_fields.items()}
        of_others = {key for key in MANIFEST_KEYS if kind.name not in MANIFEST_KEYS.load(key).kinds}
        around = set(MANIFEST) - {"spec"} - of_others
        assert {field.name for field in roots()[kind.name].fields} == {
            *names,
            *kind.spec.read_only,
        } | around
    metadata = next(field for field in roots()[MANIFESTS].fields if field.name == "metadata")
    assert {field.name for field in metadata.fields} == set(METADATA_FIELDS)


def findings_of(field: Field) -> list[Finding]:
    """Give what is found in the example of a field, its place in a manifest aside."""
    (document,) = read_text(yaml_text(document_of(field))).documents
    value = document.value
    assert isinstance(value, dict)
    if field.root == PROJECT:
        value.setdefault("environments", {"production": {}})
        return list(project_findings(value))
    if "spec" in value:
        return list(lint(value["spec"], BY_NAME[field.root].spec))
    shown = field.root if field.root in BY_NAME else next(iter(BY_NAME))
    whole: dict[str, Json] = {"apiVersion": API_VERSION, "kind": shown, "spec": {}}
    around = Around(environments={}, environment="production", today=date(2026, 1, 31))
    return read_envelope({**whole, "metadata": {"name": "checkout"}, **value}, around).findings


@pytest.mark.parametrize("root", roots())
def test_an_example_is_right_where_it_stands(root: str) -> None:
    """Nothing is found at the example of a field, nor inside it."""
    for field in (field for field in WRITABLE if field.root == root):
        steps = list(field.path)
        found = [
            finding
            for finding in findings_of(field)
            if [step for step in finding.path if isinstance(step, str)][: len(steps)] == steps
        ]
        assert found == [], field.address


def test_an_example_of_the_project_file_is_whole() -> None:
    """The project file of each example is one that is taken as it stands."""
    for field in (field for field in WRITABLE if field.root == PROJECT):
        assert findings_of(field) == [], field.address


def test_the_example_of_a_kind_is_right() -> None:
    """Nothing is found in the example of a whole manifest."""
    for kind in KINDS:
        found = [*findings_of(roots()[kind.name]), *kind.check(dict(kind.example))]
        assert found == [], kind.name


def test_the_requests_of_a_kind_are_those_of_the_document() -> None:
    """Number, method and path of each request are those that the emulator answers."""
    answered = {
        (endpoint.number, endpoint.method, endpoint.path)
        for resource in RESOURCES
        for endpoint in resource.endpoints
    }

    for kind in KINDS:
        assert kind.endpoints
        assert {
            (endpoint.number, endpoint.method, endpoint.path) for endpoint in kind.endpoints
        } <= answered


def test_the_pages_are_fresh() -> None:
    """docs/reference/ has what is written now: else run `make schemas`."""
    held = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}

    assert held == pages()


@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_a_kind_is_more_than_a_value(name: str) -> None:
    """The name of a kind explains the kind, in any capitals, though it is a value of `kind` too."""
    for typed in (name, name.lower()):
        found = look_up(typed)
        assert isinstance(found, Field)
        assert found.address == name


@pytest.mark.promise("S64")
def test_what_policies_need_is_needed() -> None:
    """Each field of a log policy that `validate` asks for, and no other, is needed by `explain`."""
    kind = BY_NAME["LogPolicySet"]
    asked = {
        steps
        for steps in (("policy", "description"), ("policy", "priority"), ("logRules", "severities"))
        for finding in kind.check({"policies": [{"policy": {"name": "a"}}]})
        if f"`{'.'.join(steps)}`" in finding.message
    }
    needed = {
        field.path[-2:] for field in ALL if field.root == kind.name and field.need is Need.EXPECTED
    }

    assert needed == asked != set()


COUNTING = """\
import sys
from reconciler.__main__ import main
try:
    main()
except SystemExit:
    pass
sys.stderr.write(" ".join(name for name in sys.modules if name.startswith("reconciler.")))
"""


@pytest.mark.promise("S37")
def test_a_code_is_explained_without_models(tmp_path: Path) -> None:
    """`explain CODE` loads fewer modules than `validate`, and no kind."""
    (tmp_path / "reconciler.yaml").write_text("environments: {local: {emulator: {data: a.db}}}\n")
    (tmp_path / "slo.yaml").write_text(SLO)
    explained, validated = (
        subprocess.run(
            [sys.executable, "-c", COUNTING, *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stderr.split()
        for arguments in (("explain", "L203"), ("validate", "--quiet"))
    )

    assert len(explained) < len(validated)
    assert not [name for name in explained if re.fullmatch(r"reconciler\.kinds\..*\.model", name)]


@pytest.mark.promise("S37")
def test_the_repair_of_an_unwatched_slo() -> None:
    """The right example of L302 keeps what is in the wrong one, and adds an alert."""
    page = explanation("L302")
    assert page is not None
    (wrong,), (right,) = page.wrong.files.values(), page.right.files.values()

    assert right.startswith(wrong)
    assert right.count("kind: AlertDefinition") == wrong.count("kind: AlertDefinition") + 1
