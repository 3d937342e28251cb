"""Foreign words beside code spans mean nothing to a forge, whatever they are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from random_plans import HOSTILE

from reconciler.report.markdown import sentence

LONGEST = 300
PARTS = st.sampled_from(
    (
        *HOSTILE,
        "`",
        "``",
        "@all",
        "https://a.b",
        "www.a.b",
        "#1",
        "*x*",
        "_y_",
        "<b>",
        "![",
        "](",
        "x",
        "%m",
    )
)


def outside_of_code(text: str) -> str:
    """Give what a forge reads as text of a sentence, and the tags in it."""
    page: str = MarkdownIt("gfm-like", {"linkify": False}).render(f"> {text}")
    return re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)


@given(st.lists(PARTS, max_size=6).map("".join))
def test_nothing_foreign_means_anything(text: str) -> None:
    """Outside of code stand no element, link, mention, reference or emphasis."""
    outside = outside_of_code(sentence(text, LONGEST))

    assert set(re.findall(r"</?([a-z0-9]+)", outside)) <= {"blockquote", "p"}
    assert not re.search(r"[@#<*_%]|://|www\\.", re.sub(r"</?[a-z]+>", "", outside))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("frozen: `a` and `b`, 5 % more", "frozen: `a` and `b`, 5 % more"),
        ("in Europe/Berlin: `a`", "in Europe/Berlin: `a`"),
        ("nothing set apart", "nothing set apart"),
        (f"{'long ' * 70}`a`", f"{'long ' * 59}long…"),
        (f"{'a' * 290} `{'b' * 20}`", f"{'a' * 290} `{'b' * 7}…`"),
        ("see https://x `a`", "`` see https://x `a` ``"),
        ("an `odd one", "`` an `odd one ``"),
        ("by @all", "`by @all`"),
    ],
)
def test_plain_words(text: str, told: str) -> None:
    """Plain words stand as they are, and what may mean something is code as a whole."""
    assert sentence(text, LONGEST) == told
