"""What is made, and reported, where a journal is not there, or cannot be kept in git."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from harness.doors import in_this_process, typed
from harness.repositories import ISOLATED, git, repository
from harness.served import Served
from harness.stores import REF
from harness.workspaces import ALERT, DASHBOARD, SLO, VIEW, Workspace, project_at

from reconciler.runtime.advice import LOST_JOURNAL

IN_GIT = f"environments: {{default: {{journal: 'git:{REF}'}}}}"


def checks(root: Path, service: Served) -> dict[str, str]:
    """Give what `doctor` reports of each thing."""
    out = in_this_process(root, service.base_url, "doctor", "--format", "json").json
    return {value["check"]: f"{value['state']}: {value['detail']}" for value in out}


@pytest.mark.promise("S44")
def test_refused_in_git(tmp_path: Path, service: Served) -> None:
    """An apply that is refused leaves no ref of a journal on the remote."""
    checkout = repository(tmp_path / "git")
    project_at(checkout, IN_GIT, view=VIEW)

    ran = in_this_process(checkout, service.base_url, "apply", "--yes")

    assert ran.code == 11, ran.err
    assert git(checkout, "ls-remote", "origin", REF) == ""


@pytest.mark.promise("S44")
@pytest.mark.parametrize("manifest", [ALERT, SLO])
def test_doctor_on_a_missing_journal(tmp_path: Path, service: Served, manifest: str) -> None:
    """A missing journal is a warning where declared resources have ids, and else is as it was."""
    root = project_at(tmp_path / "p", "environments: {default: {}}", one=manifest).root

    found = checks(root, service)["journal"]

    assert found.startswith("warning" if manifest is ALERT else "ok"), found
    assert LOST_JOURNAL in found
    assert ("1 declared resource with an id" in found) is (manifest is ALERT)


@pytest.mark.promise("S42")
def test_init_without_a_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a remote `init` keeps the journal in a file, and names the command that moves it."""
    monkeypatch.chdir(tmp_path)

    made = typed("init", "shop", "--base-url", "http://127.0.0.1:1")

    text = (tmp_path / "shop" / "reconciler.yaml").read_text(encoding="utf-8")
    assert made.code == 0, made.err
    assert "journal: .reconciler/production.journal.jsonl" in text
    assert "git:refs" not in text
    assert "--to git:refs/reconciler/production" in made.err


