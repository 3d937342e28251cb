# ruff: noqa: E501 - a table reads best with one case a line
"""Files that cannot be had, expressions that lead nowhere, and what is only doubtful."""

from __future__ import annotations

from dataclasses import replace

from wrong import FILE, PROJECT, SLI, Wrong, alert, board, board_of, policies, slo, text, view

from reconciler.workspace.expression_scope import NOT_DECLARED

_BOARD = '{"name": "Shop"}'


def _file(name: str, file: str, says: str, **more: str) -> Wrong:
    return Wrong(name, "M404", f"{FILE}:5:9", says, {FILE: board_of(file), **more})


def _linked(name: str, link: str, target: str, code: str, at: str, says: str) -> Wrong:  # noqa: PLR0917 - a row of a table
    return Wrong(name, code, at, says, {FILE: board_of("board.json")}, links={link: target})


FILES = [
    _file("an export that is not there", "lost.json", "`lost.json`: this file does not exist"),
    _file("an export above", "../../../../../../../etc/hostname", "leads out of the project folder"),
    _file("an absolute export", "/etc/passwd", "must be relative to the manifest"),
    _file("a folder for an export", ".", "is not a regular file"),
    _file("an export with a NUL", '"a\\0.json"', "NUL"),
    _file("an export of a long name", "n" * 300 + ".json", "file name too long"),
    _file("an empty file name", '""', "is not a regular file"),
    _file("a list for an export", "list.json", "does not hold one JSON object", **{"list.json": "[]"}),
    _file("an empty export", "empty.json", "does not hold one JSON object", **{"empty.json": ""}),
    _linked("an export linked out", "board.json", "/etc/hostname", "M404", f"{FILE}:5:9", "leads out of the project folder"),
    _linked("a manifest linked out", "out.yaml", "/etc/hostname", "M112", "out.yaml", "leads out of the project folder"),
    _linked("a link to nothing", "lost.yaml", "nowhere", "M112", "lost.yaml", "a link that leads nowhere"),
    _linked("a link to itself", "loop.yaml", "loop.yaml", "M112", "loop.yaml", "its links form a loop"),
    _linked("a device", "null.yaml", "/dev/null", "M112", "null.yaml", "leads out of the project folder"),
    Wrong("a wrong field in an export", "M301", "board.json:1:10", "`name` must be text", {FILE: board_of("board.json"), "board.json": '{"name": 1}'}, '"1"'),
    Wrong("a wrong field in a record", "M301", "board.json:1:24", "`name` must be text", {FILE: board_of("board.json"), "board.json": '{"dashboard": {"name": 1}}'}, '"1"'),
    text("a file beside a dashboard", "M308", "7:3", "exclude each other", board() + "  file: board.json\n"),
]  # fmt: skip

_SAMPLED = PROJECT.replace("    variables", "    policySamples: logs.yaml\n    variables")
_PLACE = "reconciler.yaml:6:20"
_WAY = "begin it with `- {application: shop, subsystem: checkout, severity: error}`"
_ROW = "{application: shop, subsystem: cart, severity: error}"


def _sampled(name: str, place: str, says: str, rows: str, suggests: str = "") -> Wrong:
    return Wrong(
        name,
        "M406",
        f"logs.yaml:{place}",
        says,
        {"reconciler.yaml": _SAMPLED, "logs.yaml": rows, FILE: slo()},
        suggests,
    )


