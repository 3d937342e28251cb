"""Write the golden reports again: look at every change of them before you keep it."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from example_change import SUFFIXES, example_reports, without_inline
from sample_audits import SAMPLES
from sample_evidence import reports
from sample_impacts import said_of_impacts
from sample_plans import (
    plan_of_against,
    plan_of_drifted,
    plan_of_new,
    plan_of_none,
    plan_of_three,
    plan_of_three_hundred,
    plan_with_signals,
)
from sample_reasons import said_of_each

from reconciler.features.audit.command import audit_markdown, audit_text
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

GUARDS = Path(__file__).parents[1] / "guards"
GOLDEN = Path(__file__).parent / "golden"

sys.path.insert(0, str(GUARDS))

for name, make in {
    "none": plan_of_none,
    "new": plan_of_new,
    "against": plan_of_against,
    "drifted": plan_of_drifted,
    "three": plan_of_three,
    "three-hundred": plan_of_three_hundred,
    "signals": plan_with_signals,
}.items():
    plan = make()
    (GOLDEN / f"plan-{name}.txt").write_text(plan_text(plan, Style()), encoding="utf-8")
    (GOLDEN / f"plan-{name}.md").write_text(plan_markdown(plan), encoding="utf-8")

for name, made in SAMPLES.items():
    (GOLDEN / f"audit-{name}.txt").write_text(audit_text(made(), Style()), encoding="utf-8")
    text = audit_markdown(made(), "production")
    (GOLDEN / f"audit-{name}.md").write_text(text, encoding="utf-8")

for name, text in reports().items():
    (GOLDEN / name).write_text(text, encoding="utf-8")

from sample_objections import said_of_plans  # noqa: E402 - a neighbour of the guards' tests

(GUARDS / "golden" / "objections.txt").write_text(said_of_plans(), encoding="utf-8")
(GOLDEN / "policy-impact.txt").write_text(said_of_impacts(), encoding="utf-8")
(GOLDEN / "reasons.txt").write_text(said_of_each(), encoding="utf-8")

with TemporaryDirectory() as folder:
    for form, text in example_reports(Path(folder)).items():
        (GOLDEN / f"example{SUFFIXES[form]}").write_text(without_inline(text), encoding="utf-8")
