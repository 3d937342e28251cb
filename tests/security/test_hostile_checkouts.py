"""Checkouts made to be believed: what git is told, asked or given never moves the key."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.repositories import committed, git, git_environ, repository
from hostile_jobs import GUARD, Job, a_job
from trust_cells import MAIN, PULL, TRY

from reconciler.runtime.git import Git, GitFailed


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with a_job(tmp_path) as opened:
        yield opened


@pytest.mark.promise("P1")
def test_the_plain_job(job: Job) -> None:
    """An unreviewed branch is planned against the service of main; merged, it is believed."""
    assert job.plan() == "good"
    assert "untrusted change" in job.told
    assert job.plan(ref=MAIN) == "evil"


@pytest.mark.promise("P1")
def test_replaced_objects(job: Job) -> None:
    """A commit, or a file of it, that git is told to replace by another stays what it is."""
    for before, after in (
        (job.base, job.change),
        (f"{job.base}^{{tree}}", f"{job.change}^{{tree}}"),
    ):
        git(job.root, "replace", "--force", before, after)
    blobs = [
        git(job.root, "--no-replace-objects", "rev-parse", f"{one}:reconciler.yaml")
        for one in (job.base, job.change)
    ]
    git(job.root, "replace", "--force", *blobs)

    assert job.plan() == "good"


@pytest.mark.promise("P1")
def test_grafted_history(job: Job) -> None:
    """A commit that is only said to be an ancestor of main is none."""
    (job.root / ".git" / "info").mkdir(exist_ok=True)
    (job.root / ".git" / "info" / "grafts").write_text(f"{job.base} {job.change}\n")
    git(job.root, "replace", "--graft", job.base, job.change)

    assert job.plan() == "good"
    assert job.plan("workflow_dispatch", commit="d" * 40) == "good"


@pytest.mark.promise("P1")
@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
def test_forged_objects(job: Job, what: str) -> None:
    """An object that is stored under the name of another is found out, and nothing is believed."""
    suffix = {"blob": ":reconciler.yaml", "tree": "^{tree}", "commit": ""}[what]
    name, other = (git(job.root, "rev-parse", f"{one}{suffix}") for one in (job.base, job.change))
    content = (job.root / ".git" / "objects" / other[:2] / other[2:]).read_bytes()
    forged = job.root / ".git" / "objects" / name[:2] / name[2:]
    forged.chmod(0o644)
    forged.write_bytes(zlib.compress(zlib.decompress(content)))

    assert job.plan() == ""
    assert job.code == GUARD
    assert job.plan(ref=MAIN, commit=job.base) == ""


@pytest.mark.promise("P1")
def test_a_head_that_lies(job: Job) -> None:
    """A checkout that calls itself main's newest commit, and is not, is compared file by file."""
    git(job.root, "update-ref", "--no-deref", "HEAD", job.base)

    assert job.plan(ref=MAIN, commit=job.base) == "good"
    assert "`reconciler.yaml` is not " in job.told


@pytest.mark.promise("P1")
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_an_index_that_lies(job: Job, flag: str) -> None:
    """A file that git is told to overlook is looked at."""
    git(job.root, "checkout", "--quiet", "--detach", job.base)
    git(job.root, "update-index", flag, "reconciler.yaml")
    (job.root / "reconciler.yaml").write_text(job.places.edited, encoding="utf-8")

    assert git(job.root, "status", "--porcelain") == ""
    assert job.plan(ref=MAIN, commit=job.base) == "good"


@pytest.mark.promise("P1")
def test_a_repository_that_was_brought_along(job: Job) -> None:
    """A repository that an archive brings inside of ours is not believed about branches."""
    inner = job.root / "manifests"
    git(job.folder, "clone", "--quiet", "--branch", "try", str(job.root), str(inner))
    git(inner, "update-ref", "refs/remotes/origin/main", job.change)

    assert job.plan("workflow_run", MAIN, job.base, path="manifests") == ""
    assert "inside of another" in job.told
    assert job.plan("push", TRY, path="manifests") == ""
    given = {"project": "reconciler.yaml", "path": "manifests"}
    assert job.plan("workflow_run", MAIN, job.base, **given) == "good"
    assert "untrusted change" in job.told


