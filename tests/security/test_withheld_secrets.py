"""The API key and the credentials of a CI system stand in no body, whatever a manifest says."""

from __future__ import annotations

import gc
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.doors import KEY, Ran, in_this_process
from harness.golden import Golden
from harness.jobs import Jobs
from harness.wire import NEARBY, standing_in
from harness.workspaces import Workspace

from reconciler.document import Json
from reconciler.redaction.templates import reveal
from reconciler.workspace.expression_scope import Scope, fill, withheld_from

TOKEN = "canary-token-51f0"  # noqa: S105 - a canary
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: 'Errors %s'
  searchQuery: {query: x}
  timeSelection: {quickSelection: {caption: x, seconds: 900}}
  filters: {filters: []}
"""
KEYS = ("RECONCILER_API_KEY", "INPUT_API_KEY")
TOKENS = (
    *("GITHUB_TOKEN", "INPUT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
    *("CI_JOB_TOKEN", "CI_REPOSITORY_URL", "CIRCLE_OIDC_TOKEN", "BUILDKITE_AGENT_ACCESS_TOKEN"),
    *("BITBUCKET_STEP_OIDC_TOKEN", "SYSTEM_ACCESSTOKEN"),
)
# What each system sets, and any other name of those that it keeps for itself.
OWN = [
    ("GITHUB_ACTIONS", ("GITHUB_SHA", "ACTIONS_CACHE_URL", "RUNNER_TEMP", "INPUT_ANYTHING")),
    ("GITLAB_CI", ("CI_JOB_ID", "CI_ANYTHING_NEW", "GITLAB_USER_LOGIN")),
    ("CIRCLECI", ("CIRCLE_SHA1",)),
    ("BUILDKITE", ("BUILDKITE_BRANCH",)),
    ("BITBUCKET_BUILD_NUMBER", ("BITBUCKET_COMMIT",)),
    ("TF_BUILD", ("SYSTEM_COLLECTIONURI", "BUILD_SOURCEVERSION", "AGENT_NAME")),
    ("JENKINS_URL", ("JENKINS_HOME", "BUILD_TAG")),
]


def filled(text: Json, **environ: str) -> tuple[list[str], Json]:
    """Fill a document in where these are the variables; give the codes and what would be sent."""
    found = fill(
        text, Scope("local", {}, environ, salt=lambda: "salt", withheld=withheld_from(environ))
    )
    return [finding.code for finding in found.findings], reveal(found.document)


def planned(folder: Path, written: str, **environ: str) -> tuple[Ran, list[str]]:
    """Plan and apply a view whose name holds a text; give the end and all bodies that were sent."""
    (folder / "all.yaml").write_text(VIEW % written, encoding="utf-8")
    (folder / "reconciler.yaml").write_text("environments: {production: {}}\n", encoding="utf-8")
    with standing_in() as service:
        service.respond(json={"id": 7, "policies": []})
        ended = in_this_process(folder, NEARBY, "apply", "--yes", more=environ)
    sent = [call.request for call in service.calls]
    return ended, [value.url.path for value in sent if value.method != "GET"]


@pytest.mark.promise("P8")
@pytest.mark.parametrize("name", [*KEYS, *TOKENS])
def test_at_its_place(tmp_path: Path, name: str, golden: Golden) -> None:
    """The key and each token are refused offline, on any machine, at the expression's own place."""
    workspace = Workspace(tmp_path)
    workspace.write("all.yaml", VIEW % f"${{secret:{name}}}")
    ran = workspace.run("validate")

    assert ran.code == 4
    assert f"error[M505]: `${{secret:{name}}}` " in ran.out
    assert ("is the API key" if name in KEYS else "is a credential of the CI system") in ran.out
    assert "--> all.yaml:5:" in ran.out
    golden(ran.out)


@pytest.mark.promise("P8")
@pytest.mark.parametrize(("marker", "names"), OWN, ids=[marker for marker, _ in OWN])
def test_what_the_system_sets(marker: str, names: tuple[str, ...]) -> None:
    """Inside a CI system every name that it sets is refused; elsewhere such a name is anyone's."""
    for name in names:
        text = f"${{secret:{name}}}"
        assert filled(text, **{marker: "true", name: TOKEN}) == (["M505"], "")
        assert filled(text, **{name: TOKEN}) == ([], TOKEN)


