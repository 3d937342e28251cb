"""The kind `LogPolicySet`: its `spec:` (the whole ordered list), and how rules match names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Annotated, ClassVar, Final

from pydantic import Field

from reconciler.document import ABSENT, Json, Path, value_at
from reconciler.kinds import field_traits as of
from reconciler.kinds.kind import NO_ID, Bearing, Endpoint, Essential, Kind, Ranking, text_of
from reconciler.kinds.shape import EACH, facts_of, places
from reconciler.model import Change
from reconciler.syntax.diagnostic import Advice, Finding, warning

SEVERITY: Final = of.known(
    "SEVERITY_", "UNSPECIFIED", "DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL"
)
SEVERITIES: Final = ("logRules", "severities")
LATIN_1: Final = of.Formed(re.compile(r"[\x00-\xff]*"), "Latin-1 characters only")


class LogRules(of.Part):
    """The log lines that a policy applies to."""

    severities: Annotated[
        list[Annotated[str, SEVERITY]] | None,
        of.Unordered(),
        of.AtMost(6),
        of.Needed(in_kind=True),
    ] = None
    """The severities of the lines. They are written; a service may or may not return them."""


class PolicyRule(of.Part):
    """The applications or subsystems that a policy applies to."""

    name: of.Text = None
    """One name, or several joined by commas."""
    rule_type_id: Annotated[
        of.Text, of.known("RULE_TYPE_ID_", "UNSPECIFIED", "IS", "IS_NOT", "START_WITH", "INCLUDES")
    ] = None
    """How a name is compared: equal, not equal, beginning with or containing the text."""


class ArchiveRetention(of.Part):
    """The time that the archive keeps the lines."""

    id: of.Text = None
    """The id of a retention of the archive, assigned by the service."""


_PLACED = Advice("remove it: the place in the list counts")


class Policy(of.Part):
    """One policy; its name is its identity, as its id changes with every overwrite."""

    read_only: ClassVar[of.ReadOnlyFields] = {
        "id": of.ReadOnly(
            "The id of the policy; the service assigns a new one with every overwrite."
        ),
        "companyId": of.ReadOnly("The company that the policy belongs to."),
        "order": of.ReadOnly(
            "The place of the policy in the list; here the order of the list is used.",
            _PLACED,
            fate=of.ReadOnlyReason.AS_LISTED,
        ),
        "placement": of.ReadOnly(
            "The place for a single created policy; an overwrite uses the order of the list "
            "instead.",
            _PLACED,
            "is not taken by an overwrite",
            of.ReadOnlyReason.AS_LISTED,
        ),
        "enabled": of.ReadOnly(
            "Whether the stored policy has an effect; a write has `disabled` instead.",
            "`disabled`, its opposite",
            fate=of.ReadOnlyReason.NEGATED,
            opposite="disabled",
        ),
        "deleted": of.ReadOnly(
            "Whether the policy is deleted; a policy that is left out of the list is deleted.",
            Advice("leave the whole policy out"),
            fate=of.ReadOnlyReason.UNLESS_TRUE,
        ),
        "createdAt": of.ReadOnly("When the policy was created."),
        "updatedAt": of.ReadOnly("When the policy was last changed."),
    }

    name: Annotated[str, Field(min_length=1), of.AtMost(255)]
    """The name of the policy. It is its identity: the id changes with every overwrite."""
    description: Annotated[of.Text, of.Needed(in_kind=True), of.AtMost(255), LATIN_1] = None
    """The purpose of the policy, for people. Services are known to require it."""
    priority: Annotated[
        of.Text,
        of.Needed(in_kind=True),
        of.known("PRIORITY_TYPE_", "UNSPECIFIED", "BLOCK", "LOW", "MEDIUM", "HIGH"),
    ] = None
    """The priority of the lines; the API document shows only its zero value."""
    application_rule: PolicyRule | None = None
    """The applications that the policy applies to."""
    subsystem_rule: PolicyRule | None = None
    """The subsystems that the policy applies to."""
    archive_retention: ArchiveRetention | None = None
    """The time that the archive keeps the lines."""
    disabled: of.Flag = None
    """Keeps the policy in the list without effect. The service stores the opposite, `enabled`."""


class PolicyItem(of.Part):
    """One item of the overwrite."""

    bare: ClassVar[str] = "policy"
    strays: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"severities": ("logRules", "severities"), "logRules": ("logRules",)}
    )
    called: ClassVar[tuple[tuple[str, ...], ...]] = (("policy", "name"),)

    log_rules: LogRules | None = None
    """The log lines that the policy applies to, by their severity."""
    policy: Policy
    """The policy itself."""


class LogPolicySetSpec(of.Part):
    """All log policies, in their order; an empty list destroys all."""

    other_names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"createResponses": "policies", "policyRequests": "policies"}
    )

    policies: Annotated[
        list[PolicyItem], of.Keyed(("policy", "name"), distinct=True), of.AtMost(200)
    ]
    """All log policies in their order: one write deletes the old list and creates this one."""


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield missing fields that an overwrite needs though the API document does not say so."""
    for path, item in places(spec, "policies", EACH):
        for needed in needed_in_items():
            found = [*places(item, *needed)]
            if all(value is None for _, value in found):
                yield _needed_finding(path, needed, is_null=bool(found))


