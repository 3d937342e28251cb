"""The project file, reconciler.yaml: environments, targets, variables and guards."""

from reconciler.project.choose_target import (
    BASE_URL,
    Embedded,
    Project,
    Service,
    Target,
    choose_environment,
    choose_target,
    in_shard,
    journal_place,
    journal_place_at,
    journal_setting,
    unsafe_base_url,
    with_target,
)
from reconciler.project.project_findings import (
    ENVIRONMENT_NAME,
    leads_out,
    project_findings,
    readable_settings,
)
from reconciler.project.settings import (
    EmbeddedEmulator,
    Environment,
    Guards,
    Limits,
    ProjectFile,
    ProjectVariable,
)
from reconciler.project.shards import MOST_SHARDS, SHARD, Shard, check_filled, read_shard

__all__ = [
    "BASE_URL",
    "ENVIRONMENT_NAME",
    "MOST_SHARDS",
    "SHARD",
    "Embedded",
    "EmbeddedEmulator",
    "Environment",
    "Guards",
    "Limits",
    "Project",
    "ProjectFile",
    "ProjectVariable",
    "Service",
    "Shard",
    "Target",
    "check_filled",
    "choose_environment",
    "choose_target",
    "in_shard",
    "journal_place",
    "journal_place_at",
    "journal_setting",
    "leads_out",
    "project_findings",
    "read_shard",
    "readable_settings",
    "unsafe_base_url",
    "with_target",
]
