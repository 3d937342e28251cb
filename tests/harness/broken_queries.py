"""Queries and the mistakes in them, each with the character that is to blame, known by hand."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reconciler.queries import Language

MARK = "\u2042"
"""Stands before the character to blame, in what is written here."""


@dataclass(frozen=True)
class Broken:
    """A query, its language, and where it is wrong."""

    language: Language
    text: str
    start: int


GOOD_PROMQL = [
    'sum(rate(http_requests_total{job="api", code!~"5.."}[5m])) by (status)',
    "histogram_quantile(0.99, sum by (le) (rate(latency_bucket[10m])))",
    'avg_over_time(up{app=~"a|b"}[1h:5m])',
    "node_free_bytes offset 1d",
    "(1 - app:errors:rate5m) * 100",
    'max without (pod) (memory{team="é"})',
]
PROMQL = [
    "sum(rate(a[⁂5q]))",
    "sum⁂(rate(a[5m])",
    "rate(a⁂[5m)",
    'a⁂{b="c"',
    'a{b=⁂"c}',
    'a{b⁂:"c"}',
    'a{b="c" ⁂d="e"}',
    "⁂raet(a[5m])",
    "rate(⁂a)",
    'a{b=~⁂"("}',
    'a{b="⁂\\d"}',
    "a ⁂+",
    "a + ⁂* b",
    "a⁂)",
    "a⁂ foo".replace("⁂ ", " ⁂"),
    "a ⁂&& b",
    "a ⁂= 1",
    "sum by ⁂a (b)",
    "sum by (a ⁂b) (c)",
    "a⁂.b",
    "rate(a[5m]⁂,)",
    "⁂label_replace(a)",
    "⁂a[5m] + 1",
    "1 ⁂> 2",
    "topk(3, a) ⁂by",
    "a @ ⁂b",
    "sum(a) ⁂offset 5m",
    "rate(a[⁂-5m])",
    "vector(⁂a)",
    "a{b=⁂c}",
]
GOOD_LUCENE = [
    'level:error AND NOT app:"checkout api"',
    "status:[500 TO 599] OR path:/api.*/",
    "+must -mustnot (a OR b)",
    "kubernetes.pod:web-* AND took:>250",
]
LUCENE = [
    "a:⁂(b",
    "a:b⁂)",
    "a:⁂[1 TO 2",
    "a:[1 ⁂2]",
    'a:⁂"b c',
    "a:⁂/b",
    "⁂AND b",
    "a OR ⁂OR b",
    "a ⁂AND",
    "(a OR⁂)",
    "a:⁂:b",
    "a AND ⁂NOT",
]


def broken(language: Language, marked: str) -> Broken:
    """Read a query whose mistake is marked."""
    return Broken(language, marked.replace(MARK, ""), marked.index(MARK))


def drawn(random: Random) -> Broken:
    """Give a broken query, with good ones and odd characters before it."""
    if random.random() < 0.6:
        language, good, wrong = Language.PROMQL, GOOD_PROMQL, random.choice(PROMQL)
        before = [f"{choice} {random.choice('+-*/')} " for choice in random.choices(good, k=2)]
        # Types are those of the whole, so a mistake of them is put into brackets.
        text = "".join(random.sample(before, random.randint(0, 2))) + f"({wrong}"
        is_open = any(wrong.startswith(one) for one in ("sum⁂(", "rate(a⁂[", "a⁂{", 'a{b=⁂"c}'))
        is_last = wrong.endswith(("+", "by")) or "⁂)" in wrong or is_open
        text = text.replace("(" + wrong, wrong) if is_last else text + ")"
    else:
        language, good, wrong = Language.LUCENE, GOOD_LUCENE, random.choice(LUCENE)
        before = [f"{choice} OR " for choice in random.choices(good, k=2)]
        is_first = wrong.startswith("⁂AND")
        text = ("" if is_first else "".join(before[: random.randint(0, 2)])) + wrong
    for _ in range(random.randint(0, 3)):
        text = _with_space(text, random)
    return broken(language, text)


def _with_space(text: str, random: Random) -> str:
    """Put a line break or more blanks where there is one outside of quotes."""
    blanks = [nth for nth, one in enumerate(text) if one == " " and text[:nth].count('"') % 2 == 0]
    if not blanks:
        return text
    place = random.choice(blanks)
    return text[:place] + random.choice(["\n", "  ", "\n\n", "\n  "]) + text[place + 1 :]
