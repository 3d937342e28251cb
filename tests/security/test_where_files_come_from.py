"""Every file and branch is asked where it comes from: what no reviewed commit has, moves no key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from harness.repositories import committed, git
from hostile_jobs import Job, a_job
from trust_cells import DASHBOARD, MAIN, PULL, TRY, Repository


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with a_job(tmp_path) as opened:
        yield opened


@pytest.mark.promise("P1")
@pytest.mark.parametrize("name", ["README", "all.yaml", "deep/in/a/folder"])
@pytest.mark.parametrize("how", ["edited", "gone", "a link"])
def test_any_tracked_file(job: Job, name: str, how: str) -> None:
    """One tracked file below the project that is not as committed makes a checkout untrusted."""
    file = job.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text("x\n", encoding="utf-8")
    commit = committed(job.root, "More")
    assert job.plan(ref=MAIN, commit=commit) == "evil"
    if how != "edited":
        file.rename(job.root / "moved")
    if how == "a link":
        file.symlink_to(job.root / "moved")
    if how == "edited":
        file.write_text(file.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    job.plan(ref=MAIN, commit=commit)

    assert f"`{name}` is not as " in job.told


@pytest.mark.promise("P1")
def test_a_journal_that_is_committed(job: Job) -> None:
    """What runs write themselves may be committed, and differs after each: that is no change."""
    journal = job.root / ".reconciler" / "production.journal.jsonl"
    journal.parent.mkdir()
    journal.write_text("")
    git(job.root, "add", "--force", ".")
    git(job.root, "commit", "--quiet", "--message", "A journal")
    job.change = git(job.root, "rev-parse", "HEAD")
    journal.unlink()

    assert job.plan(ref=MAIN) == "evil"
    assert "untrusted" not in job.told


@pytest.mark.promise("P1")
@pytest.mark.parametrize("name", ["reconciler.yaml", "all.yaml"])
def test_a_journal_that_is_none(job: Job, name: str) -> None:
    """A project file or a manifest is compared though the project file calls it a journal."""
    git(job.root, "checkout", "--quiet", "main")
    edited = job.places.edited.replace("'}", f"', journal: {name}}}", 1)
    (job.root / "reconciler.yaml").write_text(edited)
    (job.root / name).write_text((job.root / name).read_text() + "# edited\n")

    assert job.plan(ref=MAIN, commit=job.base) == "good"
    assert "untrusted change" in job.told


@pytest.mark.promise("P1")
def test_line_ends(job: Job) -> None:
    """A file whose line ends another system changed is as committed."""
    file = job.root / "all.yaml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert job.plan(ref=MAIN) == "evil"


@pytest.mark.promise("P4")
@pytest.mark.parametrize("place", ["more.yaml", "sub/more.yaml", "export.json"])
def test_untracked_files(job: Job, place: str) -> None:
    """A manifest or an export that no commit has makes a checkout untrusted; other files do not."""
    (job.root / "notes.txt").write_text("x")
    assert job.plan(ref=MAIN) == "evil"
    assert "untrusted" not in job.told
    file = job.root / place
    file.parent.mkdir(exist_ok=True)
    if place == "export.json":
        (job.root / "all.yaml").write_text(
            "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: x}\n"
            "spec: {file: export.json}\n"
        )
        git(job.root, "commit", "--quiet", "--all", "--message", "An export that is nowhere")
        job.change = git(job.root, "rev-parse", "HEAD")
        file.write_text('{"name": "x", "layout": {}}')
    else:
        file.write_text(DASHBOARD.format(said="y").replace("checkout", "more"))

    job.plan(ref=MAIN)
    assert f"untrusted change (`{place}` " in job.told


@pytest.mark.promise("P4")
@pytest.mark.parametrize("nested", [True, False], ids=["a checkout", "a copy"])
@pytest.mark.parametrize("by", ["project", "path"])
def test_a_change_in_a_folder(job: Job, by: str, nested: bool) -> None:
    """The base with a stranger's change in a folder of it is the stranger's, by each way there."""
    git(job.root, "checkout", "--quiet", "--detach", job.base)
    inner = job.root / "pr"
    git(job.folder, "clone", "--quiet", "--branch", "try", str(job.root), str(inner))
    if not nested:
        (inner / ".git").rename(job.folder / "unused")
    given = {"project": "pr/reconciler.yaml"} if by == "project" else {"path": "pr"}
    if by == "path":
        given["project"] = "reconciler.yaml"

    assert job.plan("pull_request_target", MAIN, job.base, **given) == ""
    assert "allow-untrusted-manifests" in job.told
    allowed = job.plan(
        "pull_request_target", MAIN, job.base, allow_untrusted_manifests="true", **given
    )
    assert allowed == ("" if by == "project" else "good")
    assert job.plan("issue_comment", MAIN, job.base, **given) == allowed


@pytest.mark.promise("P2")
@pytest.mark.parametrize("by", ["project", "path"])
def test_a_linked_folder(job: Job, by: str) -> None:
    """A folder that a change makes a link to another project is refused, as a linked file is."""
    git(job.root, "checkout", "--quiet", "main")
    for name, text in (("a", job.places.reviewed), ("b", job.places.edited)):
        (job.root / name).mkdir()
        (job.root / name / "reconciler.yaml").write_text(text)
        (job.root / name / "all.yaml").write_text(DASHBOARD.format(said="x"))
    (job.root / "reconciler.yaml").unlink()
    job.base = committed(job.root, "Two projects")
    git(job.root, "update-ref", "refs/remotes/origin/main", job.base)
    given = {"project": "a/reconciler.yaml"} if by == "project" else {"path": "a"}
    assert job.plan("pull_request", PULL, job.base, **given) == "good"
    git(job.root, "rm", "-r", "--quiet", "a")
    (job.root / "a").symlink_to("b")
    committed(job.root, "A link")

    assert job.plan("pull_request", PULL, git(job.root, "rev-parse", "HEAD"), **given) == ""
    assert (job.code, "a is a link" in job.told) == (4, True)


@pytest.mark.promise("P1")
def test_a_shallow_checkout(job: Job) -> None:
    """Where too little was fetched to tell, nothing is believed, and the way out is named."""
    shallow = job.folder / "shallow"
    address = f"file://{job.root}"
    git(job.folder, "clone", "--quiet", "--depth=1", "--branch=try", address, str(shallow))
    job.root = shallow

    assert job.plan("pull_request", PULL) == ""
    assert "checkout is shallow" in job.told
    assert "fetch-depth: 0" in job.told
    assert job.plan("pull_request", PULL, base_url=job.good.url) == ""
    assert job.plan(ref=MAIN) == "evil"


@pytest.mark.promise("P1")
@pytest.mark.parametrize(
    ("origin", "arrives"),
    [
        ("https://forge.example.com/mallory/shop", ""),
        ("https://forge.example.com/mallory/shop.git", ""),
        ("git@forge.example.com:mallory/shop.git", ""),
        ("https://forge.example.com/team/shop/../../mallory/shop", ""),
        ("ext::sh -c true", ""),
        ("https://forge.example.com/team/shop", "evil"),
        ("https://forge.example.com/Team/Shop.git", "evil"),
        ("git@forge.example.com:team/shop.git", "evil"),
        ("ssh://git@forge.example.com/team/shop", "evil"),
        ("/srv/mirrors/shop.git", "evil"),
    ],
)
def test_the_origin_of_a_branch(job: Job, origin: str, arrives: str) -> None:
    """What a fork calls its main branch is not ours: `origin` has to be the event's repository."""
    git(job.root, "remote", "add", "origin", origin)
    git(job.root, "update-ref", "refs/remotes/origin/main", job.change)

    assert job.plan() == arrives


