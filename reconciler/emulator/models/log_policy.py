"""Log data policies. Bounds: docs/assumptions.md."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from reconciler.emulator.models.enumerations import (
    PolicyPriority,
    RuleType,
    Severity,
    SourceType,
)
from reconciler.emulator.models.query import Flag, only
from reconciler.emulator.models.wire import Empty, Int32, Timestamp, WireObject

POLICY_LIMIT = 200  # docs/assumptions.md: seen, not in the document


def _latin_1(text: str) -> str:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        raise PydanticCustomError("latin_1", "has a character outside Latin-1") from None
    return text


PolicyName = Annotated[str, Field(min_length=1, max_length=255)]
_LATIN_1 = Field(json_schema_extra={"pattern": "^[\\u0000-\\u00ff]*$"})
PolicyDescription = Annotated[str, Field(max_length=255), AfterValidator(_latin_1), _LATIN_1]


class PolicyRule(WireObject):
    """What an application or subsystem name must be; `name` may hold several, by commas."""

    name: str = ""
    rule_type_id: RuleType = "RULE_TYPE_ID_UNSPECIFIED"


class ArchiveRetention(WireObject):
    """How long the archive keeps the logs."""

    id: str = ""


class Placement(WireObject):
    """Where a new policy goes; anything but `first` is last."""

    first: Empty | None = None


class PolicyInput(WireObject):
    """A policy to create; `disabled` is stored as its inverse, `enabled`."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {
            "id",
            "companyId",
            "order",
            "enabled",
            "deleted",
            "createdAt",
            "updatedAt",
            "logRules",
        }
    )

    name: PolicyName
    description: PolicyDescription = ""
    priority: PolicyPriority = "PRIORITY_TYPE_UNSPECIFIED"
    disabled: bool = False
    application_rule: PolicyRule | None = None
    subsystem_rule: PolicyRule | None = None
    archive_retention: ArchiveRetention | None = None
    placement: Placement | None = None


class BulkCreateRequest(WireObject):
    """Request of endpoint 16."""

    policy_requests: Annotated[list[PolicyInput], Field(max_length=POLICY_LIMIT)]


class LogRules(WireObject):
    """The severities a policy is for; a profile says whether they are read back."""

    severities: Annotated[list[Severity], Field(max_length=6)]


class OverwritePolicy(PolicyInput):
    """A policy of an overwrite, which leaves less to defaults; its place is that in the list."""

    read_only: ClassVar[frozenset[str]] = PolicyInput.read_only | {"placement"}
    needed: ClassVar[tuple[str, ...]] = ("description", "priority")


class OverwriteItem(WireObject):
    """One place of the new list."""

    log_rules: LogRules
    policy: OverwritePolicy


class OverwriteRequest(WireObject):
    """Request of endpoint 17; an empty list deletes all."""

    policies: Annotated[list[OverwriteItem], Field(max_length=POLICY_LIMIT)]


class LogPolicy(WireObject):
    """What the service tells of a policy; `logRules` only where the profile says so."""

    metadata: ClassVar[frozenset[str]] = frozenset({"companyId", "createdAt", "updatedAt"})

    id: str
    company_id: Int32
    name: str
    description: str = ""
    order: Int32
    priority: PolicyPriority = "PRIORITY_TYPE_UNSPECIFIED"
    enabled: bool
    deleted: bool = False
    application_rule: PolicyRule | None = None
    subsystem_rule: PolicyRule | None = None
    archive_retention: ArchiveRetention | None = None
    log_rules: LogRules | None = None
    created_at: Timestamp
    updated_at: Timestamp


class PolicyQuery(WireObject):
    """Query of endpoint 15; a source type of spans lists none. Names: docs/assumptions.md."""

    enabled_only: Annotated[Flag, Field(alias="enabled_only")] = False
    source_type: Annotated[SourceType, BeforeValidator(only), Field(alias="source_type")] = (
        "SOURCE_TYPE_UNSPECIFIED"
    )


class PolicyListReply(WireObject):
    """Reply of endpoint 15."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"policies"})

    policies: list[LogPolicy] = Field(default_factory=list)


class CreatedPolicy(WireObject):
    """One entry of `createResponses`."""

    policy: LogPolicy


class CreateReply(WireObject):
    """Reply of endpoints 16 and 17, in the order of the request."""

    create_responses: list[CreatedPolicy] = Field(default_factory=list)


class MetaFieldsValues(WireObject):
    """The metadata of one log; each string may hold several values, by commas."""

    application_name_values: str = ""
    severity_values: str = ""
    subsystem_name_values: str = ""


class LogTestRequest(WireObject):
    """Request of endpoint 18."""

    meta_fields_values_list: list[MetaFieldsValues]


class LogTestResult(WireObject):
    """Which policy a log meets, if any."""

    matched: bool
    meta_fields_values: MetaFieldsValues
    policy: LogPolicy | None = None


class LogTestReply(WireObject):
    """Reply of endpoint 18, in the order of the request."""

    test_policies_bulk_result: list[LogTestResult] = Field(default_factory=list)
