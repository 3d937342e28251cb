"""Write docs/endpoints.md: where each endpoint is, and what proves it.

Method, path and what answers it come from the emulator; the rest stands in ROWS.
tests/test_endpoints.py fails where the page is stale, a cell is empty, or a name leads nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from reconciler.emulator.endpoint import Endpoint
from reconciler.emulator.resources import RESOURCES

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "endpoints.md"
KINDS = "reconciler.kinds"
RECORDS = "reconciler.records"

HEAD = """\
# Endpoints

The {count} endpoints of the management API: the command that uses each, the function of the client
that asks, what answers in the emulator, and the tests of both sides. Paths are below
`{{base_url}}/mgmt/openapi/latest`. Written by `scripts/write_endpoints.py`; a test fails when it is
stale or a cell is empty, and another that the commands reach all of them.

**The API document**, as these pages and the code call it, is the published description of these
{count} endpoints: their requests, answers, fields and examples. It is no part of this project;
`schemas/management-api.openapi.json` says what was read in it. What it leaves open is in
[what is assumed](assumptions.md).

| # | request | command | client | emulator | tests |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """What the emulator does not tell: functions are `module:name`, tests are node ids."""

    commands: tuple[str, ...]
    clients: tuple[str, ...]
    tests: tuple[str, ...]


ROWS: dict[int, Row] = {
    1: Row(
        ("apply",),
        (f"{KINDS}.alert_definition.remote:write",),
        (
            "tests/kinds/test_alert_remote.py::test_exact_request",
            "tests/emulator/test_emulated_alerts.py::test_four_lists",
        ),
    ),
    2: Row(
        ("events list",),
        (f"{RECORDS}.listings:list_alert_events",),
        (
            "tests/records/test_queries.py::test_alert_event_query",
            "tests/emulator/test_emulated_alert_events.py::test_pages",
        ),
    ),
    3: Row(
        ("apply",),
        (f"{KINDS}.dashboard.remote:write",),
        (
            "tests/kinds/test_dashboard_remote.py::test_create",
            "tests/emulator/test_emulated_dashboards.py::test_stored_record",
        ),
    ),
    4: Row(
        ("apply",),
        (f"{KINDS}.dashboard.remote:write",),
        (
            "tests/kinds/test_dashboard_remote.py::test_replace",
            "tests/emulator/test_emulated_dashboards.py::test_replace_is_whole",
        ),
    ),
    5: Row(
        ("plan", "apply", "drift"),
        (f"{KINDS}.dashboard.remote:observe",),
        (
            "tests/kinds/test_dashboard_remote.py::test_declared_id",
            "tests/emulator/test_emulated_dashboards.py::test_missing_read",
        ),
    ),
    6: Row(
        ("plan", "apply", "drift"),
        (f"{KINDS}.dashboard.remote:observe",),
        (
            "tests/kinds/test_dashboard_remote.py::test_declared_slug",
            "tests/emulator/test_emulated_dashboards.py::test_slug_from_name",
        ),
    ),
    7: Row(
        ("cases list",),
        (f"{RECORDS}.listings:list_cases",),
        (
            "tests/records/test_queries.py::test_case_body",
            "tests/emulator/test_emulated_cases.py::test_default_order",
        ),
    ),
    8: Row(
        ("incidents list", "incidents close"),
        (f"{RECORDS}.listings:list_incidents",),
        (
            "tests/records/test_queries.py::test_dotted_query",
            "tests/emulator/test_emulated_incidents.py::test_filters",
        ),
    ),
    9: Row(
        ("incidents events",),
        (f"{RECORDS}.listings:list_incident_events",),
        (
            "tests/records/test_queries.py::test_incident_event_query",
            "tests/emulator/test_emulated_incidents.py::test_event_filters",
        ),
    ),
    10: Row(
        ("incidents close",),
        (f"{RECORDS}.listings:close_incidents",),
        (
            "tests/records/test_closing.py::test_close",
            "tests/emulator/test_emulated_incidents.py::test_close",
        ),
    ),
    11: Row(
        ("apply",),
        (f"{KINDS}.slo.remote:write",),
        (
            "tests/kinds/test_slo_remote.py::test_create",
            "tests/emulator/test_emulated_slos.py::test_created_slo",
        ),
    ),
    12: Row(
        ("apply",),
        (f"{KINDS}.slo.remote:write",),
        (
            "tests/kinds/test_slo_remote.py::test_replace",
            "tests/emulator/test_emulated_slos.py::test_replaced_slo",
        ),
    ),
    13: Row(
        ("plan", "apply", "drift"),
        (f"{KINDS}.slo.remote:observe",),
        (
            "tests/kinds/test_slo_remote.py::test_declared_id",
            "tests/emulator/test_emulated_slos.py::test_missing_read",
        ),
    ),
    14: Row(
        ("plan", "apply"),
        (f"{KINDS}.slo.remote:preflight",),
        (
            "tests/kinds/test_slo_remote.py::test_objection_in_the_plan",
            "tests/emulator/test_emulated_slos.py::test_validate_lost_label",
        ),
    ),
    15: Row(
        ("plan", "apply", "drift", "policies list"),
        (f"{KINDS}.log_policy_set.remote:observe", f"{RECORDS}.listings:list_log_policies"),
        (
            "tests/kinds/test_policy_remote.py::test_only_log_policies_are_read",
            "tests/cli/test_policies.py::test_order",
            "tests/emulator/test_emulated_policies.py::test_list_is_not_in_order",
        ),
    ),
    16: Row(
        ("policies add",),
        (f"{KINDS}.log_policy_set.remote:bulk_create",),
        (
            "tests/cli/test_policies.py::test_add",
            "tests/emulator/test_emulated_policies.py::test_create_is_atomic",
        ),
    ),
    17: Row(
        ("apply",),
        (f"{KINDS}.log_policy_set.remote:write",),
        (
            "tests/kinds/test_policy_remote.py::test_first_list",
            "tests/emulator/test_emulated_policies.py::test_overwrite",
        ),
    ),
    18: Row(
        ("policies test",),
        (f"{KINDS}.log_policy_set.remote:bulk_test",),
        (
            "tests/cli/test_policies.py::test_file_of_logs",
            "tests/emulator/test_emulated_policies.py::test_first_match_wins",
        ),
    ),
    19: Row(
        ("usage",),
        (f"{RECORDS}.listings:daily_units",),
        (
            "tests/cli/test_listings.py::test_usage_in_numbers",
            "tests/emulator/test_emulated_usage.py::test_ranges",
        ),
    ),
    20: Row(
        ("apply",),
        (f"{KINDS}.saved_view.remote:write",),
        (
            "tests/kinds/test_view_remote.py::test_create",
            "tests/emulator/test_emulated_views.py::test_created_views",
        ),
    ),
    21: Row(
        ("apply",),
        (f"{KINDS}.saved_view.remote:write",),
        (
            "tests/kinds/test_view_remote.py::test_replace",
            "tests/emulator/test_emulated_views.py::test_replaced_view",
        ),
    ),
}


