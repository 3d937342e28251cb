"""What is said of samples of logs, and that a comment stays short whatever they hold."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from random_plans import an_impact
from sample_impacts import IMPACTS, said_of_impacts
from sample_plans import plan_of_three

from reconciler.features.policy_samples.policy_impact import PolicyImpact
from reconciler.features.policy_samples.policy_impact_formats import (
    policy_impact_document,
    policy_impact_markdown,
    policy_impact_section,
)
from reconciler.report.html import plan_html

GOLDEN = Path(__file__).parent / "golden" / "policy-impact.txt"
MOST_BYTES = 15_000


def test_words_of_each() -> None:
    """Each way to tell of samples reads to the letter as its golden text."""
    assert said_of_impacts() == GOLDEN.read_text(encoding="utf-8")


@given(an_impact())
def test_room_in_a_comment(impact: PolicyImpact) -> None:
    """What samples take of a comment is bounded, whatever their names and number."""
    text = "\n".join(policy_impact_markdown(impact))

    assert len(text.encode("utf-8", "surrogatepass")) < MOST_BYTES


@given(an_impact())
def test_figures_agree(impact: PolicyImpact) -> None:
    """The document counts the samples, and lists each that changes and each that fails once."""
    document = policy_impact_document(impact)

    assert document["samples"] == len(impact.answers)
    assert len(document["changes"]) == sum(answer.turns for answer in impact.answers)
    assert len(document["failures"]) == sum(answer.fails for answer in impact.answers)


def test_a_line_for_each_way() -> None:
    """The picture has a line for each way that samples go, and says which are not as expected."""
    page = policy_impact_section(IMPACTS["an order that loses logs"])

    assert page.count('class="band"') == 3
    assert page.count("fails") == 1
    assert page in plan_html(plan_of_three().with_section(IMPACTS["an order that loses logs"]))
    assert 'class="sampled"' not in plan_html(plan_of_three())
