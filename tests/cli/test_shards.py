"""Shards of one workspace: runs side by side, each with a journal of its own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from harness.doors import Ran, begun, environment, typed
from harness.forge import NUMBER
from harness.jobs import Jobs
from harness.served import Served, served
from harness.stores import BUCKET
from harness.workspaces import DASHBOARD, POLICY_SET, SLO, VIEW, Workspace, project_at

COUNT = 4
SHARDS = [f"{number}/{COUNT}" for number in range(1, COUNT + 1)]
RESOURCES = 31
NAMED = "SELECT count(*), count(DISTINCT json_extract(record, '$.name')) FROM {}"
LINKED = VIEW.replace("errors", "checkout").replace("name: Errors", "name: See ${ref:SLO/checkout}")


def company(root: Path, project: str) -> Workspace:
    """Declare ten SLOs with a view that refers to each, ten dashboards, and the policies."""
    made = project_at(root, project, policies=POLICY_SET)
    for number in range(10):
        for kind, text in (("slo", SLO), ("view", LINKED), ("board", DASHBOARD)):
            named = text.replace("checkout", f"service-{number}").replace("Checkout", f"S{number}")
            made.write(f"{kind}-{number}.yaml", named)
    return made


@pytest.fixture
def service() -> Iterator[Served]:
    """Serve an empty service."""
    with served() as service:
        yield service


def side_by_side(root: Path, environ: Mapping[str, str], *arguments: str) -> list[Ran]:
    """Run one command for every shard at once, each in a process."""
    lines = [[*arguments, "--select", f"shard:{shard}"] for shard in SHARDS]
    running = [begun(root, line, environ) for line in lines]
    ended = [process.communicate(timeout=120) for process in running]
    return [Ran(process.returncode, *told) for process, told in zip(running, ended, strict=True)]


def test_four_shards_at_once(service: Served, s3: Mapping[str, str], tmp_path: Path) -> None:
    """Four shards that apply at once make everything once, and nothing the second time."""
    place = f"s3://{BUCKET}/{uuid4()}"
    made = company(tmp_path, f"environments: {{production: {{journal: '{place}/{{shard}}'}}}}\n")
    environ = environment(service.base_url, **s3)
    apply = ("apply", "--yes", "--new-journal", "--format", "json")

    first = side_by_side(made.root, environ, *apply)

    assert [one.code for one in first] == [0] * COUNT, [one.err for one in first]
    done = Counter(outcome["ref"] for ran in first for outcome in ran.json["outcomes"])
    assert (len(done), set(done.values())) == (RESOURCES, {1})
    assert service.rows(NAMED.format("slos")) == [(10, 10)]
    assert service.rows(NAMED.format("saved_views")) == [(10, 10)]
    assert service.rows("SELECT count(*) FROM dashboards") == [(10,)]
    known = [refs_known(made.root, environ, shard) for shard in SHARDS]
    assert all(known)
    assert sorted(ref for some in known for ref in some) == sorted(done)

    writes = len(service.writes)
    again = side_by_side(made.root, environ, *apply)
    assert [one.code for one in again] == [0] * COUNT, [one.err for one in again]
    assert len(service.writes) == writes
    checked = in_root(made.root, environ, "validate", "--format", "json")
    assert (checked.code, checked.json["resources"]) == (0, RESOURCES)


def in_root(root: Path, environ: Mapping[str, str], *arguments: str) -> Ran:
    """Run one command in the project's folder."""
    with begun(root, arguments, environ) as process:
        out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out, err)


def refs_known(root: Path, environ: Mapping[str, str], shard: str) -> set[str]:
    """Give what the journal of a shard has written."""
    ran = in_root(root, environ, "journal", "show", "--shard", shard, "--format", "json")
    assert ran.code == 0, ran.err
    return {value["ref"] for value in ran.json if value.get("ref")}


LOCAL = """\
environments:
  local: {emulator: {data: .reconciler/local.db}, journal: ".reconciler/{shard}.jsonl"}
"""


