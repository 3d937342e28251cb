"""Between rules as they are written and verdicts: what is asked, and what a verdict says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from reconciler.project.rule_settings import Rule
from reconciler.rules.ask_worker import Broken, Expressions, RuleAnswer, RuleVerdict


def expressions_of(rules: Sequence[Rule]) -> list[Expressions]:
    """Give rules as far as they are judged."""
    return [Expressions(rule.when or "", rule.check, rule.variables) for rule in rules]


def said_of(rule: Rule, verdict: RuleVerdict) -> str:
    """Give what a rule has to say; "" where it has nothing."""
    match verdict:
        case RuleAnswer.FAILS:
            return rule.message
        case RuleAnswer.HOLDS | RuleAnswer.NOT_ABOUT:
            return ""
        case Broken(said=said, is_last=is_last):
            rest = "; it is asked no more in this run" if is_last else ""
            return f"the rule `{rule.name}` cannot be judged: {said}{rest}"
        case _:
            assert_never(verdict)
