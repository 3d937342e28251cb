"""The effect on samples of logs, in the reports of a plan. Pure."""

from __future__ import annotations

from typing import Final

from reconciler.features.policy_samples.policy_flow import policy_impact_section
from reconciler.features.policy_samples.policy_impact import PolicyImpact
from reconciler.features.policy_samples.policy_impact_formats import (
    policy_impact_document,
    policy_impact_lines,
    policy_impact_markdown,
)
from reconciler.report.sections import SectionFormats

FORMATS: Final[SectionFormats[PolicyImpact]] = SectionFormats(
    members=lambda impact: {"policyImpact": policy_impact_document(impact)},
    lines=policy_impact_lines,
    markdown=policy_impact_markdown,
    html=policy_impact_section,
    stale="the samples of logs did",
)
