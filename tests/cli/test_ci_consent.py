"""What a review is worth in CI: a reviewed change can be applied, and the rest fails before."""

from __future__ import annotations

import json
import re

import pytest
from harness.jobs import JobRan, Jobs

from reconciler.ci.commits import lines_in, of_the_change
from reconciler.ci.forge import read_marker
from reconciler.ci.job import without
from reconciler.ci.result import Refusals
from reconciler.model import GuardViolation, Ref
from reconciler.syntax.diagnostic import Complaint, Severity

LOWERED = ("targetThresholdPercentage: 99.9", "targetThresholdPercentage: 99")

NO = ("none", "never", "no thanks", "n", "undefined", "null", "N/A", "-", "{}", "false,false")


@pytest.fixture
def applied(jobs: Jobs) -> Jobs:
    """Return a repository of which all was reviewed, merged and applied."""
    assert jobs.change().code == 0
    assert jobs.merged().outputs["result"] == "applied"
    jobs.base = jobs.head
    return jobs


def guards_in(jobs: Jobs) -> list[str]:
    """Return the codes of the guards in the plan file of the last job."""
    (file,) = jobs.temporary.glob("plan-*.json")
    return [guard["code"] for guard in json.loads(file.read_text("utf-8"))["guards"]]


@pytest.mark.promise("S16")
def test_a_reviewed_change_is_applied(applied: Jobs) -> None:
    """A change that lowers a target is green, lists the guard, and is applied after the merge."""
    applied.edit(*LOWERED)

    planned = applied.change()
    merged = applied.merged()

    assert (planned.code, guards_in(applied)) == (0, ["slo-target-lowered"])
    assert [name.split(":")[0] for name in applied.marker.guards] == ["slo-target-lowered"]
    assert (merged.code, merged.outputs["result"]) == (0, "applied")


@pytest.mark.promise("S16")
def test_a_review_without_the_list(applied: Jobs) -> None:
    """A comment that does not list a guard consents to none: the remedy is another plan."""
    applied.edit(*LOWERED)
    applied.change()
    (comment,) = applied.forge.visible(7)
    marker = read_marker(comment["body"])
    assert marker is not None
    other = marker.line.replace(json.dumps(list(marker.guards)), '["slo-target-lowered:0"]')
    comment["body"] = comment["body"].replace(marker.line, other)

    merged = applied.merged()

    assert (merged.code, merged.outputs["failure-reason"]) == (11, "guard")
    assert "plan again, and review it" in applied.comment


def without_policy(jobs: Jobs) -> None:
    """Declare no policies."""
    text = (jobs.root / "all.yaml").read_text("utf-8")
    begin = text.index("  policies:")
    end = text.index("---\napiVersion: reconciler/v1\nkind: SavedView")
    (jobs.root / "all.yaml").write_text(f"{text[:begin]}  policies: []\n{text[end:]}", "utf-8")


