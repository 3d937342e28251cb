from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness.doors import Ran
from harness.golden import Golden
from harness.repositories import begin, committed, git
from harness.workspaces import Workspace

PROJECT = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {team: %s, unused: %s}
"""
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: %s}
spec:
  name: %s
  timeSelection: {quickSelection: {seconds: 900}}
"""
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: %s}
spec: {file: exports/%s.json}
"""
EXPORT = '{"name": "Health", "description": "%s", "layout": {"sections": []}}'


class Repository(Workspace):
    """A workspace in a git repository of its own, one folder below its root."""

    def git(self, *arguments: str) -> str:
        """Run git at the root of the repository."""
        return git(self.root.parent, *arguments)

    def commit(self) -> str:
        """Commit everything; give the commit's id."""
        return committed(self.root.parent)

    def part(self, *arguments: str) -> list[str]:
        """Plan what changed since main; give the names of what was examined."""
        return [
            change["ref"] for change in self.plan("--changed-since", "main", *arguments)["changes"]
        ]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Give five manifests on main, and a branch of it that is checked out."""
    made = Repository(tmp_path / "ops")
    made.write("reconciler.yaml", PROJECT % ("payments", "a"))
    made.write("views.yaml", "---\n".join(VIEW % (name, "Errors") for name in ("a", "b")))
    made.write("team.yaml", VIEW % ("team", "Errors of ${var:team}"))
    made.write("health.yaml", DASHBOARD % ("health", "health"))
    made.write("exports/health.json", EXPORT % "first")
    made.write("linked.yaml", VIEW % ("linked", "See ${ref:Dashboard/health}"))
    made.write("../.gitignore", ".reconciler\n")
    begin(tmp_path)
    made.git("checkout", "--quiet", "-b", "change")
    return made


def test_nothing_changed(repository: Repository) -> None:
    """Without a change nothing is examined, and all of it is counted."""
    planned = repository.plan("--changed-since", "main")

    assert planned["changes"] == []
    assert planned["notExamined"] == 5
    assert planned["changedSince"] == f"main ({repository.git('rev-parse', 'HEAD')[:12]})"


def test_comments_and_layout_are_no_change(repository: Repository) -> None:
    """A manifest that says the same in other words, or in another file, did not change."""
    text = (repository.root / "views.yaml").read_text(encoding="utf-8")
    (repository.root / "views.yaml").unlink()
    repository.write("moved.yaml", "# why\n" + text.replace("name: Errors", 'name: "Errors"'))
    repository.commit()

    assert repository.part() == []


@pytest.mark.parametrize("committed", [True, False])
def test_a_changed_manifest(repository: Repository, committed: bool) -> None:
    """Of two manifests in one file only the changed one is examined, committed or not."""
    text = (repository.root / "views.yaml").read_text(encoding="utf-8")
    repository.write("views.yaml", text.replace("seconds: 900", "seconds: 901", 1))
    if committed:
        repository.commit()

    assert repository.part() == ["SavedView/a"]


@pytest.mark.parametrize(("changed", "counted"), [("views.yaml", 1), ("team.yaml", 0)])
def test_warnings_of_a_part(repository: Repository, changed: str, counted: int) -> None:
    """Only the warnings about what is examined are counted, and the command shows just those."""
    text = VIEW.replace("900}}", "900}}\n  zebra: 1")
    repository.write("other.yaml", text % ("other", "Errors"))
    repository.write("views.yaml", text % ("b", "Errors"))
    repository.commit()
    repository.git("branch", "--force", "main")
    file = repository.root / changed
    file.write_text(file.read_text(encoding="utf-8").replace("Errors", "All"), encoding="utf-8")

    ran = repository.run("plan", "--changed-since", "main")

    assert ran.err.count("1 warning ") == ran.err.count(" warning") == counted
    assert ran.err.count("--changed-since main`") == counted


def test_a_new_manifest(repository: Repository) -> None:
    """A manifest that is in no commit yet is examined."""
    repository.write("new.yaml", VIEW % ("new", "New"))

    assert repository.part() == ["SavedView/new"]


def test_a_changed_export(repository: Repository) -> None:
    """A changed `spec.file` changes its manifest, and what refers to that is examined too."""
    repository.write("exports/health.json", EXPORT % "second")

    assert repository.part() == ["Dashboard/health", "SavedView/linked"]


def test_what_a_change_refers_to(repository: Repository) -> None:
    """What a changed manifest refers to is examined, as its id is needed."""
    repository.write("linked.yaml", VIEW % ("linked", "Look at ${ref:Dashboard/health}"))

    assert repository.part() == ["Dashboard/health", "SavedView/linked"]


def test_a_changed_variable(repository: Repository) -> None:
    """A changed variable changes the manifests that use it, and no others."""
    repository.write("reconciler.yaml", PROJECT % ("search", "b"))

    assert repository.part() == ["SavedView/team"]


def test_what_main_got_meanwhile_is_no_change(repository: Repository) -> None:
    """What others did on main since the branch began is none of its changes."""
    repository.write("new.yaml", VIEW % ("new", "New"))
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.write("views.yaml", VIEW % ("a", "Others"))
    repository.commit()
    repository.git("checkout", "--quiet", "change")

    assert repository.part() == ["SavedView/new"]


def test_a_deleted_manifest_is_told(repository: Repository, golden: Golden) -> None:
    """A deleted manifest is said to be declared no more; what was applied is left behind."""
    assert repository.apply().code == 0
    (repository.root / "views.yaml").unlink()
    ran = repository.run("plan", "--changed-since", "main", "--format", "json")

    assert [orphan["ref"] for orphan in ran.json["orphans"]] == ["SavedView/a", "SavedView/b"]
    golden(ran.err)


def test_a_moved_environment_is_no_deletion(repository: Repository) -> None:
    """A manifest that is limited to other environments now is not said to be deleted."""
    text = VIEW.replace("{name: %s}", "{name: %s, environments: [other]}") % ("team", "x")
    repository.write("team.yaml", text)
    repository.write("reconciler.yaml", PROJECT % ("payments", "a") + "  other: {}\n")
    ran = repository.run("plan", "-e", "local", "--changed-since", "main")

    assert ran.code == 0, ran.err
    assert "declared no more" not in ran.err


def test_a_part_of_the_paths(repository: Repository, golden: Golden) -> None:
    """With PATH, only what is below it is compared and counted."""
    repository.write("views.yaml", VIEW % ("a", "Others"))
    repository.write("team.yaml", VIEW % ("team", "Others"))
    file = str(repository.root / "team.yaml")
    ran = Workspace(Path(file)).run("plan", "--changed-since", "main", "-v")

    golden(ran.out)


def test_what_was_invalid_counts_as_changed(repository: Repository) -> None:
    """A manifest that was not valid in the revision is examined."""
    repository.git("checkout", "--quiet", "main")
    repository.write("team.yaml", VIEW % ("team", "x") + "  nmae: x\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-B", "change")
    repository.write("team.yaml", VIEW % ("team", "x"))

    assert repository.part() == ["SavedView/team"]


def test_attributes_and_filters_do_not_matter(repository: Repository, tmp_path: Path) -> None:
    """Files are compared as they were committed: nothing that the repository names is run."""
    ran = tmp_path / "ran"
    repository.git("config", "filter.evil.smudge", f"touch {ran}; cat")
    repository.git("config", "core.fsmonitor", f"touch {ran}; false")
    repository.write("../.gitattributes", "* filter=evil export-ignore\n")
    ran.unlink(missing_ok=True)

    assert repository.part() == []
    assert not ran.exists()


def test_a_part_is_not_applied(repository: Repository, golden: Golden) -> None:
    """A plan of a part is refused by `apply --plan` with 64, before anything is asked."""
    repository.write("new.yaml", VIEW % ("new", "New"))
    out = str(repository.root / ".reconciler.plan.json")
    assert repository.run("plan", "--changed-since", "main", "--out", out).code == 0
    ran = repository.run("apply", "--plan", out)

    assert ran.code == 64
    golden(ran.err)


def test_the_digest_of_a_part(repository: Repository) -> None:
    """The digest of a part does not fit the whole: `apply --expect` is stale, exit 6."""
    repository.write("new.yaml", VIEW % ("new", "New"))
    digest = repository.plan("--changed-since", "main")["digest"]

    assert repository.run("apply", "--expect", digest).code == 6


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_part_says_so(repository: Repository, form: str) -> None:
    """Every report of a part says so, and how many resources it leaves out."""
    repository.write("new.yaml", VIEW % ("new", "New"))
    ran = repository.run("plan", "--changed-since", "main", "--format", form)

    assert "5 resources not" in ran.out
    assert "main (" in ran.out


def refused(ran: Ran, says: str) -> None:
    """Hold that a command line was refused with these words."""
    assert (ran.code, ran.out) == (64, "")
    assert says in ran.err


@pytest.mark.parametrize(
    ("revision", "says"),
    [
        ("lost", "there is no revision `lost` in this repository"),
        ("--output=x", "`--output=x` is not a revision"),
        ("", "`` is not a revision"),
        ("HEAD:ops", "there is no revision `HEAD:ops`"),
    ],
)
def test_revisions_that_are_none(repository: Repository, revision: str, says: str) -> None:
    """What is no revision is refused, and never taken as an option."""
    refused(repository.run("plan", f"--changed-since={revision}"), says)


def test_no_repository(tmp_path: Path) -> None:
    """Outside a repository there is nothing to compare with."""
    made = Workspace(tmp_path)
    made.write("reconciler.yaml", PROJECT % ("a", "b"))

    refused(made.run("plan", "--changed-since", "main"), "needs a git repository")


def test_no_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git the flag is refused, and the way out is plain."""
    # A checkout that git cannot read is refused before, as it may need approvals.
    (repository.root.parent / ".git").rename(repository.root.parent / "git")
    monkeypatch.setenv("PATH", os.devnull)

    refused(repository.run("plan", "--changed-since", "main"), "needs git")


def test_no_common_commit(repository: Repository) -> None:
    """A revision of another history is refused."""
    repository.git("checkout", "--quiet", "--orphan", "other")
    repository.write("new.yaml", VIEW % ("new", "New"))
    repository.commit()

    refused(repository.run("plan", "--changed-since", "main"), "has no commit in common")


def test_a_shallow_clone(repository: Repository, tmp_path: Path) -> None:
    """In a clone that is cut before the branching point, the way out is to fetch more."""
    repository.commit()
    source = f"file://{repository.root.parent}"
    repository.git("clone", "--quiet", "--depth", "1", source, str(tmp_path / "clone"))
    clone = Workspace(tmp_path / "clone" / "ops")

    ran = clone.run("plan", "--changed-since", "main")

    refused(ran, "this clone is shallow, so fetch the whole history first")
