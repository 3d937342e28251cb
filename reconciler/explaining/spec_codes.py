"""M3: what can be wrong with what stands under `spec`."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import HEAD, diagnostic, manifest, slo, view


def _board(*lines: str) -> str:
    more = "".join(f"    {line}\n" for line in lines)
    head = f"{HEAD}kind: Dashboard\nmetadata: {{name: shop}}\n"
    return f"{head}spec:\n  dashboard:\n    name: Shop\n{more}"


SPEC_CODES: Final = (
    diagnostic(
        "M301",
        "A value is a text where a number is wanted, a list where a mapping is, and so on. "
        "Quotes make a text of anything, and a comma or a `%` makes a text of a number.",
        "The service would refuse the whole write.",
        manifest(slo(target='"99,9 %"')),
        manifest(slo(target="99.9")),
    ),
    diagnostic(
        "M302",
        "A field is missing. It is an error where the API document requires the field, and a "
        "warning where services are only known to need it.",
        "The service would refuse the write, or store something that never does its work.",
        manifest(f"{HEAD}kind: SLO\nmetadata: {{name: checkout}}\nspec: {{name: Checkout}}\n"),
        manifest(slo()),
    ),
    diagnostic(
        "M303",
        "A field is not known and is a slip away from one that is. Fields are written as the API "
        "writes them, `entityLabels` and not `entity_labels`.",
        "The field that was meant would not be set, and the service may drop the other one "
        "without a word.",
        manifest(slo("descripton: Orders are paid.")),
        manifest(slo("description: Orders are paid.")),
    ),
    diagnostic(
        "M304",
        "A field is not in the API document, and near to none that is. It is sent as written, "
        "because the document is not complete.",
        "A service may refuse it or drop it. If it is right, the warning can stay.",
        manifest(slo("zebra: 1")),
        manifest(slo("labels: {zebra: striped}")),
    ),
    diagnostic(
        "M305",
        "The field is one that the service sets, or that belongs to `metadata`. It comes along "
        "where a stored record is pasted; `reconciler validate --fix` takes such fields out.",
        "A write cannot change it, so a manifest that declares it could never be fulfilled.",
        manifest(slo("createTime: 2026-11-22T10:00:00Z")),
        manifest(slo()),
    ),
    diagnostic(
        "M306",
        "The value is not one that is listed for this field. The API document does not list all "
        "values, so it is a warning, unless the document says that there are no others (M309).",
        "Services refuse values that they do not know.",
        manifest(view("viewType: VIEW_TYPE_LOG")),
        manifest(view("viewType: VIEW_TYPE_LOGS")),
    ),
    diagnostic(
        "M307",
        "A number, a length or a form is beyond what services were seen to take. The API document "
        "does not give the bound, so it is a warning: docs/assumptions.md lists all of them.",
        "The write is likely refused, or stored in another way than was written.",
        manifest(slo(target="101")),
        manifest(slo(target="99.9")),
    ),
    diagnostic(
        "M308",
        "Two fields stand there of which the service takes one.",
        "The service would refuse the write, or keep one of them.",
        manifest(view().replace("900}}", "900}, customSelection: {fromTime: a, toTime: b}}")),
        manifest(view()),
    ),
    diagnostic(
        "M309",
        "A value breaks a bound that the API document gives: an empty name, a text of another "
        "form, a number out of range, or a value that is not in a closed list.",
        "The document says that the service refuses it.",
        manifest(slo("sloTimeFrame: SLO_TIME_FRAME_30_DAYS")),
        manifest(slo("sloTimeFrame: SLO_TIME_FRAME_28_DAYS")),
    ),
    diagnostic(
        "M310",
        "Two fields do not go together: a type without its part, a gauge whose minimum is not "
        "below its maximum, an SLO that measures nothing.",
        "It may be stored, and then does not do what was meant.",
        manifest(slo(sli="")),
        manifest(slo()),
    ),
    diagnostic(
        "M311",
        "`yes`, `no`, `on` and `off` are texts in YAML 1.2. A boolean is `true` or `false`.",
        "A text where a boolean is wanted is refused, and older readers take it for a boolean.",
        manifest(view("isCompactMode: yes")),
        manifest(view("isCompactMode: true")),
    ),
    diagnostic(
        "M312",
        "Two items of one list have the same id or name, by which items are told apart.",
        "A change of one could be taken for a change of the other. Where the name is all that "
        "the service knows an item by, it is an error.",
        manifest(_board("variables:", "  - name: team", "  - name: team")),
        manifest(_board("variables:", "  - name: team", "  - name: region")),
    ),
    diagnostic(
        "M313",
        "A text has the form of a key, a token or a password.",
        "What stands in git can be read by all who have the repository, for good. "
        "`${secret:NAME}` is filled in from the environment when it is sent.",
        manifest(slo("description: AKIAIOSFODNN7EXAMPLE")),
        manifest(slo("description: ${secret:CHECKOUT_NOTE}")),
    ),
    diagnostic(
        "M314",
        "A number is so small or large that it is likely in another unit, as a share of 1 where "
        "per cent are wanted.",
        "The service takes it, and an objective of 0.999 % is always met.",
        manifest(slo(target="0.999")),
        manifest(slo(target="99.9")),
    ),
)