@pytest.mark.promise("S16")
def test_what_no_review_consents_to(applied: Jobs) -> None:
    """A change that destroys fails its plan with 11; a run by hand with a reason applies it."""
    without_policy(applied)

    planned = applied.change()
    warned = applied.change(on_refusal="warn")
    refused = applied.merged()
    by_hand = applied.merged(commit=applied.head, allow_destroy="the team agreed")

    assert (planned.code, planned.outputs["result"]) == (11, "blocked")
    assert planned.outputs["failure-reason"] == "guard"
    assert (warned.code, warned.outputs["result"]) == (0, "changes")
    assert any(line.startswith("::warning") and "destroys" in line for line in warned.spoken)
    assert refused.code == 11
    assert (by_hand.code, by_hand.outputs["result"]) == (0, "applied")
    journal = (applied.root / ".reconciler" / "production.jsonl").read_text("utf-8")
    assert '"reason": "the team agreed"' in journal or '"reason":"the team agreed"' in journal


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("protected=asked Ann", 0),
        ("takes-over=asked Ann\nprotected=asked Ann\n", 0),
        ("takes-over=asked Ann", 11),
        ("", 11),
        ("protectd=asked Ann", 64),
        ("asked Ann", 64),
    ],
)
def test_overridden_for_one_run(applied: Jobs, given: str, code: int) -> None:
    """The input `override-guard` lifts the guards that it names, and the journal keeps why."""
    applied.edit("{name: checkout}", "{name: checkout, protect: true}")
    applied.change()
    assert applied.merged().code == 0
    applied.base = applied.head
    applied.edit("description: first", "description: second")
    assert applied.change(on_refusal="warn").code == 0

    ran = applied.merged(override_guard=given)

    assert ran.code == code
    lines = (applied.root / ".reconciler" / "production.jsonl").read_text("utf-8").splitlines()
    kept = [value for value in map(json.loads, lines) if value.get("entry") == "override"]
    told = [(value["reason"], value["codes"]) for value in kept]
    assert told == [("asked Ann", ["protected"])] * (code == 0)


def shown(jobs: Jobs, ran: JobRan) -> list[str]:
    """Return all that people read of a job, unwrapped."""
    texts = (jobs.comment, ran.summary, ran.log.replace("\n|", " "))
    return [" ".join(text.replace("``", "`").split()) for text in texts]


@pytest.mark.promise("S16")
def test_what_was_consented_to(applied: Jobs) -> None:
    """After an apply no consent is missing: comment and summary say that it was given."""
    applied.edit(*LOWERED)
    planned = shown(applied, applied.change())
    merged = shown(applied, applied.merged())

    missing = re.compile("merging consents|must consent|consents by the merge|merge:")
    assert all(map(missing.search, planned))
    assert not any(map(missing.search, merged))
    assert all("consented to" in text for text in merged[:2])


@pytest.mark.promise("S16")
def test_a_job_names_the_workflow(applied: Jobs) -> None:
    """Where no review consents, comment, summary and log name the workflow and its input."""
    without_policy(applied)
    planned = shown(applied, applied.change())
    refused = shown(applied, applied.merged())

    for text in (*planned, *refused):
        assert "`workflow_dispatch` of `apply.yml`" in text
        assert "`allow-destroy: REASON`" in text


def test_a_refusal_is_not_said_again(applied: Jobs) -> None:
    """A guard that refuses an apply is in its comment once, and is not in the plan below it."""
    without_policy(applied)
    applied.change(on_refusal="warn")

    ran = applied.merged()

    assert "The plan as it is now" in applied.comment
    assert "[destroys-all]" in applied.comment
    assert "(`destroys-all`" not in applied.comment + ran.summary


@pytest.mark.promise("S16")
def test_a_job_names_no_flags(applied: Jobs) -> None:
    """No remedy of a job is one of a laptop: a review consents by the merge."""
    applied.edit(*LOWERED)
    without_policy(applied)
    planned = shown(applied, applied.change(on_refusal="warn"))
    refused = shown(applied, applied.merged())

    for text in planned:
        assert "merge: the review" in text
    for text in (*planned, *refused):
        assert not re.search(r"--(override-guard|allow-destroy|expect|plan)\b", text)


@pytest.mark.promise("S16")
def test_what_the_base_branch_has_too(applied: Jobs) -> None:
    """A guard that the base branch's plan has too fails no plan of another change."""
    without_policy(applied)
    applied.base = applied.merge()
    applied.edit("description: first", "description: second")

    planned = applied.change()

    assert planned.code == 0
    assert "1 refusal in" in planned.log
    assert all("1 refusal in" in text for text in shown(applied, planned)[:2])


@pytest.mark.promise("S16")
def test_what_the_default_branch_has(applied: Jobs) -> None:
    """On the default branch no change brings a guard, and no other branch has it too."""
    without_policy(applied)

    planned = applied.merged("plan")

    assert planned.code == 0
    assert "1 refusal in this" in planned.log
    assert "base branch" not in planned.log


