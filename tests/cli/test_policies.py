"""`policies list`, `policies test` and `policies add`."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from harness.doors import without_place
from harness.golden import Golden
from harness.workspaces import Shop

from reconciler.emulator import Fault, Faults, Rule

POLICIES = "/dataplans/policies/v1"
CREATE = f"{POLICIES}/bulkCreate"
TWO = """\
- name: Search is kept
  priority: PRIORITY_TYPE_HIGH
  applicationRule: {name: search, ruleTypeId: RULE_TYPE_ID_IS}
- name: Probes are blocked
  priority: PRIORITY_TYPE_BLOCK
  disabled: true
"""
NAMES = ["Search is kept", "Probes are blocked"]


def strike(shop: Shop, *faults: Fault) -> None:
    """Let each fault strike one bulk create, in their order."""
    shop.options["faults"] = Faults(
        rules=[
            Rule(method="POST", path=CREATE, nth=number, fault=fault)
            for number, fault in enumerate(faults, 1)
        ]
    )


def names(shop: Shop) -> list[str]:
    return [value["name"] for value in shop.run("policies", "list", "--format", "json").json]


def test_order(shop: Shop) -> None:
    """Policies come in the order in which they are tried, whatever order they are sent in."""
    listed = shop.run("policies", "list", "--format", "json").json

    assert [value["order"] for value in listed] == [1, 2, 3, 4, 5]


def test_spans(shop: Shop) -> None:
    """`--source spans` asks for those of spans, of which there are none here."""
    assert shop.run("policies", "list", "--source", "spans", "--format", "json").json == []


def test_one_log(shop: Shop) -> None:
    """Flags describe one log, and the policy it meets is named."""
    ran = shop.run(
        "policies", "test", "--application", "payments", "--severity", "info", "--format", "csv"
    )

    heading, row = csv.reader(StringIO(ran.out))
    assert heading == ["application", "subsystem", "severity", "policy", "priority"]
    assert row == ["payments", "", "info", "Payments are kept", "high"]


@pytest.mark.parametrize("name", ["logs.yaml", "logs.json"])
def test_file_of_logs(shop: Shop, name: str) -> None:
    """A file gives many logs; each row has its answer, in the order of the file."""
    rows = [
        {"application": "payments", "severity": "info"},
        {"application": "kube-probe", "subsystem": "x", "severity": "Info"},
        {"severity": "error,critical"},
        {"severity": "SEVERITY_DEBUG"},
        {"subsystem": "x", "severity": "info"},
        {},
    ]
    shop.write(name, json.dumps(rows))

    ran = shop.run("policies", "test", "--file", name, "--format", "csv")

    assert [row[3] for row in csv.reader(StringIO(ran.out))][1:] == [
        "Payments are kept",
        "Health checks are blocked",
        "Errors are watched",
        "Debug is cheap",
        "All else",
        "(none)",
    ]
    assert shop.count("POST", f"{POLICIES}/bulkTestLog") == 1


@pytest.mark.promise("S38")
def test_file_of_samples(shop: Shop) -> None:
    """A file of `policySamples` is one of logs; what a row expects is shown beside its policy."""
    rows = [
        {"application": "payments", "subsystem": "x", "severity": "info", "policy": "All else"},
        {"application": "x", "subsystem": "x", "severity": "SEVERITY_DEBUG", "policy": None},
        {"application": "x", "subsystem": "x", "severity": "error"},
    ]
    shop.write("logs.yaml", json.dumps(rows))
    project = shop.root / "reconciler.yaml"
    text = project.read_text("utf-8")
    project.write_text(
        text.replace("emulator:", "policySamples: logs.yaml\n    emulator:"), "utf-8"
    )

    ran = shop.run("policies", "test", "--file", "logs.yaml", "--format", "csv")

    cells = [[row[3], row[5]] for row in csv.reader(StringIO(ran.out))]
    assert cells == [
        ["policy", "expected"],
        ["Payments are kept", "All else"],
        ["Debug is cheap", "(none)"],
        ["Errors are watched", ""],
    ]
    validated = shop.run("validate", "--format", "json")
    assert "logs.yaml" not in validated.out, validated.out


def test_no_policy(shop: Shop) -> None:
    """A log that no policy takes is said to meet none."""
    (shop.root / "demo.db").unlink()

    ran = shop.run("policies", "test", "--application", "x")

    assert ran.out.splitlines()[1].split() == ["x", "(none)"]


def test_test_as_json(shop: Shop) -> None:
    """JSON and JSON Lines hold the results as the service gave them."""
    flags = ("--application", "payments", "--severity", "info")
    whole = shop.run("policies", "test", *flags, "--format", "json").json
    lines = shop.run("policies", "test", *flags, "--format", "jsonl").out.splitlines()

    assert [json.loads(line) for line in lines] == whole
    assert whole[0]["matched"] is True
    assert whole[0]["policy"]["name"] == "Payments are kept"


def test_fewer_answers_than_rows(shop: Shop, golden: Golden) -> None:
    """An answer with fewer results than rows is an error: no row may get that of another."""
    body = '{"testPoliciesBulkResult": []}'
    rule = Rule(path="*/bulkTestLog", fault=Fault(status=200, body=body))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run("policies", "test", "--application", "x")

    assert (ran.code, ran.out) == (9, "")
    golden(ran.err)


def test_add(shop: Shop) -> None:
    """Policies are added behind the others, with one request, and named."""
    before = names(shop)
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "".join(f"added {name}\n" for name in NAMES)
    assert names(shop) == before + NAMES
    assert shop.count("POST", CREATE) == 1


def test_add_as_json(shop: Shop) -> None:
    """JSON holds the stored policies, the flag turned: `disabled` is `enabled: false`."""
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes", "--format", "json")

    assert [(value["name"], value["enabled"]) for value in ran.json] == [
        (NAMES[0], True),
        (NAMES[1], False),
    ]


def test_add_asks(shop: Shop, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """On a terminal the policies are shown and the question names the environment; no is no."""

    def no(text: str) -> bool:
        golden(text)
        return False

    monkeypatch.setattr("reconciler.cli.service_records.is_terminal", lambda: True)
    monkeypatch.setattr("reconciler.cli.service_records.agreed", no)
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml")

    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith("nothing was added\n")
    assert all(name in ran.err for name in NAMES)
    assert shop.asked == []


def test_name_that_is_taken(shop: Shop) -> None:
    """The service refuses a name that is there, and then none of them is added."""
    before = names(shop)
    shop.write("new.yaml", TWO + "- {name: All else, priority: PRIORITY_TYPE_LOW}\n")

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (3, "")
    assert "policy All else" in ran.err
    assert names(shop) == before


def test_lost_and_added(shop: Shop) -> None:
    """Where the answer is lost and the list shows them, they are said to be added."""
    strike(shop, Fault(drop="after"))
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (0, "".join(f"added {name}\n" for name in NAMES))
    assert shop.count("POST", CREATE) == 1


@pytest.mark.promise("P23")
@pytest.mark.parametrize("body", ["{}", '{"createResponses": null}', '{"createResponses": [{}]}'])
def test_answer_that_names_none(shop: Shop, body: str, golden: Golden) -> None:
    """An answer that does not tell of every policy is looked up, and names what was not added."""
    strike(shop, Fault(status=200, body=body))
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (9, "")
    golden(ran.err)


def test_lost_and_not_added(shop: Shop, golden: Golden) -> None:
    """Where the answer is lost and the list shows none of them, that is said: exit 9."""
    strike(shop, Fault(drop="before"))
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (9, "")
    golden(ran.err)
    assert shop.count("POST", CREATE) == 1


def test_lost_and_one_is_there(shop: Shop, golden: Golden) -> None:
    """Where only some are there, each is said to be there or not, and it is in doubt: exit 7."""
    one = {"policies": [{"id": "p", "name": NAMES[0]}]}
    shop.options["faults"] = Faults(
        rules=[
            Rule(method="POST", path=CREATE, fault=Fault(drop="after")),
            Rule(method="GET", path=POLICIES, nth=2, fault=Fault(status=200, body=json.dumps(one))),
        ]
    )
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (7, "")
    golden(ran.err)
    assert "`reconciler policies list`" in without_place(ran.err)


def test_lost_and_no_look(shop: Shop, golden: Golden) -> None:
    """Where the look-up fails too, it is in doubt, and said how to look: exit 7."""
    shop.options["faults"] = Faults(
        rules=[
            Rule(method="POST", path=CREATE, fault=Fault(drop="after")),
            Rule(method="GET", path=POLICIES, nth=2, fault=Fault(status=403)),
        ]
    )
    shop.write("new.yaml", TWO)

    ran = shop.run("policies", "add", "new.yaml", "--yes")

    assert (ran.code, ran.out) == (7, "")
    golden(ran.err)
    assert shop.count("POST", CREATE) == 1
