# ruff: noqa: E501 - a table reads best with one case a line
"""Well-formed documents that are no manifests, or declare what cannot be. docs/manifests.md."""

from __future__ import annotations

from dataclasses import replace

from wrong import Wrong, alert, board, envelope, policies, slo, text, view

from reconciler.workspace.envelope import ID_SOURCE

_V1 = "apiVersion: reconciler/v1"
_NAME = "metadata: {name: checkout}"
_INT32 = "an integer from 1 to 2147483647"


def _name(name: str, suggests: str = "") -> Wrong:
    content = envelope(_V1, "kind: SLO", f"metadata: {{name: {name}}}")
    return text(f"the name {name[:20]}", "M205", "3:18", "is not a name", content, suggests)


_COPIED = "copy it from the web interface, or remove it for what is new"


def _view_id(written: str, says: str = _INT32, suggests: str = _COPIED) -> Wrong:
    content = view(id_line=f"id: {written}")
    return text(f"the view id {written}", "M206", "5:7", says, content, suggests)


def _exempt(written: str) -> str:
    return envelope(_V1, "kind: SLO", f"metadata: {{name: a, exempt: {written}}}")


ENVELOPES = [
    text("a list", "M201", "1:1", "begins with `apiVersion", "- a\n- b\n"),
    text("plain text", "M201", "1:1", "begins with `apiVersion", "hello\n"),
    text("a compose file", "M201", "1:1", "it has none of", "services: {web: {}}\n"),
    text("no apiVersion", "M202", "1:1", "is required", envelope("kind: SLO", _NAME), suggests="add it as the first key"),
    text("another apiVersion", "M202", "1:13", "unknown apiVersion `reconciler/v2`", envelope("apiVersion: reconciler/v2", "kind: SLO", _NAME), "reconciler/v1"),
    text("apiVersion 1", "M202", "1:13", "the number 1", envelope("apiVersion: 1", "kind: SLO", _NAME), "reconciler/v1"),
    text("no kind", "M203", "1:1", "one of SLO, AlertDefinition", envelope(_V1, _NAME), suggests="add `kind: SLO`"),
    text("a near kind", "M203", "2:7", "unknown kind `Alertdefinition`", envelope(_V1, "kind: Alertdefinition", _NAME), "AlertDefinition"),
    text("a far kind", "M203", "2:7", "unknown kind `Pod`", envelope(_V1, "kind: Pod", _NAME)),
    text("kind true", "M203", "2:7", "unknown kind true", envelope(_V1, "kind: true", _NAME)),
    text("kind as a list", "M203", "2:7", "unknown kind a list", envelope(_V1, "kind: [SLO]", _NAME)),
    text("no metadata", "M204", "1:1", "`metadata` with a `name`", envelope(_V1, "kind: SLO"), suggests="add `metadata: {name: checkout}`"),
    text("metadata as a list", "M204", "3:11", "not a list", envelope(_V1, "kind: SLO", "metadata: [x]")),
    text("metadata null", "M204", "3:10", "not null", envelope(_V1, "kind: SLO", "metadata:")),
    text("labels not text", "M204", "3:36", "the label `tier` must be text, not the number 1", envelope(_V1, "kind: SLO", "metadata: {name: a, labels: {tier: 1}}"), '"1"'),
    text("labels boolean", "M204", "3:34", "not true", envelope(_V1, "kind: SLO", "metadata: {name: a, labels: {on: true}}"), '"true"'),
    text("labels as a list", "M204", "3:29", "mapping of text, not a list", envelope(_V1, "kind: SLO", "metadata: {name: a, labels: [x]}"), suggests="write each as `KEY: VALUE`"),
    text("environments as text", "M204", "3:35", "a list of names", envelope(_V1, "kind: SLO", "metadata: {name: a, environments: local}"), suggests="[local]"),
    text("no name", "M205", "3:11", "`metadata.name` is required", envelope(_V1, "kind: SLO", "metadata: {labels: {}}"), suggests="add `name: checkout`"),
    _name("Checkout Errors", "checkout-errors"),
    _name("-leading", "leading"),
    _name("büro", "b-ro"),
    _name("7", '"7"'),
    _name("true"),
    _name("[a]"),
    _name('"a\\n::stop-commands::x"', "a-stop-commands-x"),
    _name("n" * 300, "n" * 253),
    text("an unknown environment", "M207", "3:36", "`prodution` is not an environment", envelope(_V1, "kind: SLO", "metadata: {name: a, environments: [prodution]}"), "production"),
    text("a field beside spec", "M208", "3:1", "unknown field `spce`", envelope(_V1, "kind: SLO", "spce: {}", _NAME), "keep one of `spce`, `spec`"),
    text("a field in metadata", "M208", "3:21", "unknown field `label`", envelope(_V1, "kind: SLO", "metadata: {name: a, label: {}}"), "labels"),
    text("a namespace", "M208", "3:21", "(known: name, id, ids, labels, environments, protect, exempt)", envelope(_V1, "kind: SLO", "metadata: {name: a, namespace: x}")),
    text("exemptions as a list", "M210", "3:29", "a mapping of codes to reasons", _exempt("[L201]")),
    text("an exemption from a near code", "M210", "3:30", "there is no code `M3O4`", _exempt("{M3O4: legacy}"), "M304"),
    text("an exemption from an error", "M210", "3:30", "is an error wherever it is found", _exempt("{M401: legacy}")),
    text("an exemption from an unknown rule", "M210", "3:30", "there is no rule `R/owner` (known: none)", _exempt("{R/owner: legacy}")),
    text("an exemption without a reason", "M210", "3:36", "needs a reason", _exempt('{M304: ""}')),
    text("an exemption with an end and no reason", "M210", "3:36", "needs a reason", _exempt("{M304: {until: 2199-01-01}}")),
    text("an exemption with a wrong field", "M210", "3:37", "unknown field `untill`", _exempt("{M304: {untill: 2199-01-01}}"), "until"),
    text("an exemption with no such day", "M210", "3:60", "the last day that it holds", _exempt("{M304: {reason: legacy, until: 2026-02-30}}")),
    replace(text("an exemption that ended", "M211", "3:60", "ended with 2020-02-29", _exempt("{M304: {reason: legacy, until: 2020-02-29}}")), exits=0),
    text("no spec", "M302", "1:1", "`spec` is required", f"{_V1}\nkind: SLO\n{_NAME}\n", suggests="add it after `metadata`, with the fields of the resource below it"),
]  # fmt: skip

