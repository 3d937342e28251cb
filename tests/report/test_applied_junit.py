from __future__ import annotations

from xml.etree import ElementTree as ET

from harness.workspaces import VIEW, Workspace
from sample_plans import created, kept, plan_of

from reconciler.model import InDoubt, Outcome, Ref, Refused, Skipped, Unchanged, Written
from reconciler.report.applied_formats import applied_junit


def ref(name: str) -> Ref:
    """Give the name of a view."""
    return Ref("SavedView", name)


OUTCOMES: dict[str, Outcome | None] = {
    "written": Written(ref("written"), 1),
    "unchanged": Unchanged(ref("unchanged"), 2, "nothing to do"),
    "refused": Refused(ref("refused"), "the service says <no>"),
    "skipped": Skipped(ref("skipped"), "depends on refused"),
    "doubtful": InDoubt(ref("doubtful"), "its answer was lost"),
    "unreached": None,
}


def test_one_test_a_resource() -> None:
    """Each resource of a plan is a test, and its outcome is that of the resource."""
    changes = [created("SavedView", name, {"name": name}) for name in OUTCOMES]
    plan = plan_of([*changes, kept("SavedView", "kept")])
    suite = ET.fromstring(applied_junit(plan, list(filter(None, OUTCOMES.values()))))[0]  # noqa: S314 - our own text

    told = {case.attrib["name"]: [(one.tag, one.get("message")) for one in case] for case in suite}
    assert told == {
        "written": [],
        "unchanged": [("system-out", None)],
        "refused": [("failure", "the service says <no>")],
        "skipped": [("skipped", "depends on refused")],
        "doubtful": [("error", "its answer was lost")],
        "unreached": [("skipped", "the run ended before it")],
        "kept": [],
    }
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "1", "errors": "1", "skipped": "2"}


def test_apply_as_junit(workspace: Workspace) -> None:
    """`apply --format junit` prints the suite, and nothing else, to stdout."""
    workspace.write("view.yaml", VIEW)
    ran = workspace.apply("--format", "junit")

    assert ran.code == 0, ran.err
    (case,) = ET.fromstring(ran.out)[0]  # noqa: S314 - our own text
    assert case.attrib == {"classname": "SavedView", "name": "errors", "file": "view.yaml"}