@pytest.mark.promise("P1")
def test_submodules(job: Job) -> None:
    """A submodule is as committed where its files are those of the commit that is named."""
    library = job.folder / "library"
    library.mkdir()
    git(library, "init", "--quiet")
    (library / "more.yaml").write_text(DASHBOARD.format(said="y").replace("checkout", "more"))
    committed(library, "Library")
    git(
        job.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library),
        "lib",
    )
    git(job.root, "commit", "--quiet", "--message", "With a library")
    job.change = git(job.root, "rev-parse", "HEAD")
    job.plan(ref=MAIN)
    assert "untrusted" not in job.told
    other = DASHBOARD.format(said="z").replace("checkout", "more")
    (job.root / "lib" / "more.yaml").write_text(other)

    job.plan(ref=MAIN)
    assert "untrusted change (`lib/more.yaml` " in job.told
    git(job.root / "lib", "commit", "--quiet", "--all", "--message", "Moved on")
    job.plan(ref=MAIN)
    assert "untrusted change (`lib/more.yaml` " in job.told
    git(job.root / "lib", "checkout", "--quiet", "HEAD~")
    (job.root / "lib" / ".git").unlink()
    job.plan(ref=MAIN)
    assert "untrusted change" in job.told


@pytest.mark.promise("P1")
def test_trusted_branches(job: Job) -> None:
    """A branch that main's project file names is trusted, and main's settings hold for it too."""
    assert job.plan(ref=TRY) == "good"
    git(job.root, "checkout", "--quiet", "main")
    (job.root / "reconciler.yaml").write_text(job.places.reviewed + "trustedBranches: [try]\n")
    git(job.root, "commit", "--quiet", "--all", "--message", "Trust a branch")
    job.base = git(job.root, "rev-parse", "HEAD")
    git(job.root, "update-ref", "refs/remotes/origin/main", job.base)
    git(job.root, "checkout", "--quiet", "try")

    assert job.plan(ref=TRY) == "good"
    assert "untrusted" not in job.told
    assert "which has environments.files" in job.told
    assert job.plan(ref="refs/heads/other") == "good"
    assert "untrusted change" in job.told
    assert job.plan(ref="refs/tags/try") == "good"
    assert job.plan(ref=TRY, commit="d" * 40) == "good"
    assert job.plan("pull_request", PULL) == "good"
    (job.root / "all.yaml").write_text(DASHBOARD.format(said="y"))
    assert job.plan(ref=TRY) == "good"
    assert "untrusted change" in job.told


