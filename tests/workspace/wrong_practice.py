# ruff: noqa: E501 - a table reads best with one case a line
"""What works and is unwise, by the checks' own examples, and comments that ignore. docs/practice.md."""

from __future__ import annotations

from dataclasses import replace

from harness.explained import explained, manifest_of
from wrong import FILE, PROJECT, Wrong, alert, text


def _of(code: str, place: str, says: str, suggests: str) -> Wrong:
    """Give the example of a check, in a project that has it on."""
    files = {
        FILE: manifest_of(explained(code).wrong),
        "reconciler.yaml": f"{PROJECT}checks: {{{code}: warning}}\n",
    }
    return Wrong(f"practice {code}", code, f"{FILE}:{place}", says, files, suggests, exits=0)


def _comment(name: str, code: str, says: str, comment: str, suggests: str = "") -> Wrong:
    content = alert(f"description: A  # reconciler: ignore{comment}")
    case = text(name, code, "10:19", says, content, suggests)
    return replace(case, exits=0 if code == "M117" else 4)


PRACTICES = [
    _of("L201", "5:9", "no description", "say in `description` what is wrong, and where the runbook is"),
    _of("L202", "7:16", "has no link", "add the address of what to do to the description"),
    _of("L203", "6:13", "no one is notified", "add `notificationGroup: {router: {}}`, or a recipient; else lower it"),
    _of("L204", "9:37", "is not grouped by `region`", "add `region` to `groupByKeys` of the alert, or remove it here"),
    _of("L205", "9:77", "notifies every 10 minutes, and its incident every 60", "60"),
    _of("L206", "14:22", "less than 0 is never true", "write a threshold that can be crossed"),
    _of("L207", "14:22", "more than -1 is always true", "write a threshold that is not crossed all the time"),
    _of("L208", "10:24", "waits 10 minutes for late data, longer than its window of 5", "wait less, or widen the window"),
    _of("L209", "8:12", "is disabled, and no day says until when", "say until when: `exempt: {L209: {reason: …, until: 2026-12-31}}`"),
    _of("L301", "6:30", "leaves no error budget", "write a target that may be missed now and then, as 99.9"),
    _of("L302", "25:9", "no alert of this workspace watches", "watch it by `sloThreshold` with `sloId: ${ref:SLO/search}`"),
    _of("L401", "13:27", "another widget of this section is called `Orders` too", "name each by what it shows"),
    _of("L402", "12:95", "this query is empty", "write the query, or remove the widget"),
    _of("L403", "12:148", "the very same query", "remove one of them"),
    _of("L404", "9:15", "the variable `region` is used by no", "use it, or remove it: a choice that changes nothing misleads"),
    _of("L405", "19:11", "in the same folder is called `Shop` too", "name each by what it is for"),
    _of("L406", "15:66", "`$cluster` is no variable of this dashboard", "declare `cluster` under `variablesV2`, or write a value in its place"),
    _of("L501", "14:15", "`Shop` before it takes every line", "write it before that one, or remove it"),
    _of("L601", "6:19", "one fixed time", "write `quickSelection: {seconds: 3600}`, or say why by an exemption"),
    _comment("an ignore without codes", "M116", "needs the codes", " because"),
    _comment("an ignore without a reason", "M116", "needs a reason", "[M304]"),
    _comment("an ignore of a near code", "M116", "there is no code `M3O4`", "[M3O4] because", "M304"),
    _comment("an ignore of an error", "M116", "is an error wherever", "[M401] because"),
    _comment("an ignore of nothing", "M117", "line 10 has no complaint M304", "[M304] because", "remove it"),
]  # fmt: skip