@pytest.mark.promise("P1")
def test_commands_of_a_repository(job: Job) -> None:
    """No hook, filter, monitor, text conversion or server of a repository's own settings is run."""
    ran = job.folder / "ran"
    evil = f"sh -c 'touch {ran}; cat'"
    settings = {
        "core.fsmonitor": evil,
        "core.hooksPath": str(job.folder / "hooks"),
        "core.sshCommand": evil,
        "core.pager": evil,
        "core.alternateRefsCommand": evil,
        "filter.evil.clean": evil,
        "filter.evil.smudge": evil,
        "filter.evil.process": evil,
        "diff.evil.textconv": evil,
        "diff.external": evil,
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c touch% {ran}",
        "remote.origin.uploadpack": evil,
        "protocol.ext.allow": "always",
        "include.path": str(job.folder / "more"),
        "core.worktree": str(job.folder),
    }
    (job.folder / "hooks").mkdir()
    for hook in (
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
    ):
        script = job.folder / "hooks" / hook
        script.write_text(f"#!/bin/sh\ntouch {ran}\n")
        script.chmod(0o755)
    (job.folder / "more").write_text(f"[alias]\n  cat-file = !touch {ran}\n")
    (job.root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git(job.root, "config", "core.repositoryFormatVersion", "1")
    for name, value in settings.items():
        git(job.root, "config", name, value)

    for name, ref, commit in (("push", TRY, ""), ("push", MAIN, ""), ("pull_request", PULL, "")):
        job.plan(name, ref, commit)
    job.base = "f" * 40
    job.plan("pull_request", PULL)

    assert not ran.exists()


@pytest.mark.promise("P1")
def test_the_environment_of_git(job: Job) -> None:
    """No variable of git's own leads to another repository, object or setting."""
    other = job.folder / "other"
    git(job.folder, "clone", "--quiet", str(job.root), str(other))
    (other / "reconciler.yaml").write_text(job.places.edited)
    git(other, "commit", "--quiet", "--allow-empty", "--all", "--message", "Evil")
    evil = git(other, "rev-parse", "HEAD")
    git(other, "update-ref", "refs/remotes/origin/main", evil)
    job.environ = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git" / "objects"),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
        "GIT_NAMESPACE": "evil",
        "GIT_REPLACE_REF_BASE": "refs/remotes/",
        "GIT_GRAFT_FILE": str(job.folder / "grafts"),
        "GIT_SHALLOW_FILE": str(job.folder / "shallow"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": str(other),
    }
    (job.folder / "grafts").write_text(f"{job.base} {job.change}\n")

    assert job.plan() == "good"
    assert job.plan(ref=MAIN) == "evil"


@pytest.mark.promise("P1")
def test_a_journal_in_a_repository_that_was_brought_along(job: Job) -> None:
    """Git is not led to a server by the settings of a repository inside of ours."""
    git(job.root, "checkout", "--quiet", "main")
    text = job.places.reviewed.replace("'}\n", "', journal: git:refs/reconciler/x}\n", 1)
    (job.root / "reconciler.yaml").write_text(text)
    git(job.root, "commit", "--quiet", "--all", "--message", "A journal in git")
    base = git(job.root, "rev-parse", "HEAD")
    ran, script = job.folder / "ran", job.folder / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for place in (job.root / "pr", job.folder / "alone"):
        git(job.folder, "clone", "--quiet", str(job.root), str(place))
        git(place, "config", "remote.origin.url", "git://forge.example.com/team/shop.git")
        git(place, "config", "core.gitProxy", str(script))
    job.plan("workflow_run", MAIN, base, project="pr/reconciler.yaml")

    assert (job.code, "inside of another" in job.told) == (GUARD, True)
    assert not ran.exists()
    job.root = job.folder / "alone"
    job.plan("workflow_run", MAIN, base)
    assert ran.exists()


@pytest.mark.promise("S25")
def test_a_folder_that_looks_like_a_repository(tmp_path: Path) -> None:
    """A folder with all files of a bare repository is none to git, and its settings are not read.

    A branch can bring such a folder, as its files have usual names.
    """
    root = repository(tmp_path / "git")
    git(root, "clone", "--quiet", "--bare", ".", "manifests")

    assert git(root / "manifests", "rev-parse", "HEAD") == git(root, "rev-parse", "HEAD")
    with pytest.raises(GitFailed):
        Git(root / "manifests", git_environ()).run("rev-parse", "HEAD")


def test_a_linked_work_tree(job: Job) -> None:
    """A linked work tree is never trusted: the key goes where main's newest commit leads."""
    git(job.root, "worktree", "add", "--quiet", "--detach", str(job.folder / "second"))
    job.root = job.folder / "second"

    assert job.plan(ref=MAIN) == "evil"
    assert "linked work tree" in job.told


@pytest.mark.promise("P1")
@pytest.mark.parametrize("form", ["sha256", "another owner"])
def test_other_forms_of_a_checkout(job: Job, form: str) -> None:
    """Other digests and a checkout of another owner are as good as any."""
    if form == "sha256":
        shutil.rmtree(job.root / ".git")
        git(job.root, "init", "--quiet", "--object-format=sha256", "--initial-branch=main")
        committed(job.root, "Change")
        job.change = job.base = git(job.root, "rev-parse", "HEAD")
    if form == "another owner":
        if os.getuid() != 0:
            pytest.skip("only root gives files away")
        for file in (job.root, *job.root.rglob("*")):
            os.chown(file, 65534, 65534)

    assert job.plan(ref=MAIN) == "evil"
    assert "untrusted" not in job.told
    assert job.plan(ref=TRY) == ("" if form == "sha256" else "good")
