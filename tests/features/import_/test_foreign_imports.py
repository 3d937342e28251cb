"""Documents of other tools on their way to manifests, through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.foreign_documents import BOARD, RULES, SLO
from harness.golden import Golden

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of a project on an emulator, beside one with documents of other tools."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: x.db}}}\n")
    (tmp_path / "other" / "slo.yaml").write_text(SLO)
    (tmp_path / "other" / "rules.yaml").write_text(RULES)
    (tmp_path / "other" / "board.json").write_text(json.dumps({"dashboard": BOARD, "meta": {}}))
    return tmp_path / "shop"


def left(document: Any) -> list[str]:
    """Give what was skipped."""
    return [value["what"] for value in document["skipped"]]


@pytest.mark.usefixtures("home")
def test_other_tools_become_manifests() -> None:
    """All three are told apart; what they become plans and applies, and is kept then."""
    made = typed("import", "--from", "../other", "--id", f"HighErrors={ALERT}", "--format", "json")
    planned = typed("plan", "--format", "json").json
    applied = typed("apply", "--yes")
    again = typed("plan", "--format", "json").json

    assert made.code == 3, made.err
    assert {value["ref"] for value in made.json["imported"]} == {
        "AlertDefinition/higherrors",
        "Dashboard/shop",
        "SLO/checkout-succeeds",
    }
    assert any("NoData" in one for one in left(made.json))
    assert any("recording rules" in one for one in left(made.json))
    assert "--id 'NoData=ID'" in made.err
    # The service was seen to hold none of it, so nothing is kept before the first apply.
    assert (planned["summary"]["keep"], planned["summary"]["assert"]) == (0, 1)
    assert applied.code == 0, applied.err
    assert again["summary"]["keep"] == 3


def test_what_is_left_behind_stands_in_the_manifest(home: Path, golden: Golden) -> None:
    """A manifest says above its content what was not taken over, and still is valid."""
    typed("import", "--from", "../other/board.json")
    text = (home / "Dashboard" / "shop.yaml").read_text(encoding="utf-8")

    golden("\n".join(line for line in text.splitlines() if line.startswith("#")))
    assert "# - panel `Rate`: transformations:" in text
    assert typed("validate").code == 0


@pytest.mark.usefixtures("home")
def test_the_same_again() -> None:
    """Importing the same again writes nothing, and is no error."""
    typed("import", "--from", "../other/slo.yaml", "../other/board.json")
    again = typed(
        "import", "--from", "../other/slo.yaml", "../other/board.json", "--format", "json"
    )

    assert (again.code, again.json["imported"]) == (0, []), again.err


@pytest.mark.usefixtures("home")
def test_an_id_that_is_none(golden: Golden) -> None:
    """An id that no alert can have is refused, and the rest is told."""
    made = typed("import", "--from", "../other/rules.yaml", "--id", "HighErrors=7")

    assert made.code == 3
    golden(made.err)


@pytest.mark.usefixtures("home")
def test_an_id_of_nothing(golden: Golden) -> None:
    """An id of a name that no document has is refused with the nearest name."""
    made = typed("import", "--from", "../other/slo.yaml", "--id", f"Nope={ALERT}")
    slip = typed("import", "--from", "../other/rules.yaml", "--id", f"HighErors={ALERT}")

    assert (made.code, slip.code) == (4, 3)
    golden(made.err)
    golden(slip.err)


@pytest.mark.usefixtures("home")
def test_ids_that_fit_in_several_places() -> None:
    """An id that fits in one of several files is not complained of."""
    given = ("--id", f"HighErrors={ALERT}")
    made = typed("import", "--from", "../other/slo.yaml", "../other/rules.yaml", *given)

    assert "--id `HighErrors`" not in made.err


def test_documents_inside_the_project(home: Path, golden: Golden) -> None:
    """A document of another tool declares nothing, and where it is read as a manifest is told."""
    (home / "ext").mkdir()
    named_alike = SLO.replace("name: checkout,", "name: checkout-succeeds,")
    (home / "ext" / "slo.yaml").write_text(named_alike)
    (home / "ext" / "rules.yaml").write_text(RULES)

    inside = typed("import", "--from", "ext", "--dry-run", "--format", "json")
    project = home / "reconciler.yaml"
    project.write_text(f"{project.read_text()}exclude: [ext/**]\n")
    left_out = typed("import", "--from", "ext", "--format", "json")

    assert [value["ref"] for value in inside.json["imported"]] == ["SLO/checkout-succeeds"]
    assert "declared at" not in inside.err
    assert inside.err.count("`exclude:` in reconciler.yaml") == 1
    golden(inside.err)
    assert [value["ref"] for value in left_out.json["imported"]] == ["SLO/checkout-succeeds"]
    assert "exclude:" not in left_out.err
    assert typed("validate").code == 0


def test_manifests_among_exports(home: Path) -> None:
    """A manifest of ours is not told to be in the wrong place."""
    typed("import", "--from", "../other/slo.yaml")

    again = typed("import", "--from", str(home / "SLO"))

    assert "exclude:" not in again.err


@pytest.mark.parametrize(
    ("change", "files"),
    [
        (("", ""), 1),
        (("increase(all", "increase(others"), 2),
    ],
)
def test_two_of_one_name(home: Path, change: tuple[str, str], files: int) -> None:
    """What another tool calls alike is one where it is the same, and else told apart for good."""
    other = SLO.replace(*change) if change[0] else SLO
    (home.parent / "other" / "slo.yaml").write_text(f"{SLO.rstrip()}\n---\n{other}")

    made = typed("import", "--from", "../other/slo.yaml", "--format", "json")
    before = {path: path.read_bytes() for path in home.rglob("SLO/*")}
    again = typed("import", "--from", "../other/slo.yaml", "--format", "json")

    assert (made.code, again.code) == (0, 0), made.err
    assert len(made.json["imported"]) == len(before) == files
    assert again.json["imported"] == []
    assert {path: path.read_bytes() for path in home.rglob("SLO/*")} == before
    assert typed("validate").code == 0
