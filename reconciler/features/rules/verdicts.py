"""Rules and verdicts: the expressions to evaluate, and the message of a verdict. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from reconciler.features.rules.ask_worker import Broken, Expressions, RuleAnswer, RuleVerdict
from reconciler.features.rules.rule_settings import Rule


def expressions_of(rules: Sequence[Rule]) -> list[Expressions]:
    """Return the parts of rules that are evaluated."""
    return [Expressions(rule.when or "", rule.check, rule.variables) for rule in rules]


def said_of(rule: Rule, verdict: RuleVerdict) -> str:
    """Return the message of a rule; "" where it has none."""
    match verdict:
        case RuleAnswer.FAILS:
            return rule.message
        case RuleAnswer.HOLDS | RuleAnswer.NOT_ABOUT:
            return ""
        case Broken(said=said, is_last=is_last):
            rest = "; it is no longer asked in this run" if is_last else ""
            return f"the rule `{rule.name}` cannot be judged: {said}{rest}"
        case _:
            assert_never(verdict)
