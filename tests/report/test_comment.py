"""What stands under a pull request, whatever the manifests, the service or the plan say."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from harness.sites import manifest_of
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from random_plans import MARK, TEXTS, plans
from sample_plans import plan_of_none, plan_of_three

from reconciler.ci.forge import Marker, read_marker, root_of
from reconciler.ci.result import (
    Origin,
    applied_comment,
    changed_since_review,
    changes_in,
    failed_comment,
    line_in,
    plan_comment,
    refused_comment,
)
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
)
from reconciler.features.policy_samples.policy_impact_formats import policy_impact_markdown
from reconciler.model import (
    GuardViolation,
    InDoubt,
    Objected,
    Outcome,
    Plan,
    Ref,
    Refused,
    Skipped,
    Unchanged,
    Written,
)
from reconciler.model.quoting import quoted
from reconciler.report.applied_formats import ApplyResult, applied_markdown
from reconciler.report.markdown import COMMENT_BYTES

LARGEST_COMMENT = 65_536  # characters; the forge refuses a longer comment with 422
COMMENTS = int(os.environ.get("COMMENTS", "20"))
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table"])
DIGEST = "sha256:" + "5a" * 32
MARKER = Marker(
    environment="production", root=root_of("."), digest=DIGEST, head="a" * 40, base="b" * 40, run=12
)
FILES = f"https://forge.example.com/team/shop/blob/{'a' * 40}/"
ORIGIN = Origin("https://forge.example.com/team/shop/actions/runs/12", "plan-production")
LONG = st.one_of(TEXTS, TEXTS.map(lambda text: text * 50))
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Written, st.builds(Ref, TEXTS, TEXTS), TEXTS, LONG),
    st.builds(Unchanged, st.builds(Ref, TEXTS, TEXTS), TEXTS, LONG),
    st.builds(Refused, st.builds(Ref, TEXTS, LONG), LONG),
    st.builds(Skipped, st.builds(Ref, TEXTS, TEXTS), LONG),
    st.builds(InDoubt, st.builds(Ref, LONG, LONG), LONG),
)


def outside_of_code(markdown: str) -> str:
    """Give what a reader's browser takes as more than code; hidden lines are left out."""
    shown = markdown.split("\n", 1)[1] if markdown.startswith("<!-- ") else markdown
    if shown.startswith("<!-- "):
        shown = shown.split("\n", 1)[1]
    words = []
    for token in PARSER.parse(shown):
        if token.type not in ("fence", "inline"):
            words.append(token.content)
        spoken = (inner for inner in token.children or () if inner.type != "code_inline")
        words.extend(inner.content + str(inner.attrs.get("href", "")) for inner in spoken)
    # The title of a folded diff stands in an HTML element, all of it escaped. The address of a
    # manifest is below ours.
    return re.sub(rf'<code>[^<>]*</code>|<a href="{FILES}[\w%/.~-]*#L[0-9]+">', "", "".join(words))


def check(body: str) -> None:
    """Assert what holds for every comment of ours."""
    assert len(body.encode()) <= COMMENT_BYTES
    assert len(body) <= LARGEST_COMMENT
    assert read_marker(body) is not None
    shown = outside_of_code(body)
    assert shown.count("<details") == shown.count("</details>")
    assert MARK not in shown


@settings(max_examples=COMMENTS)
@given(plan=plans(most=60), offline=st.booleans())
def test_plan(plan: Plan, *, offline: bool) -> None:
    """A plan's comment fits, has a marker that is read again, and foreign text only in code."""
    marker = replace(MARKER, digest="" if offline else DIGEST)
    marker = replace(marker, state="offline" if offline else "planned")
    body = plan_comment(plan, marker, ORIGIN)

    check(body)
    assert read_marker(body) == marker
    assert ("**No live comparison.**" in body) is offline
    if offline:
        assert changes_in(body) is None


@settings(max_examples=COMMENTS)
@given(plan=plans(most=30), outcomes=st.lists(OUTCOMES, max_size=60), stopped=LONG)
def test_applied(plan: Plan, outcomes: Sequence[Outcome], stopped: str) -> None:
    """The comment after an apply fits too, however many outcomes there are and what they say."""
    result = ApplyResult(plan, outcomes, "partial", stopped)

    assert len(applied_markdown(result).encode()) < 50_000
    check(applied_comment(result, MARKER, ORIGIN, ""))


@settings(max_examples=COMMENTS)
@given(plan=plans(most=10), names=st.lists(TEXTS, min_size=1, max_size=30))
def test_who_consented(plan: Plan, names: Sequence[str]) -> None:
    """Who consented is said once above all folds, as code, and that guard is not listed as open."""
    given_by = f"approved by {', '.join(quoted(name) for name in names)}"
    met = GuardViolation(said="", remedies=(), code="not-approved", is_met=True, given=given_by)
    plan = replace(plan, guarded=(met,))

    for body in (
        plan_comment(plan, MARKER, ORIGIN),
        applied_comment(ApplyResult(plan, [], "applied"), MARKER, ORIGIN, ""),
    ):
        check(body)
        assert "✅" in body.partition("<details")[0]
        assert "(`not-approved`)" not in body
    open_plan = replace(plan, guarded=(replace(met, is_met=False),))
    assert "(`not-approved`)" in plan_comment(open_plan, MARKER, ORIGIN)


