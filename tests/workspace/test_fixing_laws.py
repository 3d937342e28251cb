"""Pasted records, whatever they are pasted as: one complaint each, and a repair that keeps all."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pasted_records import IDS, READ_ONLY, SPECS, Layout, Paste

from reconciler.document import value_at
from reconciler.kinds import KINDS
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import written
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.fixes import CERTAIN, find_fixes, repair_text
from reconciler.workspace.workspace import load_workspace

pytestmark = pytest.mark.promise("P39")

KIND_NAMES = sorted(SPECS)
PART = 0.5
ALERT = SPECS["AlertDefinition"]
POLICY = SPECS["LogPolicySet"]["policies"][0]["policy"]


def manifest_of(kind: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    named = {"name": "shop", **metadata}
    return {"apiVersion": "reconciler/v1", "kind": kind, "metadata": named, "spec": spec}


def fixed(text: str, name: str = "one.yaml") -> str:
    """Give what a file would be, which is itself where nothing is to be repaired."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / name).write_bytes(text.encode())
        found = find_fixes([root], root).found
    return found[0].after if found else text


def complaints_in(text: str, name: str = "one.yaml") -> tuple[Complaint, ...]:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / name).write_bytes(text.encode())
        scope = Scope("local", {"team": "a"}, None)
        return load_workspace([root], root, scope).complaints


def errors_in(text: str, name: str = "one.yaml") -> list[tuple[str, str]]:
    return [
        (complaint.code, complaint.message)
        for complaint in complaints_in(text, name)
        if complaint.is_error
    ]


@given(st.sampled_from(KIND_NAMES), st.randoms(use_true_random=False), st.booleans())
def test_a_paste_is_undone(kind: str, random: Random, in_json: bool) -> None:
    """What a paste brought along goes, every comment stays, and a second repair changes nothing."""
    known = IDS.get(kind)
    is_placed = random.random() < PART
    layout = Layout(random, random.choice(["\n", "\r\n"]))
    spec = Paste(random, None if is_placed else known).of(kind, SPECS[kind])
    good = manifest_of(kind, SPECS[kind], **({} if known is None else {"id": known}))
    pasted = {**good, "metadata": good["metadata"] if is_placed else {"name": "shop"}, "spec": spec}
    indent = random.choice([None, 2, 4])
    text = json.dumps(pasted, indent=indent) if in_json else layout.yaml(pasted)
    name = "one.json" if in_json else "one.yaml"

    once = fixed(text, name)

    assert read_text(once, is_json=in_json).documents[0].value == good
    assert sorted(written(once).comments()) == sorted(layout.comments)
    assert fixed(once, name) == once
    assert errors_in(once, name) == []


@given(st.sampled_from(KIND_NAMES), st.randoms(use_true_random=False))
def test_nothing_to_repair(kind: str, random: Random) -> None:
    """A good manifest is no file to repair, whatever its layout."""
    text = Layout(random).yaml(manifest_of(kind, SPECS[kind], id=IDS.get(kind)))

    assert fixed(text) == text


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_one_complaint_a_record(kind: str) -> None:
    """A record is one complaint, each policy of a list by itself, with the count and the repair."""
    spec = json.loads(json.dumps(SPECS[kind]))
    records = [policy["policy"] for policy in spec["policies"]] if "policies" in spec else [spec]
    for record in records:
        record.update(READ_ONLY[kind])
        record.update({"id": IDS.get(kind, "i")} if kind != "Dashboard" else {})

    told = errors_in(json.dumps(manifest_of(kind, spec)), "one.json")

    assert len(told) == len(records)
    count = len(READ_ONLY[kind]) + (kind not in {"Dashboard", "LogPolicySet"})
    assert all(
        code == "M305" and (count == 1 or f"{count} fields are read-only" in message)
        for code, message in told
    )