@cache
def needed_in_items() -> tuple[tuple[str, str], ...]:
    """Return the paths in an item of the fields that an overwrite needs."""
    return tuple(
        (around, name)
        for around, facts in facts_of(PolicyItem).items()
        for name, inner in (facts_of(facts.part).items() if facts.part is not None else ())
        if inner.needed is not None
    )


def _needed_finding(path: Path, needed: tuple[str, str], *, is_null: bool) -> Finding:
    how = "null" if is_null else "missing"
    message = f"`{'.'.join(needed)}` is {how}; services are known to refuse an overwrite without it"
    repair = Advice("give it a value" if is_null else f"add `{needed[1]}` below `{needed[0]}`")
    return warning("M302", (*path, *needed) if is_null else path, message, repair)


IS, IS_NOT, STARTS, INCLUDES = (
    f"RULE_TYPE_ID_{name}" for name in ("IS", "IS_NOT", "START_WITH", "INCLUDES")
)


@dataclass(frozen=True, slots=True)
class NameMatcher:
    """The names that a rule matches: `how` is a value of the API."""

    how: str
    names: tuple[str, ...]

    def folded(self) -> NameMatcher:
        """Return the rule for a service that ignores case."""
        return NameMatcher(self.how, tuple(name.casefold() for name in self.names))

    def lets_in(self, name: str) -> bool:
        """Return whether a name matches."""
        if self.how == IS:
            return name in self.names
        if self.how == STARTS:
            return name.startswith(self.names)
        if self.how == INCLUDES:
            return any(part in name for part in self.names)
        return name not in self.names

    def covers(self, other: NameMatcher) -> bool:
        """Return whether every name that the other rule matches also matches here.

        There are infinitely many names, with more letters than any rule has.
        """
        if other.how == IS:
            return all(map(self.lets_in, other.names))
        if other.how == IS_NOT:
            return self.how == IS_NOT and set(self.names) <= set(other.names)
        if self.how == IS:
            return False
        if self.how == IS_NOT:
            return not any(map(other.lets_in, self.names))
        if self.how == STARTS:
            return other.how == STARTS and all(name.startswith(self.names) for name in other.names)
        return all(any(part in name for part in self.names) for name in other.names)


def names_of(rule: Json) -> tuple[NameMatcher | None, bool]:
    """Return the names that a rule matches, None if unknown, and whether that is the whole rule.

    Without a rule, it is None and True: every name matches.
    """
    if rule is None:
        return None, True
    if not isinstance(rule, dict):
        return None, False
    how, text = text_of(rule.get("ruleTypeId")), text_of(rule.get("name"))
    if how not in (IS, IS_NOT, STARTS, INCLUDES) or text is None:
        return None, False
    names = tuple(part.strip() for part in text.split(","))
    return NameMatcher(how, names), all(names)


_LIST = "policies"


def takes_logs_of(change: Change, application: str, subsystem: str) -> bool:
    """Return whether a changed policy may take logs of an application and a subsystem.

    If the order changes, every policy counts as changed. An unknown rule matches every name. Every
    rule matches the name "".
    """
    lists = (places(document, _LIST, EACH) for document in (change.before, change.body))
    items = [item for _, item in chain.from_iterable(lists) if isinstance(item, dict)]
    touched = {
        difference.path[1]
        for difference in change.differences
        if difference.path[:1] == (_LIST,) != difference.path
    }
    moved = any(
        difference.path == (_LIST,) or difference.operation == "move"
        for difference in change.differences
    )
    ours = [item for item in items if value_at(item, ("policy", "name")) in touched]
    if moved or not ours:
        ours = items
    return any(_lets_in(item, application, subsystem) for item in ours)


def _lets_in(item: Json, application: str, subsystem: str) -> bool:
    for name, rule in ((application, "applicationRule"), (subsystem, "subsystemRule")):
        declared = value_at(item, ("policy", rule))
        names, is_sure = names_of(None if declared is ABSENT else declared)
        if names is None or not is_sure or not name:
            continue
        if not (names.lets_in(name) or names.folded().lets_in(name.casefold())):
            return False
    return True


EXAMPLE: Final[dict[str, Json]] = {
    "policies": [
        {
            "logRules": {"severities": ["SEVERITY_ERROR", "SEVERITY_CRITICAL"]},
            "policy": {
                "name": "errors",
                "description": "Keep errors.",
                "priority": "PRIORITY_TYPE_HIGH",
            },
        }
    ]
}

LOG_POLICY_SET = Kind(
    name="LogPolicySet",
    noun="policies",
    spec=LogPolicySetSpec,
    id_form=NO_ID,
    check=check,
    findable=True,
    singleton=True,
    bearing=Bearing(takes_logs_of=takes_logs_of),
    destroyable=("policies",),
    needed=(SEVERITIES,),
    essentials=(Essential(("policies",)),),
    picture=Ranking(
        ("policies",),
        ("policy", "name"),
        (("policy", "priority"), ("policy", "disabled"), ("logRules", "severities")),
    ),
    sampled=True,
    unsaid=frozenset(("policy", "logRules")),
    endpoints=(
        Endpoint(15, "GET", "/dataplans/policies/v1", "reads all", sends=False),
        Endpoint(17, "POST", "/dataplans/policies/v1/atomicOverwriteLogPolicies", "replaces all"),
    ),
    example=EXAMPLE,
    limits="The overwrite destroys every policy that the list leaves out. "
    "Severities may not be returned: then they are compared with the journal.",
)
