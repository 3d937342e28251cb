"""Whether a policy is for a log.

Names in a rule, and values of a log, may be several joined by commas: the
policy takes the log when any of its values will do. How a severity is written
in a test the API document does not show, so `ERROR` and `SEVERITY_ERROR` are
the same.
"""

from collections.abc import Sequence

from reconciler.emulator.models.log_policy import LogPolicy, MetaFieldsValues, PolicyRule


def takes(
    policy: LogPolicy, severities: Sequence[str], log: MetaFieldsValues, *, any_case: bool = False
) -> bool:
    """Whether severities and both rules let the log in; no severities let all in.

    With `any_case`, capitals and small letters of names are the same.
    """
    return (
        _has_severity(severities, log.severity_values)
        and _follows(policy.application_rule, log.application_name_values, any_case=any_case)
        and _follows(policy.subsystem_rule, log.subsystem_name_values, any_case=any_case)
    )


def _has_severity(severities: Sequence[str], values: str) -> bool:
    if not severities:
        return True
    sent = {"SEVERITY_" + value.upper().removeprefix("SEVERITY_") for value in _several(values)}
    return not sent.isdisjoint(severities)


def _follows(rule: PolicyRule | None, values: str, *, any_case: bool) -> bool:
    if rule is None:
        return True
    if any_case:
        rule = rule.model_copy(update={"name": rule.name.casefold()})
        values = values.casefold()
    return any(_allows(rule, value) for value in _several(values))


def _allows(rule: PolicyRule, value: str) -> bool:
    names = _several(rule.name)
    match rule.rule_type_id:
        case "RULE_TYPE_ID_IS":
            return value in names
        case "RULE_TYPE_ID_IS_NOT":
            return value not in names
        case "RULE_TYPE_ID_START_WITH":
            return value.startswith(tuple(names))
        case "RULE_TYPE_ID_INCLUDES":
            return any(name in value for name in names)
        case _:
            return True


def _several(joined: str) -> list[str]:
    return [part.strip() for part in joined.split(",")]
