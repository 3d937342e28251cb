"""Laws of `audit`: what is found, what is not, and what is never said without evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.companies import declare
from harness.doors import Ran, typed
from harness.explained import explained, manifest_of
from harness.happenings import Happenings, happenings_at
from harness.workspaces import PROJECT, Shop, Workspace, project_at

from reconciler.emulator import Fault, Faults, Rule
from reconciler.features.audit.command import hygiene_of
from reconciler.kinds import BY_NAME
from reconciler.syntax.diagnostic import AUDITED

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
ANOTHER = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4aff"
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
CHECKS = sorted(check.code for kind in BY_NAME for check in hygiene_of(kind))
WRONG = {code: manifest_of(explained(code).wrong) for code in CHECKS}
RIGHT = {code: manifest_of(explained(code).right) for code in CHECKS}

Plant = Callable[[Happenings], None]


def fired_on(days: int, of: int = 14) -> Plant:
    """Let the alert fire once on so many days, in a span that is covered."""

    def plant(happened: Happenings) -> None:
        happened.fire(ANOTHER, of * DAY - HOUR)
        for day in range(days):
            happened.fire(ALERT, day * DAY + 2 * HOUR)

    return plant


def over_after(*seconds: int) -> Plant:
    """Let the alert fire so often, each time for so long."""

    def plant(happened: Happenings) -> None:
        for day, second in enumerate(seconds, 1):
            happened.fire(ALERT, day * DAY, lasted=timedelta(seconds=second))

    return plant


def opened(days: int) -> Plant:
    """Open an incident of the alert so long ago."""
    return lambda happened: happened.open(ALERT, days * DAY)


def nothing(_: Happenings) -> None:
    """Let nothing happen."""


WHERE: dict[str, tuple[Plant, Plant]] = {
    "A101": (fired_on(0), fired_on(1)),
    "A102": (fired_on(13), fired_on(12)),
    "A103": (opened(15), opened(13)),
    "A104": (over_after(40, 50, 600), over_after(40, 61, 600)),
    "A105": (fired_on(1), fired_on(1)),
    "A106": (fired_on(1), fired_on(1)),
    "A107": (nothing, nothing),
    "A108": (nothing, nothing),
    "A109": (nothing, nothing),
    "A201": (nothing, nothing),
    "A301": (fired_on(1), fired_on(1)),
}
"""What happens for the wrong and the right example of each check."""

NEARLY = {
    "A105": WRONG["A105"],
    "A106": WRONG["A106"],
}
"""What is wrong, and was still not met: nothing fired."""


def audited(
    root: Path, manifests: str, plant: Plant, *flags: str, applied: int | None = None
) -> Any:
    """Audit manifests of a project, applied so many days ago where that is given."""
    work = project_at(root, f"checks: {{A109: warning}}\n{PROJECT}", all=manifests)
    if applied is not None or "kind: LogPolicySet" in manifests:
        assert work.apply().code == 0
    if applied is not None:
        _age(work, applied)
    with happenings_at(root / ".reconciler" / "local.db") as happened:
        plant(happened)
    ran = work.run("audit", "--days", "14", "--format", "json", *flags)
    assert ran.code == 0, ran.err
    return ran.json


def _age(work: Workspace, days: int) -> None:
    """Say in the journal that all of it happened days ago, in a journal of its own sums."""
    from harness.stores import journal_at  # noqa: PLC0415 - for this alone

    file = work.root / ".reconciler" / "local.journal.jsonl"
    old = journal_at(file, environment="local", target="emulator")
    old.load()
    entries = [*old.entries]
    file.unlink()
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    new = journal_at(file, environment="local", target="emulator")
    new.load()
    with new.locked("earlier"):
        new.append([_at(entry, at.replace("+00:00", "Z")) for entry in entries])


def _at(entry: Any, at: str) -> Any:
    from dataclasses import replace  # noqa: PLC0415 - for this alone

    return replace(entry, at=at)


def codes(audit: Any) -> set[str]:
    """Give the codes that were found."""
    return {finding["code"] for finding in audit["findings"]}


def test_every_check_has_its_examples() -> None:
    """Each code of an audit is one check, whose examples are tried here."""
    assert CHECKS == sorted(AUDITED) == sorted(WHERE)


@pytest.mark.parametrize("code", sorted(WHERE))
def test_what_is_wrong_is_found(code: str, tmp_path: Path) -> None:
    """The wrong example of a check is found where what makes it so happened."""
    applied = 31 if code == "A108" else None
    found = audited(tmp_path, WRONG[code], WHERE[code][0], applied=applied)

    assert code in codes(found), found["notJudged"]


@pytest.mark.parametrize("code", sorted(WHERE))
def test_what_is_right_is_not_found(code: str, tmp_path: Path) -> None:
    """The right example, which is nearly wrong, is judged and not found."""
    applied = 29 if code == "A108" else None
    found = audited(tmp_path, RIGHT[code], WHERE[code][1], applied=applied)

    assert code not in codes(found)
    assert code not in {value for left in found["notJudged"] for value in left["codes"]}


@pytest.mark.parametrize("code", sorted(NEARLY))
def test_what_did_not_fire_is_not_blamed(code: str, tmp_path: Path) -> None:
    """An alert that tells nobody, or leads nowhere, is let be while it does not fire."""
    assert code not in codes(audited(tmp_path, NEARLY[code], fired_on(0)))


def test_a_young_alert_is_not_silent(tmp_path: Path) -> None:
    """An alert that was first applied within the span is not said to have never fired."""
    young = audited(tmp_path / "a", WRONG["A101"], fired_on(0), applied=3)
    grown = audited(tmp_path / "b", WRONG["A101"], fired_on(0), applied=30)

    assert "A101" not in codes(young)
    assert "A101" in codes(grown)


def test_a_span_that_is_not_covered(tmp_path: Path) -> None:
    """Where no event is as old as the span, nothing is said to have never fired in it."""
    found = audited(tmp_path, WRONG["A101"], lambda it: it.fire(ANOTHER, 5 * DAY))

    assert "A101" not in codes(found)
    assert ["A101"] in [value["codes"] for value in found["notJudged"]]
    assert found["span"]["complete"] is False


def test_an_older_event_covers_the_span(tmp_path: Path) -> None:
    """An event from before the span proves that all of it is kept, quiet as it was."""
    found = audited(tmp_path, WRONG["A101"], lambda it: it.fire(ANOTHER, 40 * DAY))

    assert "A101" in codes(found)
    assert found["span"]["complete"] is True


def test_events_that_name_no_alert(tmp_path: Path) -> None:
    """While one event names no alert, it may be of any, so none is said to have never fired."""

    def plant(happened: Happenings) -> None:
        happened.fire(ANOTHER, 14 * DAY - HOUR)
        happened.fire("", DAY)

    found = audited(tmp_path, WRONG["A101"], plant)

    assert "A101" not in codes(found)


EVENTS, INCIDENTS, POLICIES = "*/alert-events", "*/incidents/v1", "*/bulkTestLog"
FAULTS: dict[str, Fault] = {
    "forbidden": Fault(status=403, body='{"code": 403, "message": "not yours"}'),
    "broken": Fault(status=500),
    "missing": Fault(status=404, body='{"code": 5, "message": "Not Found"}'),
    "nonsense": Fault(body="<html>", html=True),
    "cut": Fault(body='{"events": [], "incidents": [], "pagination": {"totalSize": 9}}'),
    "endless": Fault(
        body='{"events": [], "incidents": [], "pagination": {"nextPageToken": "x"}}',
    ),
}
RESTS = {
    EVENTS: {"A101", "A102", "A104", "A105", "A106", "A301"},
    INCIDENTS: {"A103"},
    POLICIES: {"A301"},
}
TABLE = [
    *((EVENTS, name) for name in FAULTS),
    # All listings are read by the same code.
    *((INCIDENTS, name) for name in ("forbidden", "cut")),
    *((POLICIES, name) for name in ("forbidden", "nonsense")),
]


@pytest.fixture
def company(shop: Shop) -> Shop:
    """Give the seeded company with its manifests."""
    declare(shop)
    return shop


def run(shop: Shop, *flags: str) -> Ran:
    """Audit the company over the days that it is old."""
    return shop.run("audit", "--days", "27", *flags)


WHOLE: set[str] = set()
"""The codes of the company's audit where all is told; filled by the first test that needs it."""


