"""`import` with secrets, odd ids and odd places: nothing leaks, and nothing is half done."""

from __future__ import annotations

from typing import Any

import pytest
from harness.golden import Golden
from harness.workspaces import Shop
from test_import import BOARD, SLOS, actions, change, export, files

TOK = "oldsecret-AAAA-1111"
NAMING = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: named}
spec:
  name: Named
  searchQuery: {query: "${secret:TOK}"}
  timeSelection: {quickSelection: {seconds: 900}}
"""


def view(**more: Any) -> dict[str, Any]:
    """Give an export of a saved view."""
    return {
        "id": 71,
        "name": "W",
        "timeSelection": {"quickSelection": {"seconds": 900}},
        **more,
    }


@pytest.fixture
def secret(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Give a project one manifest of which names a secret that is set."""
    monkeypatch.setenv("TOK", TOK)
    shop.write("manifests/named.yaml", NAMING)
    return shop


def written(shop: Shop) -> str:
    """Give all that stands in the project but the export."""
    return "".join(
        text.decode() for name, text in files(shop).items() if not name.startswith("export")
    )


def test_known_secret_is_named(secret: Shop) -> None:
    """A value of a secret becomes its expression, inside a text too; the next plan keeps it."""
    export(secret, "export.json", view(searchQuery={"query": f"pw={TOK} x"}))

    ran = secret.run("import", "--from", "export.json")

    assert ran.code == 0, ran.err
    assert "pw=${secret:TOK} x" in (secret.root / ran.out.strip()).read_text()
    assert "${secret:TOK sha256:" in (secret.root / ".reconciler/local.journal.jsonl").read_text()
    assert TOK not in written(secret) + ran.err + ran.out
    assert actions(secret)["SavedView/w"] == "keep"
    before = written(secret)
    assert secret.run("import", "--from", "export.json").code == 0
    assert written(secret) == before


@pytest.mark.parametrize(
    "odd",
    [
        {"filters": {TOK: ["x"]}},
        {"name": f"My {TOK}"},
        {"searchQuery": {"query": f"${TOK}"}},
        {"searchQuery": {"query": TOK.encode().hex()}},
    ],
)
def test_secret_where_none_can_stand(secret: Shop, odd: dict[str, Any]) -> None:
    """In a name, a key or another spelling it is refused without the value; others come."""
    export(secret, "export.json", view(**odd))
    export(secret, "export2.json", {**view(name="Good"), "id": 72})

    ran = secret.run("import", "--from", "export.json", "export2.json", "--format", "json")

    assert (ran.code, [value["ref"] for value in ran.json["imported"]]) == (4, ["SavedView/good"])
    assert TOK not in written(secret) + ran.err + ran.out


@pytest.mark.parametrize("extra", [(), ("--keep-json",)])
def test_secret_in_a_dashboard(secret: Shop, extra: tuple[str, ...]) -> None:
    """JSON that stays beside its manifest holds no secret either."""
    board = {"name": "Board", "description": f"at {TOK}", "layout": {"sections": []}}
    export(secret, "export.json", {"dashboard": board})

    ran = secret.run("import", "--from", "export.json", *extra)

    assert ran.code == 0, ran.err
    assert "at ${secret:TOK}" in written(secret)
    assert TOK not in written(secret) + ran.err + ran.out
    assert secret.run("validate").code == 0


def test_secret_that_is_not_set(secret: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that nobody set stops no import."""
    monkeypatch.delenv("TOK")
    export(secret, "export.json", view())

    assert secret.run("import", "--from", "export.json").code == 0


def native(number: int) -> dict[str, Any]:
    """Give a dashboard without id, one of several of one title."""
    return {"dashboard": {"name": "G", "description": f"{number}", "layout": {"sections": []}}}


def grafana(number: int) -> dict[str, Any]:
    """Give a dashboard of another tool, one of several of one title."""
    return {"title": "G", "schemaVersion": 39, "tags": [f"t{number}"], "panels": []}


def objective(number: int) -> dict[str, Any]:
    """Give an SLO without id, one of several of one name."""
    return {
        "name": "G",
        "description": f"{number}",
        "targetThresholdPercentage": 99.9,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "a"}},
    }


@pytest.mark.parametrize("one", [native, objective, grafana])
@pytest.mark.parametrize("first", [1, 2])
def test_twins_again(shop: Shop, one: Any, first: int) -> None:
    """Things of one title without ids are imported once, together or one of them at first."""
    names = [export(shop, f"export{number}.json", one(number)).name for number in (1, 2, 3)]
    one_name = [*names[:first]]
    assert shop.run("import", "--from", *one_name).code == 0
    before = files(shop)

    again = [shop.run("import", "--from", *one_name) for _ in range(2)]

    assert [ran.code for ran in again] == [0, 0], again[0].err
    assert files(shop) == before
    shop.run("import", "--from", *names)
    before = files(shop)
    assert shop.run("import", "--from", *names).out == ""
    assert files(shop) == before


@pytest.mark.parametrize("one", [native, objective])
def test_a_title_that_is_declared_with_other_content(shop: Shop, one: Any) -> None:
    """Nothing tells whether it is the same: exit 4, the twin is named, and nothing written."""
    first, second = (export(shop, f"export{number}.json", one(number)).name for number in (1, 2))
    written = shop.run("import", "--from", first).out
    before = files(shop)

    ran = shop.run("import", "--from", second)

    assert (ran.code, ran.out) == (4, "")
    assert written.strip() in ran.err
    assert files(shop) == before


def test_id_that_no_manifest_holds(shop: Shop, golden: Golden) -> None:
    """What a manifest cannot be read back with is refused by name; others are imported."""
    change(shop, "dashboards", {"id": "x y"})

    live = shop.run("import", "dashboard", "checkout")
    good = shop.run("import", "slo", SLOS[0])

    assert (live.code, live.out, good.code) == (4, "", 0), live.err
    golden(live.err)
    assert shop.run("validate").code == 0


@pytest.mark.parametrize("to", ["other", "manifests/old", "manifests/ignored"])
def test_nobody_looks_there(shop: Shop, to: str) -> None:
    """A folder where no manifest is looked for is refused, and nothing is written."""
    settings = shop.root / "reconciler.yaml"
    settings.write_text(f"{settings.read_text()}exclude: [manifests/old]\n")
    shop.write("manifests/.gitignore", "ignored/\n")
    before = files(shop)

    ran = shop.run("import", "slo", SLOS[0], "--to", to)

    assert (ran.code, to in ran.err) == (64, True)
    assert files(shop) == before
    assert not (shop.root / to).exists()


def test_no_slug_is_kept(shop: Shop) -> None:
    """A dashboard that has no slug at the service keeps none."""
    change(shop, "dashboards", {"slugName": ""})

    assert shop.run("import", "dashboard", BOARD).code == 0

    assert set(actions(shop).values()) == {"keep"}


def test_folder_in_other_capitals(shop: Shop) -> None:
    """A folder of the kind's name is used, whatever its capitals."""
    (shop.root / "manifests" / "slo").mkdir()

    ran = shop.run("import", "slo", SLOS[0])

    assert ran.out.startswith("manifests/slo/")
    assert not (shop.root / "manifests" / "SLO").exists()