@pytest.fixture
def local(tmp_path: Path) -> Workspace:
    """Give the company on an emulator, with a journal for each shard."""
    return company(tmp_path, LOCAL)


def selected(made: Workspace, shard: str) -> dict[str, str]:
    """Give the actions of the plan of a shard."""
    planned = made.plan("--select", f"shard:{shard}")
    return {change["ref"]: change["action"] for change in planned["changes"]}


def test_no_shard_is_selected(local: Workspace) -> None:
    """A run of everything, and a journal command, are refused where each shard has a journal."""
    for command in ("plan", "apply --yes", "drift"):
        ran = local.run(command)
        assert ran.code == 4
        assert "--select shard:1/4" in ran.err
    ran = typed("journal", "show", "--path", str(local.root))
    assert ran.code == 4
    assert "--shard 1/4" in ran.err
    assert local.run("validate").code == 0


def test_a_part_has_no_shards(local: Workspace) -> None:
    """Paths beside a shard are refused: a part of the files would put resources elsewhere."""
    ran = typed("plan", str(local.root / "slo-1.yaml"), "--select", "shard:1/4")

    assert ran.code == 64
    assert "the paths out" in ran.err


TAKES_OVER = ("--new-journal", "--override-guard", "one journal becomes several")


def test_from_one_journal_to_four_and_back(local: Workspace) -> None:
    """With the ids in the manifests one journal becomes four, and one again, and nothing is new."""
    local.settle(LOCAL.replace("{shard}", "whole"))
    assert local.apply("--new-journal").code == 0
    assert local.run("journal write-ids").code == 0

    local.settle(LOCAL)
    for shard in SHARDS:
        assert "create" not in selected(local, shard).values()
        assert local.apply(*TAKES_OVER, "--select", f"shard:{shard}").code == 0
        assert set(selected(local, shard).values()) == {"keep"}

    local.settle(LOCAL.replace("{shard}", "again"))
    assert local.apply(*TAKES_OVER).code == 0
    planned = local.plan()
    assert {change["action"] for change in planned["changes"]} == {"keep"}
    assert len(planned["changes"]) == RESOURCES


def test_ids_of_the_shards(local: Workspace) -> None:
    """The ids that the journals of shards know can be written, one journal after the other."""
    for shard in SHARDS:
        assert local.apply("--new-journal", "--select", f"shard:{shard}").code == 0
        assert local.run("journal write-ids", "--shard", shard).code == 0

    texts = [file.read_text("utf-8") for file in sorted(local.root.glob("[sv]*-*.yaml"))]
    assert len(texts) == 20
    assert all(re.search(r"\bid: ", text) for text in texts)


def test_what_a_shard_leaves_alone(local: Workspace) -> None:
    """A shard says what was removed of it, and nothing of what others have."""
    shard = next(shard for shard in SHARDS if "Dashboard/service-3" in selected(local, shard))
    assert local.apply("--new-journal", "--select", f"shard:{shard}").code == 0

    assert local.plan("--select", f"shard:{shard}")["orphans"] == []
    (local.root / "board-3.yaml").unlink()
    left = local.plan("--select", f"shard:{shard}")["orphans"]

    assert [value["ref"] for value in left] == ["Dashboard/service-3"]


def test_an_error_stops_every_shard(local: Workspace) -> None:
    """A broken manifest stops each shard, as nobody can tell what it refers to."""
    local.write("broken.yaml", SLO.replace("checkout", "broken").replace("99.9", "ninety"))

    assert [local.run("plan", "--select", f"shard:{shard}").code for shard in SHARDS] == [4] * COUNT


def test_only_the_secrets_of_the_shard(local: Workspace) -> None:
    """A shard needs no secret of another."""
    view = VIEW.replace("errors", "secret").replace("name: Errors", "name: a ${secret:NOT_SET}")
    local.write("secret.yaml", view)

    codes = [local.run("plan", "--select", f"shard:{shard}").code for shard in SHARDS]

    assert sorted(codes) == [0, 0, 0, 4]