@pytest.mark.promise("P1")
def test_a_branch_cannot_trust_itself(job: Job) -> None:
    """`trustedBranches` counts where main says it, and in no change."""
    (job.root / "reconciler.yaml").write_text(job.places.edited + "trustedBranches: [try]\n")
    git(job.root, "commit", "--quiet", "--all", "--message", "Trust me")
    job.change = git(job.root, "rev-parse", "HEAD")

    assert job.plan(ref=TRY) == "good"
    assert job.plan("pull_request", PULL) == "good"


@pytest.mark.promise("P1")
def test_a_change_to_another_branch(job: Job) -> None:
    """A change to a branch that nobody reviewed is judged by main, and not by that branch."""
    git(job.root, "commit", "--quiet", "--allow-empty", "--message", "On top")
    git(job.root, "update-ref", "refs/remotes/origin/try", job.change)
    payload = {"base": {"sha": job.change, "ref": "try"}}
    with mock.patch.object(Repository, "payload", _for(payload)):
        assert job.plan("pull_request", PULL, git(job.root, "rev-parse", "HEAD")) == "good"


def _for(change: dict[str, dict[str, str]]):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a stand-in
    from harness.forge import pull_request  # noqa: PLC0415 - only here

    def payload(_: Repository, __: str) -> object:
        made = pull_request()
        made["pull_request"]["base"] |= change["base"]
        return made

    return payload


@pytest.mark.promise("S29")
@pytest.mark.parametrize("name", ["reconciler.yaml", "all.yaml", "notes", "earlier.json"])
def test_what_a_plan_takes_the_place_of(job: Job, name: str) -> None:
    """A plan takes the place of an earlier one, even where planning fails, and of nothing else."""
    (job.root / "notes").write_text("mine")
    (job.root / "earlier.json").write_text('{\n  "formatVersion": 1,\n  "environment": "x"}')
    before = (job.root / name).read_text()
    job.plan(plan_file=name)

    assert job.code == (0 if name == "earlier.json" else 4)
    assert ((job.root / name).read_text() == before) == (name != "earlier.json")
    assert ("reconciler did not write it" in job.told) == (name != "earlier.json")


@pytest.mark.promise("P6")
@pytest.mark.parametrize("given", ["plan_file", "sarif_file"])
@pytest.mark.parametrize("name", ["out/file", "file"])
def test_files_of_the_job(job: Job, given: str, name: str) -> None:
    """What a job writes into its checkout is written through no link of the change."""
    outside = job.places.outside
    outside.mkdir()
    (outside / "file").write_text("mine")
    (job.root / "out").symlink_to(outside)
    (job.root / "file").symlink_to(outside / "file")
    job.plan(**{given: name})

    assert (outside / "file").read_text() == "mine"
    assert job.code == 4
    assert [path.name for path in outside.iterdir()] == ["file"]
