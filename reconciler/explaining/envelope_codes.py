"""M2: what can be wrong with what stands around `spec`."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import HEAD, PROJECT, Sample, diagnostic, manifest, slo, view

_ALERT = """\
spec:
  name: Checkout errors
  description: Orders fail; the runbook is in the wiki.
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {}
"""
_UUID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
_TWO = """\
defaultEnvironment: staging
environments:
  staging: {emulator: {data: .reconciler/staging.db}}
  production: {baseUrl: https://api.example.com}
"""


def _in_two(text: str) -> Sample:
    return Sample(files={PROJECT: _TWO, "errors.yaml": text})


ENVELOPE_CODES: Final = (
    diagnostic(
        "M201",
        "The document is a list, a text, or a mapping with none of the fields of a manifest: a "
        "file of another tool, or an export of the service as it came.",
        "Files that are no manifests belong to `exclude:` of the project file. What the service "
        "exported becomes a manifest with `reconciler import --from FILE`.",
        manifest("services: {web: {image: shop}}\n"),
        manifest(slo()),
    ),
    diagnostic(
        "M202",
        "`apiVersion` says by which rules the manifest is read. There is one: `reconciler/v1`.",
        "A later version may give fields another meaning, so none is assumed.",
        manifest(slo().replace("/v1", "/v2")),
        manifest(slo()),
    ),
    diagnostic(
        "M203",
        "`kind` says what is declared: SLO, AlertDefinition, Dashboard, LogPolicySet or SavedView. "
        "Capitals count.",
        "Without the kind nothing below `spec` can be checked.",
        manifest(slo().replace("kind: SLO", "kind: Slo")),
        manifest(slo()),
    ),
    diagnostic(
        "M204",
        "`metadata` is not a mapping with a `name`, or one of its fields has the wrong form: "
        "labels are text by name, `environments` is a list of names, `protect` is true or false.",
        "Metadata is what this workspace knows of a resource. None of it is sent.",
        manifest(slo(name="checkout, labels: {tier: 1}")),
        manifest(slo(name='checkout, labels: {tier: "1"}')),
    ),
    diagnostic(
        "M205",
        "A name has lower-case letters, digits and `.`, `_`, `-`, with a letter or digit first, "
        "and at most 253 of them.",
        "The name stands in plans, in the journal, in `${ref:Kind/name}` and on command lines. "
        "What people see is the name in `spec`, which may hold anything.",
        manifest(slo(name="Checkout Errors")),
        manifest(slo(name="checkout-errors")),
    ),
    diagnostic(
        "M206",
        "`metadata.id` is what the service calls the resource. It has the form that the service "
        "gives ids of this kind, and an alert definition needs one, as the API cannot create it.",
        "A wrong id would change another resource, or none. Make the alert in the web interface "
        "and copy its id from there, or let `reconciler import --from FILE` make the manifest of "
        "its export, id and all.",
        manifest(f"{HEAD}kind: AlertDefinition\nmetadata: {{name: errors}}\n{_ALERT}"),
        manifest(f"{HEAD}kind: AlertDefinition\nmetadata: {{name: errors, id: {_UUID}}}\n{_ALERT}"),
    ),
    diagnostic(
        "M207",
        "`metadata.environments` or `metadata.ids` names an environment that the project file does "
        "not have.",
        "The manifest would be applied nowhere, without a word.",
        _in_two(view(metadata=", environments: [prodution]")),
        _in_two(view(metadata=", environments: [production]")),
    ),
    diagnostic(
        "M208",
        "There is a field beside `spec`, or in `metadata`, that means nothing here. It is often a "
        "slip, or a field of `spec` that is indented too little.",
        "What is not known cannot be obeyed, and would be dropped without a word.",
        manifest(slo(name="checkout, label: {team: payments}")),
        manifest(slo(name="checkout, labels: {team: payments}")),
    ),
    diagnostic(
        "M209",
        "One `id` is used in several environments. Ids of this kind are counted by each service, "
        "so the same number is another resource elsewhere.",
        "An apply to one environment could overwrite a stranger's resource.",
        _in_two(view(metadata=", id: 7")),
        _in_two(view(metadata=", ids: {staging: 7, production: 12}")),
    ),
    diagnostic(
        "M210",
        "`metadata.exempt` is no mapping of codes to reasons, lacks a reason, or names a code that "
        "cannot be exempted.",
        "An exemption is a promise to those who read it later: it says what may be so, and why.",
        manifest(slo(name='checkout, exempt: {L404: ""}')),
        manifest(slo(name="checkout, exempt: {L404: it is watched by another team}")),
        page="practice",
    ),
    diagnostic(
        "M211",
        "The last day of an exemption, `until`, is over: the complaint is told again.",
        "Mend what it tells, or say until when it may stay.",
        manifest(slo(name="checkout, exempt: {L404: {reason: being built, until: 2024-01-31}}")),
        manifest(slo(name="checkout, exempt: {L404: {reason: being built, until: 2999-12-31}}")),
        page="practice",
    ),
)