MATRIX = """\
environments:
  staging: {baseUrl: "https://staging.example.com", journal: "git:refs/reconciler/staging-{shard}"}
  production: {baseUrl: "https://api.example.com", journal: "s3://bucket/production-{shard}"}
  local: {emulator: {data: .reconciler/local.db}}
"""


def test_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix has a job for each shard of each environment, those in this process aside."""
    monkeypatch.chdir(project_at(tmp_path, MATRIX).root)

    ran = typed("ci", "matrix", "--shards", "2")

    assert ran.code == 0
    assert ran.json == {
        "include": [
            {"environment": name, "shard": shard}
            for name in ("production", "staging")
            for shard in ("1/2", "2/2")
        ]
    }


def test_matrix_without_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One shard is none: the job runs as it does without a matrix."""
    monkeypatch.chdir(project_at(tmp_path, MATRIX.replace("-{shard}", "")).root)
    monkeypatch.setenv("INPUT_ENVIRONMENT", "staging")

    assert typed("ci", "matrix", "--shards", "1").json == {"include": [{"environment": "staging"}]}


def test_matrix_as_an_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an output the matrix is appended to those of the job, and nothing is printed."""
    monkeypatch.chdir(project_at(tmp_path, MATRIX).root)
    printed = typed("ci", "matrix", "--shards", "2").out
    output = tmp_path / "output"
    output.write_text("before=1\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))

    ran = typed("ci", "matrix", "--shards", "2", "--format", "github")

    assert (ran.code, ran.out) == (0, "")
    found = re.fullmatch(r"before=1\nmatrix<<(\w+)\n(.*)\n\1\n", output.read_text("utf-8"))
    assert found is not None
    assert json.loads(found[2]) == json.loads(printed)


@pytest.mark.parametrize(
    ("project", "arguments", "code", "said"),
    [
        (MATRIX, (), 64, "--shards 4"),
        (MATRIX, ("--shards", "0"), 64, "0"),
        (MATRIX, ("--shards", "129"), 64, "258 jobs are more than the 256"),
        (MATRIX, ("--shards", "1"), 4, "`--shards 1` selects none"),
        (MATRIX.replace("-{shard}", ""), ("--shards", "2"), 4, "production-{shard}"),
        (MATRIX, ("--shards", "2", "--format", "github"), 64, "GITHUB_OUTPUT names no file"),
        (LOCAL, ("--shards", "2"), 64, "no environment with a service"),
    ],
)
def test_no_matrix(  # noqa: PLR0917 - a table and two fixtures
    project: str,
    arguments: tuple[str, ...],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A matrix whose jobs would be refused, or stand in each other's way, is not printed."""
    monkeypatch.chdir(project_at(tmp_path, project).root)
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)

    ran = typed("ci", "matrix", *arguments)

    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


def test_shards_of_a_pull_request(jobs: Jobs) -> None:
    """Each shard has its comment, plan file and journal, and is applied as reviewed."""
    project = jobs.root / "reconciler.yaml"
    text = project.read_text(encoding="utf-8")
    text = text.replace(".reconciler/production.jsonl", '".reconciler/{shard}.jsonl"')
    project.write_text(text, encoding="utf-8")
    jobs.base = jobs.merge()
    shards = ["1/2", "2/2"]

    planned = [jobs.change(shard=shard) for shard in shards]

    assert [one.code for one in planned] == [0, 0], [one.log for one in planned]
    assert len(jobs.forge.visible(NUMBER)) == len(shards)
    assert len({one.outputs["artifact-name"] for one in planned}) == len(shards)
    creates = sum(int(one.outputs["create"]) + int(one.outputs["update"]) for one in planned)
    applied = [jobs.merged(shard=shard, new_journal="true") for shard in shards]
    assert [one.code for one in applied] == [0, 0], [one.log for one in applied]
    kept = sorted(path.name for path in (jobs.root / ".reconciler").glob("*-of-*.jsonl"))
    assert kept == ["1-of-2.jsonl", "2-of-2.jsonl"]
    assert creates > 0
    assert jobs.merged(shard="3/2").code == 64
