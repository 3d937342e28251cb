"""Log policies as the service stores them, for listing. Source: docs/endpoints.md, 15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reconciler.model.assumptions import POLICIES
from reconciler.records.record import Enumeration, Record, Text, all_items_of, read_record

if TYPE_CHECKING:
    from reconciler.api.client import Api

PRIORITIES = Enumeration("PRIORITY_TYPE_", ("BLOCK", "LOW", "MEDIUM", "HIGH"))
RULE_TYPES = Enumeration("RULE_TYPE_ID_", ("IS", "IS_NOT", "START_WITH", "INCLUDES"))
SEVERITIES = Enumeration("SEVERITY_", ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL"))


class PolicyRuleRecord(Record):
    """The applications or subsystems that a policy is for."""

    name: Text = ""
    rule_type_id: Text = ""


class LogPolicy(Record):
    """A stored policy; `document` has its severities too where the service returns them."""

    id: Text = ""
    company_id: int | None = None
    name: Text = ""
    description: Text = ""
    order: int | None = None
    priority: Text = ""
    enabled: bool | None = None
    deleted: bool | None = None
    application_rule: PolicyRuleRecord | None = None
    subsystem_rule: PolicyRuleRecord | None = None
    archive_retention: Any = None
    created_at: Text = ""
    updated_at: Text = ""


async def list_log_policies(
    api: Api, source: str = "LOGS", *, enabled_only: bool = False
) -> list[LogPolicy]:
    """Return the policies in their order. Raises what `Api.read` raises."""
    spell = api.assumptions.parameter
    params = spell("sourceType", f"SOURCE_TYPE_{source}")
    if enabled_only:
        params += spell("enabledOnly", value=True)
    policies = all_items_of(await api.read(POLICIES, params), "policies")
    return sorted(
        (read_record(policy, LogPolicy) for policy in policies),
        key=lambda policy: policy.order or 0,
    )
