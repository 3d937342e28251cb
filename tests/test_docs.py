"""The documentation says what is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import examples_at

from reconciler.cli.overview import COMMANDS
from reconciler.cli.schema import schemas
from reconciler.features import FEATURES
from reconciler.kinds import BY_NAME
from reconciler.project import Environment, ProjectFile

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.glob("*.md"), *ROOT.glob("*.md"), ROOT / "examples" / "README.md"))


def commands_in(text: str) -> list[list[str]]:
    """Give the command lines of all shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line.split("  #")[0] for block in blocks for line in block.splitlines()]
    return [shlex.split(line) for line in lines if line.startswith("reconciler ")]


def test_documented_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command line of docs/commands.md runs, in order, on a copy of the examples."""
    monkeypatch.chdir(examples_at(tmp_path / "shop").root)

    for _, *arguments in commands_in((DOCS / "commands.md").read_text(encoding="utf-8")):
        ran = typed(*arguments)
        assert ran.code == 0, (arguments, ran.err)


def test_every_command_is_documented() -> None:
    """docs/commands.md has a section for each command of the command line."""
    text = (DOCS / "commands.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^## (\w+)$", text, re.MULTILINE)) == set(COMMANDS)


def test_every_schema_is_documented() -> None:
    """docs/commands.md names each schema that there is, but those of kinds, by their rule."""
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    section = text.partition("\n## schema\n")[2].partition("\n## ")[0]
    known = {*schemas()} - {*BY_NAME} - {"manifest", "project"}

    assert known <= set(re.findall(r"`([\w-]+)`", section))


@pytest.mark.parametrize(
    "page", [DOCS / "manifests.md", DOCS / "limits.md"], ids=lambda one: one.name
)
def test_every_kind_has_a_row(page: Path) -> None:
    """What is under `spec` of each kind, and what the API cannot do with it, stands in a table."""
    rows = re.findall(r"^\| `([A-Z]\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(rows) == sorted(BY_NAME)


def test_every_setting_is_documented() -> None:
    """A page names each setting of the project file and of an environment."""
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    fields = {**ProjectFile.model_fields, **Environment.model_fields}
    names = {field.alias or name for name, field in fields.items()}

    assert {name for name in names if not re.search(rf"\b{name}\b(`|:)", text)} == set()


def test_the_plan_of_the_readme() -> None:
    """The plan that the README shows is the golden one of the examples; `…` leaves lines out."""
    golden = (ROOT / "tests/report/golden/example.txt").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"```text\n(Plan for .*?)```", readme, re.DOTALL)

    assert len(shown) == 1
    for part in shown[0].split("…\n"):
        assert part.strip("\n") in golden


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file of the project."""
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    lost = [link for link in links if ":" not in link and not (page.parent / link).exists()]
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml_in_docs_is_read(page: Path) -> None:
    """Every YAML block of a page is read without a complaint."""
    from reconciler.syntax.read_text import read_text  # noqa: PLC0415 - heavy for this file

    for block in re.findall(
        r"^ *```yaml\n(.*?)^ *```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        assert read_text(block).flaws == []


@pytest.mark.promise("P52")
def test_what_assumptions_rest_on() -> None:
    """Each assumption says what it rests on, and stands where the page says it does."""
    page = (DOCS / "assumptions.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (.+?) \| (\w+) \| `([a-z_/.]+)` \| (.*)\|$", page, re.MULTILINE)
    (table,) = re.findall(r"^\| assumption \|.*\n\|[-|]+\n((?:\|.*\n)*)", page, re.MULTILINE)

    assert len(listed) == len(table.splitlines()) > 0
    assert {basis for _, basis, _, _ in listed} == {"document", "seen", "chosen"}
    assert [where for _, _, where, _ in listed if not (ROOT / "reconciler" / where).exists()] == []


@pytest.mark.promise("P52")
def test_where_the_api_stands() -> None:
    """Guide and list of assumptions tell that `basePath` is for this API under a version number."""
    for name in ("guide.md", "assumptions.md"):
        said = " ".join((DOCS / name).read_text(encoding="utf-8").split())
        assert "API under a version number" in said
        assert "basePath: /mgmt/openapi/3" in said


# In the place of what a task leaves open, one that is there.
STANDING_FOR = {"<kind>": "slo", "<command>": "completion", "<name>": "git", "<feature>": "lint"}


def test_what_contributing_names_is_there() -> None:
    """Each file that a task names is there, by its path from the root."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tasks = page.split("## Tasks")[1].split("\n## ")[0]
    for gap, one in STANDING_FOR.items():
        tasks = tasks.replace(gap, one)
    lost = [
        f"{task.splitlines()[0][:30]}: {name}"
        for task in tasks.split("\n\n**")
        for name in re.findall(r"`([\w/.-]+(?:\.(?:py|md|yml|toml|txt|jsonl)|/))`", task)
        if not (ROOT / name).exists()
    ]

    assert lost == []


def test_every_sort_of_row_is_documented() -> None:
    """CONTRIBUTING lists each sort of row, with the file that has the type of its values."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| .* \| `([\w/.]+)` \|$", page, re.MULTILINE))
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in listed.values()}
    sorts = {sort for feature in FEATURES.values() for sort in feature}

    assert set(listed) == sorts
    assert [
        sort for sort, name in listed.items() if not re.search(rf'[("]{sort}"', texts[name])
    ] == []


def test_one_list_of_each_kind_in_the_changelog() -> None:
    """A version of the changelog says each thing once, whatever was merged into it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    for version in text.split("\n## ")[1:]:
        headings = re.findall(r"^### .*$", version, re.MULTILINE)
        assert len(set(headings)) == len(headings), version.splitlines()[0]
        items = [line.rstrip(";.") for line in version.splitlines() if line.startswith("- ")]
        assert [text for text in items if items.count(text) > 1] == []