SAMPLES = [
    _sampled("a sample of an unknown severity", "2:50", "`eror` is no severity", f"- {_ROW}\n- {_ROW.replace('error', 'eror')}\n", "error"),
    _sampled("samples that are no list", "1:1", "holds one list", f"rows: [{_ROW}]\n", _WAY),
    _sampled("no samples at all", "1:1", "holds one list", "[]\n", _WAY),
    _sampled("a sample that is text", "1:3", "a sample is a mapping", "- shop\n"),
    _sampled("a sample without a severity", "1:3", "`severity` is required", "- {application: shop, subsystem: cart}\n"),
    _sampled("a sample of an unknown field", "1:57", "unknown field `polcy`", f"- {_ROW[:-1]}, polcy: a}}\n", "policy"),
    _sampled("a sample of a number", "1:17", "`application` must be text", f"- {_ROW.replace('shop', '7')}\n"),
    _sampled("a sample of a long name", "1:17", "1,025 characters", f"- {_ROW.replace('shop', 'n' * 1025)}\n"),
    _sampled("a policy that is a number", "1:65", "or null for no policy", f"- {_ROW[:-1]}, policy: 7}}\n"),
    _sampled("too many samples", "1001:3", "1,001 samples", f"- {_ROW}\n" * 1001),
    Wrong("samples that are not there", "M112", _PLACE, "names `logs.yaml`: this file does not exist", {"reconciler.yaml": _SAMPLED, FILE: slo()}),
    _sampled("a ConfigMap for samples", "1:1", "this one a `ConfigMap`", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {}\n", _WAY),
    _sampled("an empty file for samples", "1:1", "this one is empty", "", _WAY),
    _sampled("samples in two documents", "3:1", "this one has 2 documents", f"- {_ROW}\n---\n- {_ROW}\n", "keep one list in it"),
    Wrong("samples that are not well-formed", "M101", "logs.yaml:1:3", "", {"reconciler.yaml": _SAMPLED, "logs.yaml": "- {\n", FILE: slo()}),
]  # fmt: skip

EXPRESSIONS = [
    text("a near miss of var", "M504", "9:21", "`$${vars:team}` for a literal", slo("description: team ${vars:team}"), "${var:team}"),
    text("an unknown variable", "M501", "9:16", "there is no variable `taem`: known are team", slo("description: ${var:taem}"), "${var:team}"),
    text("a variable far from any", "M501", "9:19", "there is no variable `owner`: known are team", slo("description: by ${var:owner}"), suggests="declare it in reconciler.yaml, environments.local.variables"),
    text("an escaped expression", "M501", "9:16", "no variable `owner`", slo('description: "\\u0024{var:owner}"'), suggests="declare it in reconciler.yaml, environments.local.variables"),
    text("an unknown resource", "M503", "9:16", "there is no `SLO/checkuot`", slo("description: ${ref:SLO/checkuot}"), "${ref:SLO/checkout}"),
    text("the first of two unknown", "M503", "9:17", "there is no `SLO/lost`", slo('description: "${ref:SLO/lost} ${ref:SLO/checkout}"'), suggests=NOT_DECLARED),
    text("a resource of another environment", "M503", "9:16", "limited to other environments than `local`", slo("description: ${ref:SLO/other}") + "---\n" + slo().replace("name: checkout", "name: other\n  environments: [production]")),
    text("the second of two unknown", "M503", "9:41", "there is no `SLO/lost`", slo('description: "${ref:SLO/checkout} and ${ref:SLO/lost}"'), suggests=NOT_DECLARED),
    text("the second of two that read the same", "M504", "11:5", "`${var:}` is malformed", slo("description: |", "  $${var:} is text", "  ${var:}")),
    text("an expression in block text", "M501", "11:8", "no variable `owner`", slo("description: >-", "  owned", "  by ${var:owner}, and # ${var:owner}"), suggests="declare it in reconciler.yaml, environments.local.variables"),
    text("an expression in a quoted comment", "M501", "9:16", "no variable `owner`", slo('description: "\\u0024{var:owner}" # ${var:owner}'), suggests="declare it in reconciler.yaml, environments.local.variables"),
    text("a near miss by case", "M504", "9:16", "`${Var:team}` is no expression", slo("description: ${Var:team}"), "${var:team}"),
    text("the environment of the process", "M504", "9:16", "`$${env:HOME}` for a literal", slo("description: ${env:HOME}"), "${secret:HOME}"),
    text("an expression left open", "M504", "9:17", "write ${var:NAME}", slo('description: "${var:team"')),
    text("a variable without a name", "M504", "9:16", "`${var:}` is malformed", slo("description: ${var:}")),
    text("a name with a blank", "M504", "9:16", "`${secret:MY KEY}` is malformed", slo("description: ${secret:MY KEY}")),
    text("a reference without a kind", "M504", "9:16", "write ${ref:Kind/name}", slo("description: ${ref:checkout}")),
    text("a resource that is itself", "M405", "9:16", "SLO/checkout → SLO/checkout", slo("description: ${ref:SLO/checkout}")),
    text("two that wait for each other", "M405", "9:16", "SLO/checkout → SLO/other → SLO/checkout", slo("description: ${ref:SLO/other}") + "---\n" + slo('description: "${ref:SLO/checkout} ${ref:SLO/third}"').replace("name: checkout", "name: other") + "---\n" + slo().replace("name: checkout", "name: third")),
    text("a number into text", "M301", "9:16", "`description` must be text", slo("description: ${var:threshold}"), "write another value of the variable in the project file"),
    text("a label of a number", "M204", "5:18", "must be text", slo().replace("name: checkout", 'name: checkout\n  labels: {tier: "${var:threshold}"}'), "write another value of the variable in the project file"),
    text("the API key", "M505", "9:20", "`${secret:RECONCILER_API_KEY}` is the API key", slo("description: key ${secret:RECONCILER_API_KEY}"), "remove it, or name a secret of your own"),
    text("a token of the CI system", "M505", "9:16", "is a credential of the CI system", slo("description: ${secret:GITHUB_TOKEN}"), "remove it, or name a secret of your own"),
    Wrong("a secret that is not set", "M502", f"{FILE}:9:16", "needs the environment variable NO_SUCH_SECRET", {FILE: slo("description: ${secret:NO_SUCH_SECRET}")}, command="plan"),
    Wrong("a conflict in the baseline", "M119", "baseline.jsonl:1:1", "no accepted complaint", {FILE: slo(), "reconciler.yaml": f"{PROJECT}baseline: baseline.jsonl\n", "baseline.jsonl": "<<<<<<< HEAD\n"}, "repair the line, or remove the file and run `reconciler validate --update-baseline`"),
    Wrong("two byte-order marks", "M118", FILE, "would change what this file says", {FILE: "\ufeff\ufeff" + slo()}, command="fmt"),
    Wrong("an expression in an export", "M501", "board.json:1:14", "no variable `owner`", {FILE: board_of("board.json"), "board.json": '{"name": "by ${var:owner}"}'}, suggests="declare it in reconciler.yaml, environments.local.variables"),
]  # fmt: skip


def _doubt(name: str, code: str, place: str, says: str, content: str, suggests: str = "") -> Wrong:  # noqa: PLR0917 - a row of a table
    return Wrong(name, code, f"{FILE}:{place}", says, {FILE: content}, suggests, exits=0)


DOUBTS = [
    _doubt("an empty file", "M113", "1:1", "holds no manifest", ""),
    _doubt("comments only", "M113", "1:1", "holds no manifest", "# nothing\n"),
    _doubt("empty documents", "M113", "1:1", "holds no manifest", "---\n---\n~\n...\n"),
    _doubt("a leading zero", "M114", "7:30", "is the number 12 in YAML 1.2", slo().replace("99.9", "012")),
    _doubt("a field nobody knows", "M304", "9:3", "is sent as written", slo("zebra: 1")),
    _doubt("a near enumeration", "M306", "9:13", "is not a listed value", view("viewType: VIEW_TYPE_LOG"), "VIEW_TYPE_LOGS"),
    _doubt("a share for per cent", "M314", "7:30", "0.999 is less than 1 %", slo().replace("99.9", "0.999"), "99.9"),
    replace(_doubt("more than a service takes", "M307", "7:30", "at most 100", slo().replace("99.9", "101")), exits=4),
    replace(_doubt("an SLO of nothing", "M310", "6:3", "measures nothing", slo().replace(f"  requestBasedMetricSli: {SLI}\n", ""), "write requestBasedMetricSli or windowBasedMetricSli"), exits=4),
    _doubt("a dashboard variable twice", "M312", "9:15", "names an item of this list already", board("variables:", "  - name: team", "  - name: team")),
    _doubt("a PromQL query", "L901", "9:58", "is never closed", slo("windowBasedMetricSli:", "  query: {query: 'sum(rate(http_requests_total{job=\"a\"}[5m))'}", "  window: WINDOW_SLO_WINDOW_1_MINUTE", "  comparisonOperator: COMPARISON_OPERATOR_GREATER_THAN", "  threshold: 1").replace(f"  requestBasedMetricSli: {SLI}\n", ""), "[5m]"),
    _doubt("a Lucene query", "L902", "9:36", "joins two conditions", view('searchQuery: {query: "level:a OR AND b"}')),
    _doubt("an expression of other tools", "M504", "9:16", "is sent as text", slo("description: ${var.team}"), "${var:team}"),
    _doubt("a key in git", "M313", "9:16", "looks like a key", slo("description: AKIAIOSFODNN7EXAMPLE"), "${secret:NAME}"),
    Wrong("a stray JSON file", "M113", "package.json", "no manifest's spec.file names it", {FILE: slo(), "package.json": _BOARD}, exits=0, suggests="write `spec: {file: package.json}` in one, or `exclude:` it in reconciler.yaml"),
    Wrong("a stray broken JSON file", "M113", "package.json", "no manifest's spec.file names it", {FILE: slo(), "package.json": "{,}"}, exits=0, suggests="write `spec: {file: package.json}` in one, or `exclude:` it in reconciler.yaml"),
]  # fmt: skip


def _each(*lines: str, items: str, name: str = "${each:name}") -> str:
    """Give an SLO with a `forEach` in its first line, and these in its spec; 10 is the first."""
    return f"forEach: {items}\n" + slo(*lines).replace("name: checkout", f'name: "{name}"')


def _with_overrides(*lines: str) -> str:
    """Give an SLO with `overrides` in its first line, and these in it; 2 is the first."""
    return "overrides:\n" + "".join(f"  {line}\n" for line in lines) + slo()


def _including(name: str, place: str, says: str, named: str, **files: str) -> Wrong:
    """Give a case of an SLO whose description is a file."""
    content = slo(f"description: ${{file:{named}}}")
    return Wrong(name, "M512", place, says, {FILE: content, **files})


_ITEMS = "[{name: a, team: x}, {name: b, team: y}]"
REUSE = [
    text("overrides as a list", "M212", "1:12", "`overrides` must be a mapping of environments", "overrides: [local]\n" + slo()),
    text("an override of nothing", "M212", "2:10", "must be a mapping of fields of `spec`", _with_overrides("local: 5")),
    text("an override elsewhere", "M207", "2:3", "`prodction` is not an environment", _with_overrides("prodction: {name: x}"), "production"),
    text("an unknown field in an override", "M303", "2:11", "unknown field `nmae`", _with_overrides("local: {nmae: x}"), "name"),
    text("an unknown field in another override", "M303", "2:16", "unknown field `nmae`", _with_overrides("production: {nmae: x}"), "name"),
    text("a wrong type in another override", "M301", "2:22", "`name` must be text", _with_overrides("production: {name: 5}"), '"5"'),
    text("an item without its key", "M212", "2:22", "has no `policy.name`", "overrides:\n  local: {policies: [{logRules: {}}]}\n" + policies("policies:", "  - policy: {name: a, description: d, priority: PRIORITY_TYPE_HIGH}", "    logRules: {severities: [SEVERITY_ERROR]}"), "add `policy.name`"),
    text("overrides indented too far", "M208", "5:3", "`overrides` is inside `metadata`", slo().replace("  name: checkout\n", "  name: checkout\n  overrides: {}\n")),
    text("items as text", "M213", "1:10", "must be a list of mappings", _each(items="abc")),
    text("an item that is text", "M213", "1:11", "item 1 must be a mapping", _each(items="[a, {name: b}]"), "{name: a}"),
    text("an empty item", "M213", "1:22", "item 2 is empty", _each(items="[{name: a}, {}]"), "remove it"),
    text("equal items", "M213", "1:22", "item 2 is the same as item 1", _each(items="[{name: a}, {name: a}]"), "remove one of them"),
    Wrong("no items", "M213", f"{FILE}:1:10", "nothing is made of this manifest", {FILE: _each(items="[]")}, exits=0),
    Wrong("a key that nothing names", "M214", f"{FILE}:1:21", "nothing names `team`", {FILE: _each(items=_ITEMS)}, exits=0),
    text("tests that are no list", "M215", "10:8", "must be a list of tests", alert() + "tests: {}\n", "write `- {name: …, logs: […], expect: {fires: true}}`"),
    text("a test without rows", "M215", "10:9", "must be a list of rows", alert() + "tests: [{name: a, expect: {fires: true}}]\n"),
    text("a test that expects nothing", "M215", "10:9", "needs `expect: {fires: true}`", alert() + "tests: [{name: a, logs: [{at: 0s}]}]\n"),
    text("a near field of a test", "M215", "10:60", "unknown field `strat` of a test", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: true}, strat: x}]\n", "start"),
    text("a row without a time", "M215", "10:26", "`at` must be a duration", alert() + "tests: [{name: a, logs: [{text: a}], expect: {fires: true}}]\n"),
    text("a row of no severity", "M215", "10:45", "`eror` is no severity", alert() + "tests: [{name: a, logs: [{at: 0s, severity: eror}], expect: {fires: true}}]\n", "error"),
    text("an end before the start", "M215", "10:67", "`until` must be", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: true}, until: 2020-01-01T00:00:00Z}]\n"),
    text("a priority that is none", "M215", "10:69", "is no priority", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: true, priority: 1}}]\n"),
    text("a priority of quiet", "M215", "10:45", "has no priority", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: false, priority: P1}}]\n"),
    text("groups that are no mappings", "M215", "10:67", "must be a list of mappings", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: true, groups: [a]}}]\n"),
    replace(text("a test that does not hold", "T101", "10:9", "the alert fires; 1 row matched", alert() + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: false}}]\n"), command="test"),
    replace(Wrong("a test of a metric", "T102", f"{FILE}:10:9", "not evaluated: alerts of type metric threshold", {FILE: alert().replace("LOGS_IMMEDIATE_OR_UNSPECIFIED", "METRIC_THRESHOLD").replace("logsImmediate: {}", "metricThreshold: {}") + "tests: [{name: a, logs: [{at: 0s}], expect: {fires: false}}]\n"}, exits=0), command="test"),
    replace(text("rows that are not there", "T103", "10:9", "there is no such file", alert() + "tests: [{name: a, logs: lost.jsonl, expect: {fires: false}}]\n"), command="test"),
    text("two items of one name", "M401", "5:9", "in item 2 (team: y)", _each("description: ${each:team}", items="[{team: x}, {team: y}]", name="a")),
    text("a key that no item has", "M511", "10:16", "no item of `forEach` has `taem`", _each("description: ${each:taem}", items=_ITEMS), "${each:team}"),
    text("a key that one item lacks", "M511", "1:31", "this item has no `team`, which others have and the manifest names, in item 2 (name: b)", _each("description: ${each:team}", items="[{name: a, team: x}, {name: b}]")),
    text("an item's value of a wrong type", "M301", "1:27", "must be text, not the number 5, in item 1 (name: a)", _each("description: ${each:team}", items="[{name: a, team: 5}, {name: b, team: y}]"), '"5"'),
    text("an item without forEach", "M511", "9:16", "is in a manifest without `forEach`", slo("description: ${each:team}"), "write $${each:team} for a literal, or add `forEach`"),
    text("a list inside a text", "M513", "10:19", "is a list, and is inside a text", _each("description: by ${each:teams}", items="[{name: a, teams: [x]}]"), "let it be all of the value, or name a text inside of it, as in NAME.key"),
    text("a file inside a text", "M513", "9:19", "it must be all of a value", slo("description: by ${file:a.yaml}")),
    _including("an included file that is not there", f"{FILE}:9:16", "this file does not exist", "lost.yaml"),
    _including("an included file above", f"{FILE}:9:16", "leads out of the project folder", "../../../../../../../etc/fstab.yaml"),
    _including("an absolute included file", f"{FILE}:9:16", "must be relative to the file", "/etc/passwd.yaml"),
    _including("an included text", f"{FILE}:9:16", "only YAML and JSON are included", "runbook.md", **{"runbook.md": "x"}),
    _including("two included documents", f"{FILE}:9:16", "it holds 2 documents", "a.yaml", **{"a.yaml": "a\n---\nb\n"}),
    _including("nothing included", f"{FILE}:9:16", "it holds no documents", "a.yaml", **{"a.yaml": ""}),
    _including("a file that includes itself", "a.yaml:1:3", "files include each other: checkout.yaml → a.yaml → a.yaml, included by checkout.yaml:9", "a.yaml", **{"a.yaml": "- ${file:a.yaml}\n"}),
    Wrong("a wrong value in an included file", "M301", "a.yaml:1:1", "must be text, not the number 5, included by checkout.yaml:9", {FILE: slo("description: ${file:a.yaml}"), "a.yaml": "5\n"}, '"5"'),
    Wrong("an included file that is broken", "M101", "a.yaml:1:4", "included by checkout.yaml", {FILE: slo("description: ${file:a.yaml}"), "a.yaml": "a: [\n"}),
    Wrong("an included file linked out", "M512", f"{FILE}:9:16", "leads out of the project folder", {FILE: slo("description: ${file:out.yaml}")}, links={"out.yaml": "/etc/hostname"}),
]  # fmt: skip

WORKSPACES = [*FILES, *SAMPLES, *EXPRESSIONS, *DOUBTS, *REUSE]