IDS = [
    text("an alert without id", "M206", "4:3", "is required: a uuid. The API can neither", alert(id_line="labels: {}"), str(ID_SOURCE)),
    text("an alert of a bad uuid", "M206", "5:7", "must be a uuid; it is `2f6a`", alert(id_line="id: 2f6a"), suggests="copy it from the web interface"),
    text("a uuid in braces", "M206", "5:7", "must be a uuid", alert(id_line='id: "{2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}"'), suggests="copy it from the web interface"),
    text("a number for a uuid", "M206", "5:7", "it is the number 7", alert(id_line="id: 7"), suggests="copy it from the web interface"),
    _view_id("2147483648"),
    _view_id("0"),
    _view_id("-1"),
    _view_id("1.0"),
    _view_id('"12"', "it is the text `12`", "12"),
    _view_id('"-1"', "it is `-1`"),
    _view_id("true", "it is true"),
    _view_id("[1]", "it is a list"),
    text("ids beside an id", "M206", "6:3", "exclude each other", view(id_line="id: 1\n  ids: {local: 2}"), "remove one of them"),
    text("ids as a list", "M204", "5:8", "environments to ids, not a list", view(id_line="ids: [1]")),
    text("ids as text", "M204", "5:8", "not `production`", view(id_line="ids: production")),
    text("ids of an unknown environment", "M207", "5:9", "`prodution` is not an environment", view(id_line="ids: {prodution: 1}"), "production"),
    text("a wrong id of another environment", "M206", "5:21", "it is `a`", view(id_line="ids: {production: a}"), suggests="copy it from the web interface, or remove it for what is new"),
    text("no id of an environment", "M206", "5:21", "it is null", view(id_line="ids: {production: }"), suggests="copy it from the web interface, or remove it for what is new"),
    text("an id among ids of the policy set", "M206", "3:41", "must be left out", policies("policies: []").replace("}", ", ids: {local: all}}", 1), suggests="remove it"),
    text("an alert without an id here", "M206", "5:3", "has no id for `local`", alert(id_line="ids: {production: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}")),
    replace(text("a view id in each environment", "M209", "5:7", "the id 7 is used in local, production", view(id_line="id: 7")), exits=0),
    replace(text("a view id in two environments", "M209", "5:7", "in production, local", view(id_line="id: 7\n  environments: [production, local]")), exits=0),
    text("an id of the policy set", "M206", "3:32", "must be left out", policies("policies: []").replace("}", ", id: all}", 1), suggests="remove it"),
    text("a dashboard id with a slash", "M206", "3:28", "1 to 64 of the characters", board().replace("}", ", id: a/b}", 1), suggests="copy it from the web interface, or remove it for what is new"),
]  # fmt: skip