@settings(max_examples=COMMENTS)
@given(plan=st.one_of(st.none(), plans(most=30)), errors=st.lists(LONG, max_size=15))
def test_refused_and_failed(plan: Plan | None, errors: Sequence[str]) -> None:
    """A refusal keeps the digest that was reviewed, and a failure loses it."""
    refused = refused_comment(plan, MARKER, errors, ORIGIN, "")
    failed = failed_comment(MARKER, "the words", errors, ORIGIN)

    for body, digest, state in ((refused, DIGEST, "not-applied"), (failed, "", "failed")):
        check(body)
        marker = read_marker(body)
        assert marker is not None
        assert (marker.digest, marker.state) == (digest, state)


@pytest.mark.promise("S18")
@pytest.mark.parametrize(
    ("reviewed", "said"),
    [
        (plan_of_none().digest, "The plan as it is now: it is the reviewed one"),
        (DIGEST, "The plan as it is now, which is not the reviewed one"),
        ("", "The plan as it is now, which was not reviewed"),
    ],
)
def test_what_a_refused_plan_is(reviewed: str, said: str) -> None:
    """A refused apply calls its plan the reviewed one exactly where the digests are the same."""
    marker = replace(MARKER, digest=reviewed)

    body = refused_comment(plan_of_none(), marker, ["frozen"], ORIGIN, "")

    assert f"<summary>{said}</summary>" in body


@pytest.mark.parametrize("name", ["`", f"{MARK}`", f"`{MARK}", f"` {MARK} `", f"a` {MARK} `b"])
def test_names_that_hold_backticks(name: str) -> None:
    """No name of samples, logs or policies ends the code that it stands in."""
    met = Met(policy=name, priority=name)
    sample = PolicySample(application=name, subsystem=name, severity="SEVERITY_INFO", policy=name)
    answer = SampleAnswer(sample=sample, before=met, after=Met(policy=name))
    for unasked in ("", name, f"words {name} words {name} words"):
        impact = PolicyImpact(
            answers=(answer,),
            agreement=0.5,
            shadowed=(name, name),
            recalled=(name,),
            unknown=(name, name, name),
            unasked=unasked,
            on_mismatch="report",
            writes=True,
            disagreeing=(answer,),
        )
        assert MARK not in outside_of_code("\n".join(policy_impact_markdown(impact)))


def test_foot() -> None:
    """The foot leads to commit, run and artifact, as far as there are any."""
    body = plan_comment(plan_of_none(), MARKER, ORIGIN)
    bare = plan_comment(plan_of_none(), replace(MARKER, head=""), Origin())

    assert body.endswith(
        "\n<sub>commit `aaaaaaaaaaaa` · "
        "[run](https://forge.example.com/team/shop/actions/runs/12) · "
        "artifact `plan-production`</sub>\n"
    )
    assert "<sub>commit" not in bare


def test_place_of_a_change() -> None:
    """Each diff leads to the line of its manifest at the commit, in the folder of the project."""
    body = plan_comment(plan_of_three(), MARKER, replace(ORIGIN, folder="live & well"))
    bare = plan_comment(plan_of_three(), MARKER, Origin())

    assert f'<a href="{FILES}live%20%26%20well/dashboard/checkout.yaml#L1">' in body
    assert body.count("<a href=") == 3
    assert "<a href=" not in bare
    assert all(text.count("checkout.yaml&#58;1</code>") == 1 for text in (body, bare))


def test_what_differs() -> None:
    """The line of a reviewed plan tells resources that are new, gone or otherwise by now."""
    plan = plan_of_three()
    body = plan_comment(plan, MARKER, ORIGIN)
    known = changes_in(body)
    assert known is not None
    first, *rest = [change for change in plan.changes if change.action.writes]
    other = replace(
        first, reasons=(Objected("moved"),), manifest=replace(manifest_of(first), labels={"a": "b"})
    )
    same = replace(plan, changes=(other, *rest))
    changed = replace(first, differences=(*first.differences, *first.differences))
    now = replace(plan, changes=(changed, *rest[1:]))

    assert line_in(body) == body.split("\n")[1]
    assert changed_since_review(known, same) == []
    assert changed_since_review(known, now)[:2] == sorted(
        [
            f"{first.ref}: another change than the reviewed one",
            f"{rest[0].ref}: was to be changed, and no longer is",
        ]
    )
    assert changed_since_review({}, now)[0].endswith("is to be changed, and was not")


def test_a_plan_too_large_for_the_line() -> None:
    """A plan of very many changes has no such line: the digest alone decides then."""
    plan = plan_of_three()
    writes = tuple(change for change in plan.changes if change.action.writes)

    assert changes_in(plan_comment(replace(plan, changes=writes * 101), MARKER, ORIGIN)) is None


def test_lines_that_are_none() -> None:
    """A line of any other form says nothing."""
    for line in (
        "",
        "### Plan",
        "<!-- reconciler-changes {x} -->",
        "<!-- reconciler-changes [] -->",
    ):
        assert changes_in(f"{MARKER.line}\n{line}\n") is None
        assert line_in(f"{MARKER.line}\n{line}\n") == ""