@pytest.mark.promise("S42")
def test_init_with_a_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a remote the journal is a ref of it, which people and jobs share."""
    checkout = repository(tmp_path / "git")
    monkeypatch.chdir(checkout)

    made = typed("init", "shop", "--base-url", "http://127.0.0.1:1")

    text = (checkout / "shop" / "reconciler.yaml").read_text(encoding="utf-8")
    assert "journal: git:refs/reconciler/production" in text
    assert "journal move" not in made.err


@pytest.mark.promise("S42")
def test_no_remote(tmp_path: Path, service: Served) -> None:
    """A journal in git without a remote is an error that names both ways out."""
    checkout = repository(tmp_path / "git")
    git(checkout, "remote", "remove", "origin")
    project_at(checkout, IN_GIT, view=VIEW)

    ran = in_this_process(checkout, service.base_url, "plan")

    assert ran.code == 8
    assert "remote add origin" in ran.err
    assert "in a file" in ran.err


SAID_BY = [
    ("plan",),
    ("apply", "--yes"),
    ("doctor",),
    ("journal", "verify"),
    ("journal", "history"),
    ("drift",),
]


def commands_in(text: str) -> list[str]:
    """Return the commands of git that a text names, in their order, each once."""
    return list(dict.fromkeys(re.findall(r"`(git [^`]*)`", re.sub(r"\s+", " ", text))))


def applied(folder: Path, service: Served) -> tuple[Path, str]:
    """Apply an alert, then a view too, from a folder of a checkout; return both commits."""
    checkout = repository(folder)
    root = checkout / "shop"
    consents = ("--new-journal", "--override-guard", "takes-over=ours")
    commits = []
    for manifests in ({"alert": ALERT}, {"alert": ALERT, "view": VIEW}):
        project_at(root, IN_GIT, **manifests)
        ran = in_this_process(root, service.base_url, "apply", "--yes", *consents, more=ISOLATED)
        assert ran.code == 0, ran.err
        commits.append(git(checkout, "ls-remote", "origin", REF).split()[0])
    return root, commits[0]


@pytest.mark.promise("S54")
@pytest.mark.parametrize("is_deleted", [True, False])
def test_the_commands_that_are_named(tmp_path: Path, service: Served, *, is_deleted: bool) -> None:
    """Of a ref that was deleted or moved back, all name the commands that bring it back."""
    root, first = applied(tmp_path / "git", service)
    moved = ("-d", REF) if is_deleted else (REF, first)
    git(tmp_path / "git" / "remote.git", "update-ref", *moved)

    named = {}
    for command in SAID_BY:
        ran = in_this_process(root, service.base_url, *command, more=ISOLATED)
        named[command] = commands_in(ran.out + ran.err)
    fetch, push = named["plan",]
    for line in (fetch, push):
        git(Path(), *shlex.split(line)[1:])

    assert named == {command: [fetch, push] for command in SAID_BY}
    plan = in_this_process(root, service.base_url, "plan", more=ISOLATED)
    assert "Nothing to do" in plan.out


@pytest.mark.promise("S54")
def test_the_remedies_name_the_commands(tmp_path: Path, service: Served) -> None:
    """A plan without its journal names the commands as ways out of both guards that it meets."""
    root, _ = applied(tmp_path / "git", service)
    git(tmp_path / "git" / "remote.git", "update-ref", "-d", REF)

    plan = in_this_process(root, service.base_url, "plan", "--format", "json", more=ISOLATED).json

    ways = {guard["code"]: " ".join(guard["waysOut"]) for guard in plan["guards"]}
    assert ways.keys() == {"new-journal", "takes-over"}
    assert [len(commands_in(way)) for way in ways.values()] == [2, 2]


@pytest.mark.promise("S54")
def test_no_commands_where_both_are_gone(tmp_path: Path, service: Served) -> None:
    """Where the remote has neither ref, no command of git is named, but the page that helps."""
    root, _ = applied(tmp_path / "git", service)
    for ref in (REF, f"{REF}.newest"):
        git(tmp_path / "git" / "remote.git", "update-ref", "-d", ref)

    ran = in_this_process(root, service.base_url, "journal", "verify", more=ISOLATED)

    assert commands_in(ran.err) == []
    assert LOST_JOURNAL in " ".join(ran.err.split())


NEEDS_JOURNAL = [
    ("drift",),
    ("drift", "--remember"),
    ("drift", "--format", "markdown"),
    ("adopt", "--all", "--dry-run"),
    ("rollback", "last", "--yes"),
    ("rollback", "last", "--dry-run"),
    ("rollback", "last", "--write"),
    ("doctor",),
    ("journal", "init"),
    ("journal", "verify"),
    ("journal", "history"),
    ("journal", "show", "-q"),
    ("journal", "stats"),
    ("journal", "compact"),
    ("journal", "write-ids"),
]
"""Commands that have nothing true to say without the journal."""


@pytest.fixture
def gone(tmp_path: Path, service: Served) -> Path:
    """Return a project with an applied SLO and saved view, of which the journal is gone."""
    root = project_at(tmp_path / "p", "environments: {default: {}}", slo=SLO, view=VIEW).root
    ran = in_this_process(root, service.base_url, "apply", "--yes", "--new-journal")
    assert ran.code == 0, ran.err
    [journal] = (root / ".reconciler").glob("*journal.jsonl")
    journal.unlink()
    return root


@pytest.mark.promise("S44")
@pytest.mark.parametrize("command", NEEDS_JOURNAL)
def test_one_code_for_a_journal_that_is_gone(
    gone: Path, service: Served, command: tuple[str, ...]
) -> None:
    """Where the journal is known to be gone, each command that needs it ends with 8 and names it.

    It writes none, and names the page that helps.
    """
    ran = in_this_process(gone, service.base_url, *command)

    text = " ".join((ran.out + ran.err).split())
    assert ran.code == 8, text
    assert text.count(LOST_JOURNAL) == 1
    assert "no drift" not in text.lower()
    assert not [*(gone / ".reconciler").glob("*journal.jsonl")]


@pytest.mark.promise("S44")
def test_an_import_begins_no_journal_after_a_loss(gone: Path, service: Served) -> None:
    """Where the journal is known to be gone, each import ends with 8 and says so once."""
    for words in (("policies",), ("--all",)):
        ran = in_this_process(gone, service.base_url, "import", *words)

        assert (ran.code, ran.err.count(" is gone")) == (8, 1), ran.err
    assert not [*(gone / ".reconciler").glob("*journal.jsonl")]


@pytest.mark.promise("S44")
def test_a_new_journal_after_a_loss(gone: Path, service: Served) -> None:
    """After a loss the plan asks about each create that may be there, until an apply consents."""
    refused = in_this_process(gone, service.base_url, "journal", "init")
    plan = in_this_process(gone, service.base_url, "plan", "--format", "json").json
    kept = in_this_process(gone, service.base_url, "apply", "--yes")
    begun = in_this_process(gone, service.base_url, "apply", "--yes", "--new-journal")

    assert "--new-journal" in refused.err
    [guard] = [guard for guard in plan["guards"] if guard["code"] == "new-journal"]
    assert not any("journal init" in way for way in guard["waysOut"])
    assert (kept.code, begun.code) == (11, 0)
    assert in_this_process(gone, service.base_url, "drift").code == 0


@pytest.fixture
def forgotten(gone: Path) -> Path:
    """Return that project on a machine that does not know that it had a journal."""
    shutil.rmtree(gone / ".reconciler")
    return gone


UNASKED = [("import", "policies"), ("apply", "--yes", "--select", "kind=Dashboard")]
"""Commands that begin a journal, and ask no person whether an earlier one is lost."""
CONFIRMED = [
    ("apply", "--yes", "--new-journal"),
    ("apply", "--yes", "--new-journal", "--select", "kind=SLO"),
]


@pytest.mark.promise("S44")
@pytest.mark.parametrize("command", UNASKED)
@pytest.mark.parametrize("between", [(), ("journal", "compact")])
def test_no_second_create_after_an_unasked_journal(
    forgotten: Path, service: Served, command: tuple[str, ...], between: tuple[str, ...]
) -> None:
    """A journal that a command began without a question does not disarm the guard of creates."""
    Workspace(forgotten).write("board.yaml", DASHBOARD)
    begun = in_this_process(forgotten, service.base_url, *command)
    assert begun.code == 0, begun.err
    if between:
        assert in_this_process(forgotten, service.base_url, *between).code == 0
    before = len(service.writes)

    plan = in_this_process(forgotten, service.base_url, "plan", "--format", "json").json
    ran = in_this_process(forgotten, service.base_url, "apply", "--yes")

    assert [guard["code"] for guard in plan["guards"]] == ["new-journal"]
    assert (ran.code, len(service.writes)) == (11, before), ran.err


@pytest.mark.promise("S44")
@pytest.mark.parametrize("command", CONFIRMED)
def test_a_confirmed_beginning(forgotten: Path, service: Served, command: tuple[str, ...]) -> None:
    """Once a person confirmed an unasked journal, creates need no more consent."""
    assert in_this_process(forgotten, service.base_url, "import", "policies").code == 0

    confirmed = in_this_process(forgotten, service.base_url, *command)
    ran = in_this_process(forgotten, service.base_url, "apply", "--yes")

    assert (confirmed.code, ran.code) == (0, 0), confirmed.err + ran.err


@pytest.mark.promise("S44")
def test_init_confirms_no_unasked_journal(forgotten: Path, service: Served) -> None:
    """`journal init` leaves the guard of a journal that a command began, and ends with 8."""
    assert in_this_process(forgotten, service.base_url, "import", "policies").code == 0

    refused = in_this_process(forgotten, service.base_url, "journal", "init")
    plan = in_this_process(forgotten, service.base_url, "plan", "--format", "json").json

    assert refused.code == 8, refused.err
    assert "--new-journal" in refused.err
    [guard] = [guard for guard in plan["guards"] if guard["code"] == "new-journal"]
    assert not any("journal init" in way for way in guard["waysOut"])
    assert any("ids: {default: ID}" in way for way in guard["waysOut"])


@pytest.mark.promise("S44")
@pytest.mark.parametrize("command", [("drift",), ("journal", "verify"), ("doctor",)])
def test_an_unasked_journal_is_reported(
    forgotten: Path, service: Served, command: tuple[str, ...]
) -> None:
    """Each says that an earlier journal may be lost, until an apply that creates nothing agrees."""
    for file in ("slo.yaml", "view.yaml"):
        (forgotten / file).unlink()
    Workspace(forgotten).write("board.yaml", DASHBOARD)
    begun = in_this_process(forgotten, service.base_url, *UNASKED[1])
    assert begun.code == 0, begun.err

    doubted = in_this_process(forgotten, service.base_url, *command)
    in_this_process(forgotten, service.base_url, "apply", "--yes", "--new-journal")
    sure = in_this_process(forgotten, service.base_url, *command)

    assert (LOST_JOURNAL in doubted.out + doubted.err, doubted.code) == (True, sure.code)
    assert LOST_JOURNAL not in sure.out + sure.err


@pytest.mark.promise("S44")
@pytest.mark.parametrize(
    "command", [command for command in NEEDS_JOURNAL if command[0] in ("journal", "rollback")]
)
def test_one_code_where_there_is_no_journal(
    forgotten: Path, service: Served, command: tuple[str, ...]
) -> None:
    """Without a journal each command that reads it names the page; only `init` is no failure."""
    ran = in_this_process(forgotten, service.base_url, *command)

    text = " ".join((ran.out + ran.err).split())
    assert ran.code == (0 if "init" in command else 8), text
    assert text.count(LOST_JOURNAL) == 1


@pytest.mark.promise("S44")
@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
@pytest.mark.parametrize(("manifest", "code"), [(ALERT, 8), (SLO, 0)])
def test_drift_without_any_journal(
    tmp_path: Path, service: Served, manifest: str, code: int, form: str
) -> None:
    """Without a journal no format says that nothing drifted; a declared id makes it a failure."""
    root = project_at(tmp_path / "p", "environments: {default: {}}", one=manifest).root

    ran = in_this_process(root, service.base_url, "drift", "--format", form)

    assert ran.code == code, ran.err
    assert "no drift" not in ran.out.lower()


@pytest.mark.promise("S44")
def test_ids_that_only_the_journal_has(tmp_path: Path, service: Served) -> None:
    """An apply that created something names the command that keeps the ids, until they are kept."""
    root = project_at(tmp_path / "p", "environments: {default: {}}", slo=SLO).root

    made = in_this_process(root, service.base_url, "apply", "--yes", "--new-journal")
    again = in_this_process(root, service.base_url, "apply", "--yes")
    [way] = re.findall(r"`reconciler (journal write-ids[^`]*)`", " ".join(made.err.split()))
    written = in_this_process(root, service.base_url, *shlex.split(way))

    assert "journal write-ids" not in again.err
    assert written.out.startswith("1 id ")