@pytest.mark.parametrize(("path", "name"), TABLE)
def test_nothing_rests_on_what_was_not_told(path: str, name: str, company: Shop) -> None:
    """Whatever becomes of a listing, what rests on it is not judged, and nothing of it is found."""
    if not WHOLE:
        WHOLE.update(codes(run(company, "--format", "json").json))
    company.options["faults"] = Faults(rules=[Rule(path=path, fault=FAULTS[name])])
    ran = run(company, "--format", "json")

    assert ran.code == 0, ran.err
    left = {value for lacking in ran.json["notJudged"] for value in lacking["codes"]}
    assert RESTS[path] <= left
    assert codes(ran.json) == WHOLE - left
    assert WHOLE & RESTS[path]


def test_a_service_that_tells_nothing(company: Shop) -> None:
    """Where nothing at all is told, the audit ends as every run without a service does."""
    company.options["faults"] = Faults(rules=[Rule(fault=Fault(status=503))])

    assert run(company).code == 9


def test_a_key_that_is_refused(company: Shop) -> None:
    """A key that the service does not take ends the audit, and is no lack of events."""
    company.options["faults"] = Faults(rules=[Rule(fault=Fault(status=401))])

    assert run(company).code == 10


def test_an_audit_reads_only(company: Shop) -> None:
    """An audit sends reads and questions alone, and pages each listing once."""
    ran = run(company, "--format", "json")
    posts = {path for method, path in company.asked if method != "GET"}

    assert posts <= {"/incidents/incidents/v1", "/dataplans/policies/v1/bulkTestLog"}
    assert ran.json["requests"] == len(company.asked)
    pages = -(-ran.json["events"] // 100)
    assert company.count("GET", "/alerts/events/v3/alert-events") == max(1, pages) + 1


def test_requests_are_told(company: Shop) -> None:
    """With -v the audit says how many requests it made."""
    told = run(company, "-v", "--format", "json")

    assert f"{told.json['requests']} requests" in told.err


def test_fail_on(company: Shop) -> None:
    """Findings end with 2 only where that is asked for, by their level."""
    assert [run(company, *flags).code for flags in ((), ("--fail-on", "error"))] == [0, 0]
    assert run(company, "--fail-on", "warning").code == 2

    company.settle("checks: {A102: error}\n" + (company.root / "reconciler.yaml").read_text())
    assert run(company, "--fail-on", "error").code == 2


def test_levels_silence(company: Shop) -> None:
    """A check that is off finds nothing, and is not among what was not judged."""
    off = ", ".join(f"{code}: off" for code in AUDITED if code != "A102")
    company.settle(f"checks: {{{off}}}\n" + (company.root / "reconciler.yaml").read_text())
    found = run(company, "--format", "json").json

    assert codes(found) == {"A102"}
    assert found["notJudged"] == []


def test_comments_and_exemptions_silence(tmp_path: Path) -> None:
    """A finding at an ignoring comment, or of an exempt manifest, is counted and not told."""
    told = WRONG["A105"]
    head = "  name: Checkout errors"
    by_comment = told.replace(head, f"{head} # reconciler: ignore[A105] it is read by a robot")
    by_exemption = told.replace("{name:", "{exempt: {A105: it is read by a robot}, name:")
    for number, manifest in enumerate((by_comment, by_exemption)):
        found = audited(tmp_path / str(number), manifest, fired_on(1))
        assert "A105" not in codes(found)
        assert found["ignored"] == 1


def test_validate_knows_what_audit_is_told(workspace: Workspace) -> None:
    """A comment that silences an audit is no idle one to `validate`, which asks nothing."""
    head = "  name: Checkout errors"
    told = WRONG["A105"].replace(head, f"{head} # reconciler: ignore[A105] a robot reads it")
    workspace.write("all.yaml", told)

    assert "M117" not in workspace.run("validate").out


def test_a_selection_is_judged_among_all(company: Shop) -> None:
    """A selection is judged beside all manifests, and only what is selected is told."""
    found = run(company, "--select", "kind=SLO", "--format", "json").json

    assert codes(found) == {"A201"}
    assert {finding["ref"] for finding in found["findings"]} == {"SLO/searches-answer-fast"}


HOSTILE = "\x1b[31m`<script>alert(1)</script>|\u202e::error ::x\n[a](b)@team"


@pytest.mark.parametrize("form", ["text", "json", "sarif", "markdown", "html"])
def test_hostile_words_of_a_service(form: str, company: Shop) -> None:
    """What a service says of a refusal reaches no output as it came."""
    from harness.unsafe_text import unsafe_in  # noqa: PLC0415 - for this alone

    body = json.dumps({"code": 403, "message": HOSTILE})
    refused = Rule(path=EVENTS, fault=Fault(status=403, body=body))
    company.options["faults"] = Faults(rules=[refused])
    ran = run(company, "--format", form)

    assert ran.code == 0
    assert "alert(1)" in ran.out
    assert not unsafe_in(ran.out)
    if form == "html":
        assert "<script>alert" not in ran.out


def test_hostile_names_of_alerts(tmp_path: Path) -> None:
    """A title that would escape is shown harmless in every format, in the frame too."""
    from harness.unsafe_text import unsafe_in  # noqa: PLC0415 - for this alone

    hostile = json.dumps("`<script>alert(1)</script>|::error ::x ##[group] [a](b)@team")
    manifest = WRONG["A105"].replace("name: Checkout errors", f"name: {hostile}")
    audited(tmp_path, manifest, fired_on(1))
    for form in ("text", "json", "sarif", "markdown", "html"):
        ran = typed("audit", str(tmp_path), "--days", "14", "--format", form)
        assert ran.code == 0
        assert not unsafe_in(ran.out), form
        assert form != "html" or "<script>alert" not in ran.out


def test_no_secret_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret of a manifest, told by events and refusals, is in no format of an audit."""
    canary = "canary-secret-a0d17"
    monkeypatch.setenv("HOOK", canary)
    manifest = WRONG["A105"].replace("Payments fail", "${secret:HOOK}")
    audited(tmp_path, manifest, lambda it: it.fire(ALERT, DAY, labels={"application": canary}))
    for form in ("text", "json", "sarif", "markdown", "html"):
        ran = typed("audit", str(tmp_path), "--days", "14", "--format", form)
        assert ran.code == 0
        assert canary not in ran.out + ran.err
