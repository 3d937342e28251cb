"""Rules of one name are all imported, by names that follow from what they hold."""

from __future__ import annotations

from pathlib import Path
from random import Random
from uuid import UUID

import pytest
from harness.doors import typed
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json, digest
from reconciler.features.import_ import prometheus
from reconciler.features.import_.import_sources import converted_in, records_of
from reconciler.features.import_.match_declared import with_unique_names
from reconciler.features.import_.records import Beside, Converted, ImportRecord, Left
from reconciler.workspace.expression_scope import Withheld

WARNING, CRITICAL = (str(UUID(int=number, version=4)) for number in (1, 2))
DISKS = """\
groups:
  - name: disks
    rules:
      - {alert: DiskFull, expr: disk > 0.8, labels: {severity: warning}}
      - {alert: DiskFull, expr: disk > 0.9, labels: {severity: critical}}
"""
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "alert": st.sampled_from(["DiskFull", "diskfull", "Down"]),
            "expr": st.sampled_from(["a > 1", "a > 2", "b > 1"]),
        },
        optional={
            "labels": st.dictionaries(
                st.sampled_from(["severity", "team", "area"]),
                st.sampled_from(["critical", "warning", "a", "A", "!", "{{ $value }}"]),
            )
        },
    ).map(lambda rule: {**rule, "labels": rule.get("labels", {})}),
    min_size=1,
    max_size=6,
)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "rules.yaml").write_text(DISKS)
    monkeypatch.chdir(tmp_path / "shop")
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: x.db}}}\n")


def imported(*ids: str) -> tuple[int, set[str], str]:
    """Return the exit code, what was imported, and what was said."""
    given = [word for id_ in ids for word in ("--id", id_)]
    made = typed("import", "--from", "../rules.yaml", *given, "--format", "json")
    return made.code, {value["ref"] for value in made.json["imported"]}, made.err


@pytest.mark.promise("S3")
@pytest.mark.parametrize("label", ["{}", "severity={}"])
def test_two_severities(label: str) -> None:
    """Two rules of one name are two manifests, named and given their ids by their severities."""
    ids = [
        f"DiskFull[{label.format(severity)}]={given}"
        for severity, given in (("warning", WARNING), ("critical", CRITICAL))
    ]

    code, refs, said = imported(*ids)

    assert code == 0, said
    assert refs == {"AlertDefinition/diskfull-warning", "AlertDefinition/diskfull-critical"}
    assert f"id: {CRITICAL}" in Path("AlertDefinition/diskfull-critical.yaml").read_text()
    assert "threshold: 0.9" in Path("AlertDefinition/diskfull-critical.yaml").read_text()


@pytest.mark.promise("S3")
def test_one_id_for_two() -> None:
    """An id by the name of two rules is for neither, and both are named as they can have one."""
    code, refs, said = imported(f"DiskFull={CRITICAL}")

    assert (code, refs) == (3, set())
    assert "`DiskFull[warning]`, `DiskFull[critical]`" in said
    assert "--id 'DiskFull[critical]=ID'" in said


@pytest.mark.promise("S3")
def test_one_id_of_two() -> None:
    """A rule that is left out for want of an id is named, and the import ends with 3."""
    code, refs, said = imported(f"DiskFull[critical]={CRITICAL}")

    assert (code, refs) == (3, {"AlertDefinition/diskfull-critical"})
    assert "AlertDefinition `DiskFull[warning]`" in said


@pytest.mark.promise("S3")
@pytest.mark.parametrize("named", [("x", "y"), ("team=x", "team=y")])
def test_two_files_and_groups(named: tuple[str, str]) -> None:
    """Rules of one name in two groups and two files are told apart by the label that differs."""
    rule = "{alert: DiskFull, expr: disk > 0.8, labels: {severity: page, team: TEAM}}"
    of_x = f"groups: [{{name: a, rules: []}}, {{name: b, rules: [{rule.replace('TEAM', 'x')}]}}]\n"
    Path("../rules.yaml").write_text(of_x)
    Path("../other.yaml").write_text(of_x.replace("team: x", "team: y"))
    ids = (
        f"DiskFull[{one}]={given}" for one, given in zip(named, (WARNING, CRITICAL), strict=True)
    )

    made = typed(
        "import", "--from", "../rules.yaml", "../other.yaml", *(w for i in ids for w in ("--id", i))
    )

    assert made.code == 0, made.err
    assert f"id: {WARNING}" in Path("AlertDefinition/diskfull-x.yaml").read_text()
    assert f"id: {CRITICAL}" in Path("AlertDefinition/diskfull-y.yaml").read_text()