@pytest.mark.promise("P8")
@pytest.mark.parametrize("name", ["RECONCILER_API_KEY", "GITHUB_TOKEN", "INPUT_TOKEN"])
@pytest.mark.parametrize("given", ["{}", "Bearer {}", "https://x:{}@host"])
def test_under_another_name(name: str, given: str) -> None:
    """A value that is or holds the key's or a token's is refused, whatever its name is."""
    text = "x ${secret:HOOK} y"

    assert filled(text, HOOK=given.format(TOKEN), **{name: TOKEN}) == (["M505"], "x  y")
    assert filled(text, HOOK="another", **{name: TOKEN}) == ([], "x another y")


@pytest.mark.promise("P8")
@pytest.mark.parametrize("before", ["", "x", "user:", "ab"])
@pytest.mark.parametrize("after", ["", "y", ":end"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_in_another_alphabet(before: str, after: str, encode: Callable[[bytes], bytes]) -> None:
    """What holds the key in base64 is refused, wherever it stands in what was encoded."""
    key = f"{TOKEN}?>~é"
    given = encode(f"{before}{key}{after}".encode()).decode()

    assert filled("${secret:HOOK}", HOOK=given, RECONCILER_API_KEY=key) == (["M505"], "")
    other = encode(f"{before}{key[::-1]}{after}".encode()).decode()
    assert filled("${secret:HOOK}", HOOK=other, RECONCILER_API_KEY=key) == ([], other)


@pytest.mark.promise("P8")
def test_put_together() -> None:
    """Neither two halves nor a variable nor the text itself make up the key."""
    halves = {"A": TOKEN[:9], "B": TOKEN[9:], "RECONCILER_API_KEY": TOKEN}
    scope = Scope(
        "local", {"key": TOKEN}, halves, salt=lambda: "salt", withheld=withheld_from(halves)
    )

    for text in ("${secret:A}${secret:B}", f"{TOKEN[:9]}${{secret:B}}", "${var:key}", f"a {TOKEN}"):
        found = fill({"a": [text]}, scope)
        assert [(finding.code, finding.path) for finding in found.findings] == [
            ("M505", ("a", 0))
        ], text
    assert fill("${secret:A}", scope).findings == []


@pytest.mark.promise("P8")
def test_a_short_key() -> None:
    """A key of a few letters is refused as a whole, and not looked for inside of words."""
    environ = {"RECONCILER_API_KEY": "any", "A": "any", "B": "company"}

    assert filled("${secret:A}", **environ)[0] == ["M505"]
    assert filled("any ${secret:B}", **environ) == ([], "any company")


@pytest.mark.promise("P8")
@pytest.mark.parametrize(
    "written", ["${secret:RECONCILER_API_KEY}", "${secret:HOOK}", KEY, "${secret:GITHUB_TOKEN}"]
)
def test_nothing_is_sent(tmp_path: Path, written: str) -> None:
    """Such a manifest ends an apply before its first request, and nothing told holds the value."""
    ended, writes = planned(tmp_path, written, HOOK=KEY, GITHUB_TOKEN=TOKEN)

    assert (ended.code, writes) == (4, [])
    assert "error[M505]" in ended.err
    assert TOKEN not in ended.out + ended.err
    assert KEY not in ended.out + ended.err


@pytest.mark.promise("P8")
@pytest.mark.parametrize("command", ["validate", "plan"])
@pytest.mark.parametrize("name", ["RECONCILER_API_KEY", "INPUT_TOKEN", "GITHUB_SHA", "MINE"])
def test_in_a_job(jobs: Jobs, command: str, name: str) -> None:
    """A job refuses its own credentials too, and says where they stand."""
    jobs.edit("description: first", f"description: ${{secret:{name}}}")
    jobs.more = {"MINE": f"token {jobs.token}"} if command == "plan" else {}
    ran = jobs.change(command)

    if name == "MINE" and command == "validate":
        assert ran.code == 0
        return
    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert [line for line in ran.spoken if "M505" in line and "file=all.yaml" in line]
    assert jobs.token not in ran.log.partition("| ")[2] + ran.summary


def test_nothing_is_kept_after_a_run() -> None:
    """What looks for the value of a credential keeps no copy of it once its run is over."""
    value = str(Path("canary-kept-9f2c"))
    before = sys.getrefcount(value)

    withheld = withheld_from({"GITHUB_TOKEN": value})
    found = withheld.lies_in(f"a: {value}"), [*withheld.findings({"a": value})]
    del withheld
    gc.collect()

    assert found[0]
    assert len(found[1]) == 1
    assert sys.getrefcount(value) == before