@pytest.mark.parametrize(
    ("kind", "spec", "said"),
    [
        ("SLO", {"slo": SPECS["SLO"]}, "`slo` wraps"),
        ("AlertDefinition", {"alertDefProperties": ALERT}, "`alertDefProperties` wraps"),
        ("Dashboard", {"dashboard": SPECS["Dashboard"]}, "`dashboard` wraps"),
        ("Dashboard", SPECS["Dashboard"]["dashboard"], "`dashboard` is around"),
        ("LogPolicySet", {"policies": [POLICY]}, "`policy` is around"),
    ],
)
def test_wrapped(kind: str, spec: dict[str, Any], said: str) -> None:
    """A wrapper too many, or one that is missing, is one complaint that names it."""
    metadata = {"id": IDS[kind]} if kind in IDS else {}
    told = errors_in(json.dumps(manifest_of(kind, spec, **metadata)), "one.json")

    assert [code for code, _ in told] == ["M305"]
    assert said in told[0][1]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("LogPolicySet", {"enabled": True, "disabled": True}),
        ("LogPolicySet", {"deleted": True}),
        ("LogPolicySet", {"order": "first"}),
        ("LogPolicySet", {"placement": {"last": {}}}),
        ("SLO", {"slo": {"name": "another"}}),
        ("SLO", {"targetThresholdPercentage": "99,9"}),
        ("SLO", {"targetThresholdPercentage": "99.9%"}),
        ("SLO", {"id": "no uuid"}),
        ("SLO", {"slo_time_frame": "SLO_TIME_FRAME_7_DAYS"}),
    ],
)
def test_no_guess(kind: str, change: dict[str, Any]) -> None:
    """What could mean two things is left as it is, with its complaint."""
    spec = json.loads(json.dumps(SPECS[kind]))
    place = spec["policies"][0]["policy"] if "policies" in spec else spec
    place.update(change)
    text = json.dumps(manifest_of(kind, spec))

    assert fixed(text, "one.json") == text
    assert complaints_in(text, "one.json") != ()


def test_order_that_disagrees() -> None:
    """Orders that the list does not follow stay: without them the policies would change places."""
    spec = json.loads(json.dumps(SPECS["LogPolicySet"]))
    for item, order in zip(spec["policies"], (2, 1, 3), strict=True):
        item["policy"]["order"] = order
    text = json.dumps(manifest_of("LogPolicySet", spec))

    assert fixed(text, "one.json") == text


ALIASED = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: shop}
spec:
  creator: &me somebody
  name: *me
  targetThresholdPercentage: "99.9"
  requestBasedMetricSli: &sli {goodEvents: {query: "99"}, totalEvents: {query: a}}
