"""M4 and M5: what can be wrong between manifests, and with expressions."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import (
    HEAD,
    PROJECT,
    Sample,
    diagnostic,
    manifest,
    slo,
    view,
)
from reconciler.keys import KEY_VARIABLE

_LOCAL = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {team: payments}
"""
_NEXT = "---\n"
_BOARD = f"{HEAD}kind: Dashboard\nmetadata: {{name: shop}}\nspec: {{file: shop.json}}\n"
_POLICIES = f"{HEAD}kind: LogPolicySet\nmetadata: {{name: all}}\nspec: {{policies: []}}\n"


def _local(text: str, **environ: str) -> Sample:
    return Sample(files={PROJECT: _LOCAL, "checkout.yaml": text}, environ=environ)


def _sampled(rows: str) -> Sample:
    project = _LOCAL + "    policySamples: policy-samples.yaml\n"
    files = {PROJECT: project, "checkout.yaml": slo(), "policy-samples.yaml": rows}
    return Sample(files=files)


WORKSPACE_CODES: Final = (
    diagnostic(
        "M401",
        "Two manifests of one kind have the same `metadata.name`.",
        "Plans, references and the journal know a resource by kind and name.",
        manifest(slo() + _NEXT + slo()),
        manifest(slo() + _NEXT + slo(name="payments")),
    ),
    diagnostic(
        "M402",
        "Two manifests mean the same object of the service: they have one id, or one slug. "
        "Small and capital letters do not tell them apart.",
        "Each apply would undo what the other one wrote.",
        manifest(view(metadata=", id: 7") + _NEXT + view(name="others", metadata=", id: 7")),
        manifest(view(metadata=", id: 7") + _NEXT + view(name="others", metadata=", id: 8")),
    ),
    diagnostic(
        "M403",
        "There are two manifests of kind LogPolicySet. The service has one ordered list, which a "
        "write replaces whole.",
        "The second write would destroy the policies of the first.",
        manifest(_POLICIES + _NEXT + _POLICIES.replace("all", "more")),
        manifest(_POLICIES),
    ),
    diagnostic(
        "M404",
        "`spec.file` names a file that is not there, stands outside the project folder, or does "
        "not hold one JSON object. The path is seen from the manifest.",
        "Without the export there is no dashboard to write.",
        manifest(_BOARD),
        manifest(_BOARD, shop_json='{"name": "Shop"}\n'),
    ),
    diagnostic(
        "M405",
        "Resources refer to each other in a circle, or one to itself.",
        "An id is known once its resource is there, so none of them could be the first.",
        manifest(slo("description: See ${ref:SLO/checkout}.")),
        manifest(slo("description: See ${ref:SLO/payments}.") + _NEXT + slo(name="payments")),
    ),
    diagnostic(
        "M406",
        "A row of the file that `policySamples` names is no sample of a log: `application`, "
        "`subsystem` and `severity` are needed, `policy` may stand beside them, and all are text. "
        "One that expects a policy which the declared list does not have is a warning.",
        "What a change of log policies does is told by the samples, so each has to mean something.",
        _sampled("- {application: shop, subsystem: checkout, severity: eror}\n"),
        _sampled("- {application: shop, subsystem: checkout, severity: error, policy: errors}\n"),
    ),
    diagnostic(
        "M501",
        "`${var:NAME}` names a variable that this environment does not have. Variables stand in "
        "`environments.NAME.variables` of the project file.",
        "A text with a hole in it would be sent. Each environment that the manifest is for needs "
        "the variable.",
        _local(slo("description: Owned by ${var:taem}.")),
        _local(slo("description: Owned by ${var:team}.")),
    ),
    diagnostic(
        "M502",
        "`${secret:NAME}` names an environment variable that is not set. `validate` does not ask "
        "for secrets; `plan` and `apply` do.",
        "A plan without the secret could not tell whether something changes.",
        _local(slo("description: ${secret:CHECKOUT_NOTE}")),
        _local(slo("description: ${secret:CHECKOUT_NOTE}"), CHECKOUT_NOTE="see the runbook"),
        command="plan",
    ),
    diagnostic(
        "M503",
        "`${ref:Kind/name}` names a resource that no manifest declares, or one that is limited to "
        "other environments.",
        "The reference stands for the id of that resource, which nobody could give.",
        manifest(slo("description: See ${ref:SLO/paymens}.") + _NEXT + slo(name="payments")),
        manifest(slo("description: See ${ref:SLO/payments}.") + _NEXT + slo(name="payments")),
    ),
    diagnostic(
        "M504",
        "A text looks like an expression and is none: `${vars:x}`, `${var:}`, or the syntax of "
        "another tool. There are `${var:NAME}`, `${secret:NAME}` and `${ref:Kind/name}`.",
        "It would be sent as it stands. If that is meant, `$${` is a literal `${`.",
        _local(slo("description: Owned by ${vars:team}.")),
        _local(slo("description: Owned by ${var:team}.")),
    ),
    diagnostic(
        "M505",
        "`${secret:NAME}` names the API key of reconciler, or a credential of the CI system.",
        "What is sent is stored by the service and shown to all who may read the resource.",
        manifest(slo(f"description: ${{secret:{KEY_VARIABLE}}}")),
        manifest(slo("description: ${secret:CHECKOUT_NOTE}")),
    ),
)