@pytest.mark.promise("S16")
def test_a_dispatched_apply(applied: Jobs) -> None:
    """A run by hand applies the newest commit by the review of its pull request."""
    without_policy(applied)
    applied.change()
    assert applied.merged().code == 11
    payload = {"repository": {"default_branch": "main", "full_name": "team/shop"}}
    applied.more = {"GITHUB_REF": "refs/heads/main"}

    ran = applied.job("apply", "workflow_dispatch", payload, allow_destroy="the team agreed")

    assert (ran.code, ran.outputs["result"]) == (0, "applied")


@pytest.mark.promise("S16")
@pytest.mark.parametrize("name", ["allow_destroy", "break_glass", "new_journal"])
def test_a_no_is_no_reason(applied: Jobs, name: str) -> None:
    """What says no, or nothing, is a usage error, and nothing is written."""
    without_policy(applied)
    applied.change()
    commit = applied.merge()
    before = len(applied.service.writes)

    codes = {
        no: applied.merged(commit=commit, **{name: no}).code
        for no in (*NO, "0.0", "${{ inputs.x }}")
    }

    assert set(codes.values()) == {64}, codes
    assert len(applied.service.writes) == before


@pytest.mark.promise("S16")
def test_brought_by_the_change() -> None:
    """Only what another plan has with the same figures is not the change's."""
    one = GuardViolation(
        ref=Ref("LogPolicySet", "all"), said=" destroys 1", remedies=(), code="destroys"
    )
    more = GuardViolation(ref=one.ref, said=" destroys 2", remedies=(), code="destroys")

    assert without(Refusals(guards=(one,)), Refusals(guards=(one,))) == Refusals(of_base=1)
    assert without(Refusals(guards=(more,)), Refusals(guards=(one,))).guards == (more,)


DIFF = """\
diff --git a/all.yaml b/all.yaml
--- a/all.yaml
+++ b/all.yaml
@@ -3 +3,2 @@ spec:
-old
+++ b/other.yaml
+new
@@ -9,2 +10,0 @@
-gone
-gone
diff --git a/b.yaml b/b.yaml
--- /dev/null
+++ b/b.yaml
@@ -0,0 +1 @@
+x
"""


@pytest.mark.promise("S16")
def test_lines_of_a_change() -> None:
    """A diff names the new lines of each file, whatever the lines of a file look like."""
    assert lines_in(DIFF) == {
        "all.yaml": [range(3, 5), range(10, 10)],
        "b.yaml": [range(1, 2)],
    }


@pytest.mark.promise("S16")
def test_lines_of_odd_names() -> None:
    """Lines of a file that went, or without a line break at its end, count for no other file."""
    gone = "--- a/a.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    mark = "\\ No newline at end of file\n"
    cut = f"--- a/z\u00fc.yaml\n+++ b/z\u00fc.yaml\n@@ -1 +1 @@\n-a\n{mark}+b\n{mark}"
    more = "--- a/c.yaml\n+++ b/c.yaml\n@@ -4 +4 @@\n-a\n+b\n"

    found = lines_in(gone + cut + more)

    assert (found["z\u00fc.yaml"], found["c.yaml"]) == ([range(1, 2)], [range(4, 5)])


@pytest.mark.promise("S16")
def test_annotated_complaints() -> None:
    """Errors are shown wherever they are, warnings on lines of the change; the rest is a count."""
    error = Complaint("b.yaml", 9, 1, code="M200", message="wrong")
    warnings = [
        Complaint("b.yaml", line, 1, code="L405", message="odd", severity=Severity.WARNING)
        for line in (1, 2)
    ]

    shown = of_the_change([error, *warnings], "shop", {"shop/b.yaml": [range(1, 2)]})

    assert shown == ([error, warnings[0]], 1)