SPECS = [
    text("a list for text", "M301", "9:16", "must be text, not a list", slo("description: [1]")),
    text("spec as a list", "M301", "4:7", "not a list", f"{_V1}\nkind: SLO\n{_NAME}\nspec: [x]\n"),
    text("spec null", "M301", "4:6", "not null", f"{_V1}\nkind: SLO\n{_NAME}\nspec:\n"),
    text("text for a list", "M301", "10:16", "must be a list, not text", alert("groupByKeys: team"), "[team]"),
    text("text for a number", "M301", "7:30", "a number, not text", slo().replace("99.9", '"99.9"'), "99.9"),
    text("a comma for the point", "M301", "7:30", "a number, not text", slo().replace("99.9", "99,9"), "99.9"),
    text("a number with its sign", "M301", "7:30", "a number, not text", slo().replace("99.9", "99.9%"), "99.9"),
    text("text for a mapping", "M301", "9:13", "a mapping of `labels`, not text", slo("grouping: team"), "{labels: [team]}"),
    text("a kind without a spec", "M301", "3:7", "a mapping of `name`, `timeSelection`", f"{_V1}\nkind: SavedView\nspec: x\nmetadata: {{name: a}}\n"),
    text("a required field left out", "M302", "6:3", "`targetThresholdPercentage` is required", slo().replace("  targetThresholdPercentage: 99.9\n", "")),
    text("a near field", "M303", "9:3", "unknown field `descripton`", slo("descripton: x"), "description"),
    text("a field in snake case", "M303", "10:3", "`entity_labels`", alert("entity_labels: {}"), "entityLabels"),
    text("a time stamp", "M305", "9:3", "`createTime` is set by the service", slo("createTime: 2024-01-01"), "remove it"),
    text("an id in spec", "M305", "9:3", "`id` is in metadata", slo("id: x"), "metadata.id"),
    text("an order", "M305", "7:9", "`order` is set by the service", policies("policies:", "  - policy:", "      order: 1", "      name: a"), "remove it: the place in the list counts"),
    text("enabled for disabled", "M305", "6:28", "`enabled`", policies("policies:", "- policy: {name: errors, enabled: true}"), "`disabled`, its opposite"),
    text("two indicators", "M308", "9:3", "exclude each other", slo("windowBasedMetricSli: {}")),
    text("an empty name", "M309", "7:9", "must not be empty", view().replace("Errors", '""')),
    text("a bad folder", "M309", "9:13", "a uuid in lower case", view("folderId: ABC")),
    text("yes for a boolean", "M311", "10:12", "is the text `yes`", alert("enabled: yes"), "true"),
    text("NO for a boolean", "M311", "10:12", "is the text `NO`", alert("enabled: NO"), "false"),
    text("off for a boolean", "M311", "9:18", "is the text `off`", view("isCompactMode: off"), "false"),
    text("1 for a boolean", "M301", "10:12", "true or false, not the number 1", alert("enabled: 1")),
    text("int32 overflow", "M309", "11:14", "at most 2147483647", alert("incidentsSettings:", "  minutes: 2147483648")),
    text("int32 underflow", "M309", "11:13", "at least -2147483648", alert("incidentsSettings:", " minutes: -2147483649")),
]  # fmt: skip

_TWO = "---\n"

PAIRS = [
    text("a name twice", "M401", "13:9", "`SLO/checkout` is declared at checkout.yaml:1 already", slo() + _TWO + slo()),
    text("a uuid twice, by case", "M402", "15:7", "`AlertDefinition/checkout-errors` at checkout.yaml:1 has this id too", alert() + _TWO + alert(id_line="id: 2F6A1C1E-7F0E-4C39-9C1A-0B8F0D8F4A11").replace("name: checkout-errors", "name: others")),
    text("a view id twice", "M402", "14:7", "has this id too: `7`", view() + _TWO + view().replace("name: errors", "name: others")),
    text("a slug twice, by case", "M402", "10:18", "has this slug too: `SHOP`", board(name="shop") + _TWO + board("slugName: SHOP", name="other")),
    text("a slug from a name twice", "M402", "10:18", "has this slug too: `a-b`", board(name="a.b") + _TWO + board(name="a-b")),
    text("two policy sets", "M403", "8:7", "put all in one manifest", policies("policies: []") + _TWO + policies("policies: []", name="more")),
    Wrong("a name in two files", "M401", "b.yaml:4:9", "declared at a.yaml:1 already", {"a.yaml": slo(), "b.yaml": slo()}),
    Wrong("one manifest in YAML and JSON", "M401", "b.json:1:69", "declared at a.yaml:1 already", {"a.yaml": slo(), "b.json": '{"apiVersion": "reconciler/v1", "kind": "SLO", "metadata": {"name": "checkout"}, "spec": {"name": "a", "targetThresholdPercentage": 1, "requestBasedMetricSli": {}}}'}),
]  # fmt: skip

MANIFESTS = [*ENVELOPES, *IDS, *SPECS, *PAIRS]
