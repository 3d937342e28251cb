"""The listing commands on the demo company: forms, filters, limits."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from harness.doors import Ran
from harness.golden import Golden
from harness.workspaces import Shop

from reconciler.emulator import Fault, Faults, Rule
from reconciler.records.record import moment

LISTINGS = [
    ("events list", "/alerts/events/v3/alert-events", "cxEventKey"),
    ("cases list", "/cases/cases/v1", "readableId"),
    ("incidents list", "/incidents/incidents/v1", "id"),
    ("incidents events", "/incidents/incidents/v1/events", "cxEventKey"),
    ("policies list", "/dataplans/policies/v1", "name"),
    ("usage --range last-week", "/dataplans/data-usage/v2/daily:units", "statsDate"),
]
PAGED = LISTINGS[:4]


def rows(ran: Ran) -> list[list[str]]:
    """Give the lines of CSV."""
    return list(csv.reader(StringIO(ran.out)))


@pytest.mark.parametrize(("command", "_", "name"), LISTINGS)
def test_forms_agree(shop: Shop, command: str, _: str, name: str) -> None:
    """JSON, JSON Lines, CSV and the table hold the same records, in the same order."""
    whole = shop.run(*command.split(), "--format", "json").json
    lines = shop.run(*command.split(), "--format", "jsonl").out.splitlines()
    cells = rows(shop.run(*command.split(), "--format", "csv"))
    table = shop.run(*command.split()).out.splitlines()

    assert [json.loads(line) for line in lines] == whole
    assert len(cells) == len(table) == len(whole) + 1
    assert len({len(line) for line in cells}) == 1
    for record, row, line in zip(whole, cells[1:], table[1:], strict=True):
        told = record[name] if command != "incidents events" else record["cxEventTimestamp"]
        shown = told.replace("T", " ").partition(".")[0] if told[-1] == "Z" else told
        assert shown in row or shown.partition(" ")[0] in row
        assert row[0] in line


@pytest.mark.parametrize(("command", "path", "_"), LISTINGS)
def test_data_alone_on_stdout(shop: Shop, command: str, path: str, _: str) -> None:
    """Words go to stderr, and with -q nowhere; the data is the same."""
    said = shop.run(*command.split(), "--format", "json")
    quiet = shop.run(*command.split(), "--format", "json", "-q")

    assert (said.code, quiet.code) == (0, 0)
    assert quiet.err == ""
    assert said.out == quiet.out
    assert shop.count("GET", path) + shop.count("POST", path) >= 2


@pytest.mark.promise("P23")
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(("command", "path", "_"), LISTINGS)
def test_answer_without_its_list(
    shop: Shop, command: str, path: str, _: str, form: str, golden: Golden
) -> None:
    """`{}` is an answer that cannot be read, exit 9, and never said to be an empty listing."""
    rule = Rule(path=path, fault=Fault(status=200, body="{}"))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run(*command.split(), "--format", form)

    assert ran.code == 9
    golden(ran.err)
    assert "0 " not in ran.out + ran.err


@pytest.mark.parametrize(("command", "path", "_"), PAGED)
def test_limit(shop: Shop, command: str, path: str, _: str, golden: Golden) -> None:
    """`--limit N` gives the first N, asks for one page, and says that there may be more."""
    every = shop.run(*command.split(), "--limit", "0", "--format", "json").json
    requests = len(shop.asked)
    some = shop.run(*command.split(), "--limit", "3", "--format", "json")

    assert some.json == every[:3]
    assert len(shop.asked) == requests + 1
    golden(some.err)
    assert shop.asked[-1][1] == path


@pytest.mark.parametrize(("command", "_", "name"), PAGED)
def test_no_limit(shop: Shop, command: str, _: str, name: str) -> None:
    """`--limit 0` follows the pages to the end, and no record comes twice."""
    ran = shop.run(*command.split(), "--limit", "0", "--format", "json")
    keys = [record[name] for record in ran.json]

    assert len(keys) == len(set(keys))
    assert len(shop.asked) == -(-len(keys) // 100)
    assert ran.err == f"{len(keys):,} {command.split()[0 if command[-4:] == 'list' else 1]}\n"


@pytest.mark.parametrize(("command", "path", "_"), PAGED)
def test_less_than_announced(shop: Shop, command: str, path: str, _: str, golden: Golden) -> None:
    """That the service announces more than it lists is said, with -q too; the data is the same."""
    required = ("id", "category", "createTime", "priority", "state", "status", "updateTime")
    record = dict.fromkeys((*required, "title"), "a")
    lists = {key: [record] for key in ("events", "cases", "incidents", "items")}
    body = {**lists, "pagination": {"nextPageToken": "", "totalSize": 3}}
    rule = Rule(path=path, fault=Fault(status=200, body=json.dumps(body)))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run(*command.split(), "--format", "json", "-q")
    cut = shop.run(*command.split(), "--format", "json", "-q", "--limit", "1")

    assert (ran.code, ran.json) == (0, [record])
    golden(ran.err)
    assert cut.err == ""


def test_default_limit(shop: Shop) -> None:
    """Without `--limit` at most 100 are listed."""
    assert len(shop.run("events", "list", "--format", "json").json) == 100


@pytest.mark.parametrize(("text", "hours"), [("24h", 24), ("1440m", 24), ("3d", 72), ("2w", 336)])
def test_since_a_span(shop: Shop, monkeypatch: pytest.MonkeyPatch, text: str, hours: int) -> None:
    """`--since 24h` gives those of the last day, and nothing of that day is missing."""
    now = datetime.now(UTC)
    monkeypatch.setattr("reconciler.cli.record_output.now", lambda: now)
    every = shop.run("incidents", "list", "--limit", "0", "--format", "json").json

    some = shop.run("incidents", "list", "--limit", "0", "--since", text, "--format", "json").json

    start = now - timedelta(hours=hours)
    assert some == [value for value in every if (moment(value["createdAt"]) or now) >= start]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("incidents list", "createdAt"),
        ("incidents events", "cxEventTimestamp"),
        ("events list", "cxEventTimestamp"),
    ],
)
def test_between_two_times(shop: Shop, command: str, name: str) -> None:
    """`--since` is in the range and `--until` is not; a time without a zone is UTC."""
    every = shop.run(*command.split(), "--limit", "0", "--format", "json").json
    at = [moment(value[name]) for value in every]
    late, early = at[2], at[20]
    assert late is not None
    assert early is not None
    span = ("--since", early.isoformat(), "--until", late.replace(tzinfo=None).isoformat())

    some = shop.run(*command.split(), "--limit", "0", *span, "--format", "json").json

    assert some == [
        value for value, time in zip(every, at, strict=True) if time and early <= time < late
    ]


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ("incidents list --severity critical", "severity", "INCIDENT_SEVERITY_CRITICAL"),
        ("incidents list --severity INCIDENT_SEVERITY_CRITICAL", "severity", None),
        ("incidents list --status acknowledged", "status", "INCIDENT_STATUS_ACKNOWLEDGED"),
        ("incidents list --state resolved", "state", "INCIDENT_STATE_RESOLVED"),
        ("incidents list --text provider", "name", "Payment provider time-outs"),
        ("cases list --state active", "state", "CASE_STATE_ACTIVE"),
        ("cases list --status ACKNOWLEDGED", "status", "CASE_STATUS_ACKNOWLEDGED"),
        ("cases list --priority p1", "priority", "CASE_PRIORITY_P1"),
        ("cases list --category security", "category", "CASE_CATEGORY_SECURITY"),
        ("policies list --enabled", "enabled", True),
    ],
)
def test_filters(shop: Shop, arguments: str, field: str, value: object) -> None:
    """A filter gives some, all of them with the value, and fewer than there are."""
    some = shop.run(*arguments.split(), "--format", "json").json

    assert some != []
    assert {value[field] for value in some} == {value or "INCIDENT_SEVERITY_CRITICAL"}


def test_several_values(shop: Shop) -> None:
    """A flag given twice takes either value."""
    flags = ("--severity", "critical", "--severity", "warning")

    some = shop.run("incidents", "list", *flags, "--format", "json").json

    assert {value["severity"] for value in some} == {
        "INCIDENT_SEVERITY_CRITICAL",
        "INCIDENT_SEVERITY_WARNING",
    }


def test_open_incidents(shop: Shop) -> None:
    """`--open` gives those that have no `closedAt`, all of them."""
    every = shop.run("incidents", "list", "--limit", "0", "--format", "json").json
    some = shop.run("incidents", "list", "--open", "--limit", "0", "--format", "json").json

    assert some == [value for value in every if not value.get("closedAt")]
    assert 0 < len(some) < len(every)


def test_labels(shop: Shop) -> None:
    """`--label` gives the events that have every one of the labels."""
    labels = ("--label", "application=checkout", "--label", "region=eu-west-1")

    some = shop.run("events", "list", *labels, "--format", "json").json

    assert some != []
    for event in some:
        assert event["cxEventLabels"]["application"] == "checkout"
        assert event["cxEventLabels"]["region"] == "eu-west-1"


def test_one_label_twice_for_cases(shop: Shop) -> None:
    """For cases the values of one label are alternatives."""
    every = shop.run("cases", "list", "--limit", "0", "--format", "json").json
    pairs = {
        (value["labels"][0]["key"], value["labels"][0]["value"])
        for value in every
        if value["labels"]
    }
    key = min(key for key, _ in pairs)
    values = sorted(value for name, value in pairs if name == key)[:2]
    flags = [flag for value in values for flag in ("--label", f"{key}={value}")]

    some = shop.run("cases", "list", *flags, "--limit", "0", "--format", "json").json

    assert {
        label["value"] for case in some for label in case["labels"] if label["key"] == key
    } == set(values)


def test_records_as_they_came(shop: Shop) -> None:
    """JSON holds the records as the service gave them, the units of usage in `{value}`."""
    day = shop.run("usage", "--range", "last-week", "--format", "json").json[0]

    assert set(day["totalUnits"]) == {"value"}
    assert day["statsDate"].endswith("Z")


def test_nothing_found(shop: Shop) -> None:
    """An empty listing is no error: `[]`, a CSV heading alone, no table, and 0 said aloud."""
    nothing = ("incidents", "list", "--text", "no such words")

    assert shop.run(*nothing, "--format", "json").out == "[]\n"
    assert shop.run(*nothing, "--format", "jsonl").out == ""
    assert len(rows(shop.run(*nothing, "--format", "csv"))) == 1
    assert (shop.run(*nothing).out, shop.run(*nothing).err) == ("", "0 incidents\n")


def test_one_found(shop: Shop, golden: Golden) -> None:
    """One is said in the singular."""
    golden(shop.run("cases", "list", "--limit", "1").err)


def test_usage_in_numbers(shop: Shop) -> None:
    """CSV has the numbers of usage unrounded and without separators, all series of them."""
    heading, *lines = rows(shop.run("usage", "--range", "last-week", "--format", "csv"))
    days = shop.run("usage", "--range", "last-week", "--format", "json").json

    assert heading[0] == "date"
    assert [float(line[-1]) for line in lines] == [day["totalUnits"]["value"] for day in days]
    assert len(heading) == 14


def test_usage_verbose(shop: Shop) -> None:
    """The table has the main series, and with -v all of them."""
    some = shop.run("usage").out.splitlines()[0]
    every = shop.run("usage", "-v").out.splitlines()[0]

    assert some.split("  ")[-1].strip() == every.split("  ")[-1].strip() == "TOTAL"
    assert "BLOCKED" in every
    assert "BLOCKED" not in some


def test_usage_chart(shop: Shop) -> None:
    """The chart has a bar for each day, and the longest is the day that used most."""
    days = shop.run("usage", "--format", "json").json
    lines = shop.run("usage", "--chart").out.splitlines()

    assert [line[:10] for line in lines] == [day["statsDate"][:10] for day in days]
    bars = [line.count("█") for line in lines]
    units = [day["totalUnits"]["value"] for day in days]
    assert bars.index(max(bars)) == units.index(max(units))


def test_usage_picture(shop: Shop) -> None:
    """`--png` draws a picture and says so; with -q it says nothing."""
    said = shop.run("usage", "--png", "usage.png")
    quiet = shop.run("usage", "--png", "again.png", "--chart", "-q")

    assert (said.code, quiet.code) == (0, 0)
    assert said.err == "30 days\ndrew usage.png\n"
    assert quiet.err == ""
    for name in ("usage.png", "again.png"):
        assert (shop.root / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv"])
def test_hostile_records(shop: Shop, form: str) -> None:
    """Whatever stands in a record is harmless in a terminal, and no formula in a spreadsheet."""
    hostile = {
        "id": "=1+1",
        "readableId": "",
        "title": "\x1b[2J\u202e\x9b31m\r\n::error::x",
        **dict.fromkeys(("category", "createTime", "priority", "state", "status"), "\u200b\x07"),
    }
    body = json.dumps({"cases": [hostile]})
    rule = Rule(path="/cases/cases/v1", fault=Fault(status=200, body=body))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run("cases", "list", "--format", form)

    assert ran.code == 0
    assert not set(ran.out) & set("\x1b\u202e\x9b\r\u200b\x07")
    assert not any(line.lstrip().startswith("::") for line in ran.out.splitlines())
    assert form != "csv" or rows(ran)[1][0] == "'=1+1"
    assert form not in ("json", "jsonl") or json.loads(ran.out) in (hostile, [hostile])


@pytest.mark.parametrize(("command", "path", "_"), LISTINGS)
def test_refused(shop: Shop, command: str, path: str, _: str) -> None:
    """A listing that the service refuses says so in its words, with nothing on stdout: 3."""
    fault = Fault(status=400, body='{"code": 400, "message": "not today"}')
    shop.options["faults"] = Faults(rules=[Rule(path=path, fault=fault)])

    ran = shop.run(*command.split())

    assert (ran.code, ran.out, ran.err) == (3, "", "error: not today\n")


@pytest.mark.parametrize(("form", "printed"), [("jsonl", 100), ("json", 0), ("text", 0)])
def test_broken_off(shop: Shop, form: str, printed: int, golden: Golden) -> None:
    """Where a later page is unreadable, only what is printed as it comes is there: 9."""
    rule = Rule(path="*/alert-events", nth=2, fault=Fault(status=200, body='{"events": 1}'))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run("events", "list", "--limit", "0", "--format", form)

    assert (ran.code, ran.out.count("\n")) == (9, printed)
    golden(ran.err)


def test_picture_without_the_library(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the plotting library `--png` names the extra to install, and nothing is sent."""
    monkeypatch.setattr("reconciler.cli.service_records.find_spec", lambda _: None)

    ran = shop.run("usage", "--png", "usage.png")

    assert (ran.code, ran.out, shop.asked) == (64, "", [])
    assert "pip install '.[plot]'" in ran.err


@pytest.mark.parametrize("days", [[], [{"statsDate": "$\\frac", "highLogsUnits": {"value": -1}}]])
def test_odd_usage(shop: Shop, days: list[object]) -> None:
    """No days, negative units and a date that is none are drawn all the same."""
    fault = Fault(status=200, body=json.dumps({"units": days}))
    shop.options["faults"] = Faults(rules=[Rule(fault=fault)])

    ran = shop.run("usage", "--chart", "--png", "usage.png", "-q")

    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", len(days))
    assert (shop.root / "usage.png").stat().st_size > 0