def endpoints() -> list[Endpoint[Any]]:
    """Give the endpoints of the emulator in the order of the API document."""
    every = [endpoint for resource in RESOURCES for endpoint in resource.endpoints]
    return sorted(every, key=lambda endpoint: endpoint.number)


def function_of(name: str) -> object:
    """Import what `module:name` names. Raises where there is no such thing."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def cells(endpoint: Endpoint[Any]) -> list[str]:
    """Give the cells of one line of the table."""
    row = ROWS[endpoint.number]
    answer = f"{endpoint.answer.__module__}:{endpoint.answer.__qualname__}"
    return [
        str(endpoint.number),
        f"`{endpoint.method} {endpoint.path}`",
        ", ".join(f"[`{command}`](commands.md#{command.split()[0]})" for command in row.commands),
        ", ".join(map(_linked, row.clients)),
        _linked(answer),
        ", ".join(
            f"[{node.rpartition('::')[2]}](../{node.partition('::')[0]})" for node in row.tests
        ),
    ]


def _linked(name: str) -> str:
    module, _, function = name.partition(":")
    shown = module.removeprefix("reconciler.")
    return f"[`{shown}.{function}`](../{module.replace('.', '/')}.py)"


def page() -> str:
    """Give the whole page."""
    lines = (f"| {' | '.join(cells(endpoint))} |\n" for endpoint in endpoints())
    return HEAD.format(count=len(ROWS)) + "".join(lines)


def main() -> None:
    """Write the page."""
    TARGET.write_text(page(), encoding="utf-8")
    print(TARGET.relative_to(ROOT))


if __name__ == "__main__":
    main()
