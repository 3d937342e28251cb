"""What a file of exports holds besides one document: a list of them, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.foreign_documents import SLO, yaml

from reconciler.document import Json
from reconciler.features.import_ import grafana
from reconciler.features.import_.records import Converted


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: x.db}}}\n")


@pytest.mark.promise("S6")
@pytest.mark.parametrize("form", ["list", "items", "documents"])
@pytest.mark.parametrize("is_first", [True, False])
def test_an_indicator_in_a_list(form: str, *, is_first: bool) -> None:
    """An SLO finds its indicator in the list that both are in, as in documents of one file."""
    slo: Any = yaml(SLO)
    indicator = {"apiVersion": "openslo/v1", "kind": "SLI", **slo["spec"].pop("indicator")}
    slo["spec"]["indicatorRef"] = "ratio"
    both = [indicator, slo] if is_first else [slo, indicator]
    text = {
        "list": json.dumps(both),
        "items": json.dumps({"kind": "List", "items": both}),
        "documents": "\n---\n".join(map(json.dumps, both)),
    }[form]
    Path("../other/slo.yaml").write_text(text)

    made = typed("import", "--from", "../other", "--format", "json")

    assert (made.code, [value["ref"] for value in made.json["imported"]]) == (
        0,
        ["SLO/checkout-succeeds"],
    ), made.err


@pytest.mark.promise("S63")
@pytest.mark.parametrize("text", ["", "\n", "# Nothing yet.\n", "---\n", "null\n"])
@pytest.mark.parametrize("beside", [True, False])
def test_an_empty_file(text: str, *, beside: bool) -> None:
    """A file without a document is named in a warning, among good exports and alone."""
    Path("../other/empty.yaml").write_text(text)
    if beside:
        Path("../other/slo.yaml").write_text(SLO)

    made = typed("import", "--from", "../other", "--format", "json")

    (said,) = (
        value for value in made.json["skipped"] if value["what"].endswith("other/empty.yaml")
    )
    assert (made.code, len(made.json["imported"])) == (0, int(beside))
    assert "M113" in said["why"]
    assert "other/empty.yaml: warning:" in made.err


@pytest.mark.promise("S5")
@pytest.mark.parametrize(
    ("source", "is_chart", "said"),
    [
        ("Metrics of Europe", True, "its source `Metrics of Europe` has only a name"),
        ("Prometheus", True, ""),
        ({"type": "grafana-odd-datasource"}, False, "it asks grafana-odd-datasource: only PromQL"),
    ],
)
def test_a_source_of_an_unknown_name(source: Json, said: str, *, is_chart: bool) -> None:
    """A source that has only a name is taken for Prometheus; one of another kind is the reason."""
    panel: Json = {
        "type": "timeseries",
        "title": "Up",
        "datasource": source,
        "targets": [{"refId": "A", "expr": "up"}],
    }
    made: Converted
    (made,) = grafana.convert({"schemaVersion": 39, "panels": [panel]}, "f").made
    left = "\n".join(f"{left_behind.what}: {left_behind.why}" for left_behind in made.left_behind)

    assert ("lineChart" in json.dumps(made.spec)) is is_chart
    assert said in left


def test_unit_tests_of_rules() -> None:
    """A file of unit tests next to rules is named as not taken, and is no failure."""
    Path("../other/rules_test.yaml").write_text(
        "rule_files: [rules.yaml]\nevaluation_interval: 1m\ntests: [{interval: 1m}]\n"
    )
    Path("../other/slo.yaml").write_text(SLO)

    made = typed("import", "--from", "../other", "--format", "json")

    assert made.code == 0, made.err
    assert [left for left in made.json["skipped"] if "rules_test.yaml" in str(left)]
