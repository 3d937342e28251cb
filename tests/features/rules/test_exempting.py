"""`metadata.exempt`: what a manifest is exempted from, and until when. docs/manifests.md."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from harness.workspaces import SLO, project_at
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import day_of
from reconciler.model import Exemption
from reconciler.workspace.envelope import read_exemptions
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspace

TODAY = date(2026, 6, 15)
DAYS = st.dates(date(2000, 1, 1), date(2100, 1, 1))
EXEMPT = "{name: checkout, exempt: {M304: legacy, M307: {reason: old, until: 2026-06-15}}}"


def test_exemptions_land_on_the_manifest(tmp_path: Path) -> None:
    """A manifest has its exemptions by code, each with its reason and its last day."""
    file = tmp_path / "checkout.yaml"
    file.write_text(SLO.replace("{name: checkout}", EXEMPT))

    loaded = load_workspace([file], tmp_path, Scope("local", today=TODAY))

    assert loaded.complaints == ()
    assert loaded.manifests[0].exempt == {
        "M304": Exemption("legacy"),
        "M307": Exemption("old", TODAY),
    }


def test_an_exemption_is_no_part_of_what_is_declared(tmp_path: Path) -> None:
    """A plan has the same digest with an exemption and without."""
    workspace = project_at(tmp_path, slo=SLO)
    before = workspace.run("plan", "--format", "json").json

    exempted = SLO.replace("{name: checkout}", "{name: checkout, exempt: {M304: legacy}}")
    (tmp_path / "slo.yaml").write_text(exempted)

    assert workspace.run("plan", "--format", "json").json == before


@given(until=DAYS)
def test_an_exemption_holds_up_to_its_last_day(until: date) -> None:
    """`until` is the last day of an exemption; from the next on it is warned of, and is none."""
    held: dict[str, Exemption] = {}

    told = [*read_exemptions({"M304": {"reason": "x", "until": str(until)}}, (), TODAY, held)]

    assert ("M304" in held) == (until >= TODAY)
    assert [finding.code for finding in told] == ([] if until >= TODAY else ["M211"])


def test_a_rule_can_be_exempted_by_its_name() -> None:
    """`R/name` is a code where the project has the rule, and only there."""
    held: dict[str, Exemption] = {}

    told = [*read_exemptions({"R/owner": "x", "R/ownr": "x"}, ("owner",), TODAY, held)]

    assert "R/owner" in held
    assert [(finding.code, finding.suggestion) for finding in told] == [("M210", "R/owner")]


@given(day=DAYS)
def test_a_day_is_read_in_one_form(day: date) -> None:
    """A day is read as the calendar writes it, and never guessed."""
    assert day_of(day.isoformat()) == day
    assert day_of(day.strftime("%d.%m.%Y")) is None
    assert day_of(int(day.strftime("%Y%m%d"))) is None
    assert day_of((day + timedelta(days=1)).isoformat()) != day