@pytest.mark.promise("S3")
def test_quietly() -> None:
    """A quiet import names the rule that it left out, and nothing that it only left parts of."""
    given = f"DiskFull[critical]={CRITICAL}"
    made = typed("import", "-q", "--from", "../rules.yaml", "--id", given)

    assert made.code == 3
    assert [line.partition(" (")[0] for line in made.err.splitlines()] == [
        "not imported: AlertDefinition `DiskFull[warning]`"
    ]


@pytest.mark.promise("S3")
def test_one_id_twice() -> None:
    """An id that is given to two rules is for neither."""
    code, refs, said = imported(f"DiskFull[critical]={CRITICAL}", f"DiskFull[warning]={CRITICAL}")

    assert (code, refs) == (4, set())
    assert "to `DiskFull[warning]` too" in said


@pytest.mark.promise("S3")
def test_whole_rules_and_parts() -> None:
    """An import ends with 3 where a rule is left out whole, and with 0 where only parts are."""
    rules = Path("../rules.yaml")
    parts = "groups: [{name: a, rules: [{alert: A, expr: a > 1, keep_firing_for: 1h}]}]\n"
    rules.write_text(parts)
    with_parts = imported(f"A={WARNING}")
    rules.write_text(parts.replace("]}]", ', {alert: B, expr: \'{a="b"} |= "c"\'}]}]'))
    with_rule = imported(f"A={WARNING}")

    assert (with_parts[0], "keep_firing_for" in with_parts[2]) == (0, True)
    assert (with_rule[0], "not imported: alert `B`" in with_rule[2]) == (3, True)


def document_of(rules: list[Json]) -> Json:
    """Return rules as a file of one group."""
    return {"groups": [{"name": "g", "rules": rules}]}


@pytest.mark.promise("S3")
@given(RULES, st.randoms(use_true_random=False))
def test_any_order(rules: list[Json], random: Random) -> None:
    """The same rules in any order have the same names, and no two rules have the same one."""
    shuffled = [*rules]
    random.shuffle(shuffled)

    names = []
    for some in (rules, shuffled):
        made = prometheus.convert(document_of(some), "f").made
        given = with_unique_names(made, {}, set())[0]
        names.append(
            {
                converted.digest + converted.name: mine.handle
                for converted, mine in zip(made, given, strict=True)
                if not mine.is_twin
            }
        )

    assert names[0] == names[1]
    assert len({*names[0].values()}) == len({digest(rule) for rule in rules})


@pytest.mark.promise("S3")
@given(RULES)
def test_no_rule_is_dropped(rules: list[Json]) -> None:
    """Each rule that has an id of its own is a record of that id, and a rule twice is named."""
    pieces = [*(converted_in(document_of(rules), "f", Beside()) or ())]
    foreign = [piece for piece in pieces if isinstance(piece, Converted)]
    each = with_unique_names(foreign, {}, set())[0]
    ids = {
        mine.handle: str(UUID(int=n, version=4)) for n, mine in enumerate(each) if not mine.is_twin
    }
    found = [*records_of(foreign, Withheld(), Beside(ids=ids))]
    records = [record for record in found if isinstance(record, ImportRecord)]
    twins = [left for left in found if isinstance(left, Left) and "twice" in left.why]

    assert len(records) == len({digest(rule) for rule in rules})
    assert {record.remote_id for record in records} <= {*ids.values()}
    assert len({record.remote_id for record in records}) == len(records)
    assert len(records) + len(twins) == len(rules)