"""


def test_an_anchor_that_is_needed() -> None:
    """A field whose anchor others mean is not dropped, as they would mean nothing."""
    assert fixed(ALIASED) == ALIASED


def test_a_neighbour_of_what_cannot_be_repaired() -> None:
    """One document that cannot be repaired keeps no other of its file from it."""
    other = "apiVersion: reconciler/v1\nkind: SLO\nmetadata: {name: b}\nspec: {creator: me}\n"

    assert fixed(f"{ALIASED}---\n{other}") == f"{ALIASED}---\n" + other.replace("creator: me", "")


def test_an_alias_of_a_repaired_part() -> None:
    """What two documents of a mapping share is repaired where it is written, once."""
    text = (
        "apiVersion: reconciler/v1\nkind: LogPolicySet\nmetadata: {name: p}\nspec:\n  policies:\n"
        "  - policy: {name: one, application_rule: &rule {rule_type_id: RULE_TYPE_ID_IS}}\n"
        "  - policy: {name: two, application_rule: *rule} # two\n"
    )

    assert fixed(text) == text.replace("application_rule", "applicationRule").replace(
        "rule_type_id", "ruleTypeId"
    )


def test_every_kind_has_its_wrapper_told() -> None:
    """No kind is left out of these laws."""
    assert {kind.name for kind in KINDS} == set(SPECS) == set(READ_ONLY)


FLAT = "apiVersion: reconciler/v1\nkind: LogPolicySet\nmetadata: {name: p}\nspec:\n  policies:\n"


@pytest.mark.parametrize(
    ("flat", "mended"),
    [
        (
            (
                "    - name: a\n      # which\n"
                "      severities: # those\n        - SEVERITY_ERROR\n"
                "      priority: PRIORITY_TYPE_HIGH # much\n"
            ),
            (
                "    - policy:\n        name: a\n        # which\n"
                "        priority: PRIORITY_TYPE_HIGH # much\n"
                "      logRules:\n        severities: # those\n          - SEVERITY_ERROR\n"
            ),
        ),
        (
            "    - severities: [SEVERITY_INFO]\n      name: a\n",
            (
                "    - policy:\n        name: a\n"
                "      logRules:\n        severities: [SEVERITY_INFO]\n"
            ),
        ),
        (
            "    - {name: a, severities: [SEVERITY_INFO]}\n",
            "    - {policy: {name: a}, logRules: {severities: [SEVERITY_INFO]}}\n",
        ),
        (
            "    - name: a\n      logRules: {severities: [SEVERITY_INFO]}\n      disabled: true",
            (
                "    - policy:\n        name: a\n        disabled: true\n"
                "      logRules: {severities: [SEVERITY_INFO]}"
            ),
        ),
        (
            "    - policy: {name: a, severities: [SEVERITY_INFO]}\n      logRules: {}\n",
            "    - policy: {name: a, severities: [SEVERITY_INFO]}\n      logRules: {}\n",
        ),
    ],
)
def test_a_flat_policy(flat: str, mended: str) -> None:
    """What stands beside a policy in a manifest is moved there out of one that is flat."""
    assert fixed(FLAT + flat) == FLAT + mended


FLOW = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {{name: checkout}}
spec:
  {{targetThresholdPercentage: {target}, name: Checkout,
  requestBasedMetricSli: {{goodEvents: {{query: {query}}}, totalEvents: {{query: b}}}}}}
"""


SLI_QUERY = ("spec", "requestBasedMetricSli", "goodEvents", "query")


def repaired_once(text: str) -> str:
    made = repair_text(text, complaints_in(text), CERTAIN, is_json=False)
    return text if made is None else made[0]


@pytest.mark.parametrize("query", ["rate(a[5m])", 'sum(rate(c{d="e, f: g]"}[5m]))', "a{b='c'}"])
def test_brackets_between_braces(query: str) -> None:
    """A text with brackets in a flow mapping is quoted where its end is certain."""
    once = repaired_once(FLOW.format(target="99.9", query=query))

    (document,) = read_text(once).documents
    assert value_at(document.value, SLI_QUERY) == query
    assert errors_in(once) == []


@pytest.mark.parametrize(
    "query",
    [
        'sum by (a, b) (rate(c{d="e, f: g]"}[5m]))',
        "rate(a[5m)])",
        "a[5m], or b",
        "a[5m] # b",
        "a['b]",
    ],
)
def test_brackets_without_a_certain_end(query: str) -> None:
    """A text with brackets stays as it is where its end is not certain."""
    text = FLOW.format(target="99.9", query=query)

    assert repaired_once(text) == text


@pytest.mark.parametrize(("target", "repaired"), [("99,9", "99.9"), ("99,95", "99.95")])
def test_a_decimal_comma_between_braces(target: str, repaired: str) -> None:
    """A decimal comma in a flow mapping is one complaint at the number, and becomes a point."""
    text = FLOW.format(target=target, query="a")

    ((code, message),) = errors_in(text)

    assert code == "M107"
    assert f"`{target}`" in message
    assert len(complaints_in(text)) == 1
    assert repaired_once(text) == FLOW.format(target=repaired, query="a")


def test_a_comma_of_thousands() -> None:
    """A comma before three digits may divide thousands, so the number stays as it is."""
    text = FLOW.format(target="1,000", query="a")

    assert len(errors_in(text)) == 1
    assert repaired_once(text) == text
