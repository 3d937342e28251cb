"""Comments of many random plans at once, as the forge would take and show them.

`COMMENT_PLANS=100000` makes it a campaign; without it thirty are tried.
"""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import MARK, plans
from test_plan_markdown import PARSER, spoken

from reconciler.model import Plan
from reconciler.report.plan.formats import plan_markdown

pytestmark = pytest.mark.slow

PLANS = int(os.environ.get("COMMENT_PLANS", "30"))
FORBIDDEN = {"link_open", "image", "code_block", "hr", "s_open"}

FENCED = re.compile(r"^(`{3,})(?:diff|text)$.*?^\1$", re.MULTILINE | re.DOTALL)


# A large plan that fails is long to print.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=PLANS)
@given(plan=plans(most=60), budget=st.sampled_from([40_000, 50_000, 60_000]))
def test_comments_of_random_plans(plan: Plan, budget: int) -> None:
    """No comment is over its budget, has a broken fence, or lets a manifest mention or link."""
    markdown = plan_markdown(plan, budget, whole="the artifact")

    assert len(markdown.encode()) <= budget
    assert MARK not in spoken(markdown)
    tokens = PARSER.parse(markdown)
    kinds = {inner.type for token in tokens for inner in (token, *(token.children or ()))}
    assert not kinds & FORBIDDEN
    # Lists are our own: each item has a line of its own outside of any fence.
    items = sum(token.type == "list_item_open" for token in tokens)
    assert items == len(re.findall(r"^(?:> )?- ", FENCED.sub("", markdown), re.MULTILINE))
    fences = sum(token.type == "fence" for token in tokens)
    opened = len(re.findall(r"^`{3,}(?:diff|text)$", markdown, re.MULTILINE))
    folds = len(re.findall(r"^<details", markdown, re.MULTILINE))
    assert fences == opened
    assert folds == len(re.findall(r"^</details>$", markdown, re.MULTILINE))
    diffs = len(re.findall(r"^<details[^>]*><summary><code>", markdown, re.MULTILINE))
    assert diffs <= fences <= 2 * diffs
    assert plan.digest in markdown
