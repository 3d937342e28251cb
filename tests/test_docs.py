"""The documentation says what is so."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import keep_evidence
import measure_docs
import pytest
from harness.doors import typed
from harness.workspaces import examples_at
from write_pages import pages, sections

from reconciler.cli.overview import COMMANDS
from reconciler.cli.schema import schemas
from reconciler.features import FEATURES
from reconciler.kinds import BY_NAME
from reconciler.project import Environment, ProjectFile

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.glob("*.md"), *ROOT.glob("*.md"), ROOT / "examples" / "README.md"))


def examples_of_commands() -> Iterator[tuple[list[str], str]]:
    """Yield the command lines of docs/commands.md in order, with the output shown, or ""."""
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    for block, shown in re.findall(
        r"```sh\n(.*?)```\n(?:\n```text\n(?!reconciler )(.*?)```)?", text, re.DOTALL
    ):
        lines = [shlex.split(line.split("  #")[0]) for line in block.splitlines()]
        typed_here = [line[1:] for line in lines if line[0] == "reconciler"]
        for line in typed_here:
            yield line, shown if line is typed_here[-1] else ""


def as_pattern(shown: str) -> str:
    """Return a pattern for an output that a page shows; `…` is left out."""
    return re.escape(shown.strip()).replace("…", ".*?")


def test_documented_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command line of docs/commands.md runs, in order, and prints what the page shows."""
    monkeypatch.chdir(examples_at(tmp_path / "shop").root)

    for arguments, shown in examples_of_commands():
        ran = typed(*arguments)
        assert ran.code == 0, (arguments, ran.err)
        both = (f"{ran.err}{ran.out}".strip(), f"{ran.out}{ran.err}".strip())
        pattern = re.compile(as_pattern(shown) or ".*", re.DOTALL)
        assert any(map(pattern.fullmatch, both)), (arguments, both[0])


def test_tables_of_the_program_are_fresh() -> None:
    """The tables that scripts/write_pages.py writes are as it writes them: run `make schemas`."""
    held = {name: (DOCS / name).read_text(encoding="utf-8") for name in pages()}

    assert held == pages()


def test_pages_that_get_read() -> None:
    """Pages by hand have at most 30,000 words in all, a page 2,500, and the README 900."""
    by_hand = {page.name: page.by_hand for page in measure_docs.pages()}

    assert sum(by_hand.values()) <= measure_docs.MOST
    assert {name for name, words in by_hand.items() if words > measure_docs.MOST_OF_A_PAGE} == set()
    assert by_hand["README.md"] <= measure_docs.MOST_OF_THE_README


def test_what_a_program_wrote_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words between the comments of a generated table, and of a generated page, are not by hand."""
    table = "<!-- t: written by scripts/write_pages.py -->\n| a | b |\n<!-- end of t -->\n"
    (tmp_path / "a.md").write_text(f"# Three words here\n\n{table}\nand four more words\n")
    (tmp_path / "b.md").write_text("# B\n\nWritten by `scripts/write_reference.py`; a test.\n")
    (tmp_path / "README.md").write_text("one\n")
    monkeypatch.setattr(measure_docs, "ROOT", tmp_path)
    monkeypatch.setattr(measure_docs, "DOCS", tmp_path)
    monkeypatch.setattr(measure_docs, "README", tmp_path / "README.md")
    monkeypatch.setattr(measure_docs, "EXAMPLES", tmp_path / "README.md")

    assert {page.name: page.by_hand for page in measure_docs.pages()} == {
        "a.md": 7,
        "b.md": 0,
        "README.md": 1,
    }


def test_evidence_has_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command printed is kept with the command, its end and its output, word for word."""
    monkeypatch.setattr(keep_evidence, "FOLDER", tmp_path)

    ended = keep_evidence.main("small", [sys.executable, "-c", "print(12); exit(3)"])

    text = (tmp_path / "small.md").read_text(encoding="utf-8")
    assert ended == 3
    assert "```text\n12\n```" in text
    assert measure_docs.is_written(text)
    assert all(part in text for part in ("print(12)", "ended with 3"))


def test_examples_are_of_commands() -> None:
    """Each command has a section in the file of examples, and no other word has one."""
    assert {*sections()} == {*COMMANDS}


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
    """Two pages say that `basePath` is for this API under a version number."""
    for name in ("manifests.md", "assumptions.md"):
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
