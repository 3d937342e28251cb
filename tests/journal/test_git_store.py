"""A journal in a ref of the repository's remote."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from unittest.mock import patch

import pytest
from harness.repositories import git, git_environ, repository
from harness.stores import REF, git_store, journal_on
from journals import WRITE, refused

from reconciler.errors import JournalError
from reconciler.journal.entries import RefusedEntry, RunEntry
from reconciler.journal.git_store import GitRemote, GitStore
from reconciler.journal.journal import Journal
from reconciler.model import Ref
from reconciler.runtime.git import Git, GitFailed


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return repository(tmp_path / "git")


def filled(checkout: Path, actor: str = "someone") -> Journal:
    """Write a journal into the ref, in two appends."""
    journal = journal_on(git_store(checkout), actor)
    with journal.locked():
        journal.begin(
            RunEntry(
                run="run-1",
                at=journal.now(),
                actor=actor,
                commit="abc",
                digest="sha256:0",
                command="apply",
            )
        )
        journal.append(WRITE)
        journal.append([refused()])
    return journal


def remote_of(checkout: Path) -> Path:
    return checkout.parent / "remote.git"


def seen(checkout: Path) -> dict[str, bytes]:
    """Give every file of the checkout, those of git too, but for what we remember."""
    return {
        str(file.relative_to(checkout)): file.read_bytes()
        for file in checkout.rglob("*")
        if file.is_file() and not file.is_relative_to(checkout / ".git" / "reconciler")
    }


def test_checkout_is_untouched(checkout: Path) -> None:
    """No file, index, branch, object or shallow mark of the checkout changes, but our own."""
    before = seen(checkout)

    filled(checkout)

    assert seen(checkout) == before


def test_readable_history(checkout: Path) -> None:
    """`git log` of the ref tells what happened, in order, and who did it."""
    filled(checkout, "Alice <alice@example.com>\n")

    told = git(remote_of(checkout), "log", "--reverse", "--format=%an|%s", REF).splitlines()
    assert [line.split("|")[0] for line in told] == ["Alice (alice@example.com)?"] * 4
    assert [line.split("|")[1].split(",")[0] for line in told] == [
        "locked by Alice <alice@example.com>?",
        "apply by Alice <alice@example.com>; started SavedView/errors; written SavedView/errors",
        "refused SavedView/errors",
        "unlocked",
    ]


@pytest.mark.parametrize("actor", ["", " <>,.", "\n", "a\x00b", "--author=x", "ü\u202e", "a" * 200])
def test_any_actor(checkout: Path, actor: str) -> None:
    """Whoever applies, the commit has an author, and no name becomes an option."""
    filled(checkout, actor)

    authors = git(remote_of(checkout), "log", "--format=%an", REF).splitlines()
    assert len(authors) == 4
    assert all(author and author.isprintable() for author in authors)


def test_foreign_words_stay_out(checkout: Path) -> None:
    """Neither what the service said nor a control character gets into a commit's words."""
    journal = journal_on(git_store(checkout))
    odd = Ref("SLO", "a\x1b[31m\u202e\nfake: line")
    with journal.locked():
        journal.append([RefusedEntry(run="r", at=journal.now(), ref=odd, message="canary")])

    message = git(remote_of(checkout), "log", "--format=%B", REF)
    assert "canary" not in message
    assert all(line.isprintable() for line in message.splitlines())
    assert "fake: line" not in message.splitlines()


def test_shallow_checkout(checkout: Path, tmp_path: Path) -> None:
    """A shallow checkout of one branch, as CI makes it, reads and writes the journal."""
    filled(checkout)
    job = tmp_path / "job"
    address = f"file://{remote_of(checkout)}"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=main", address, str(job))

    again = filled(job)

    assert again.entries[-1] == refused()
    assert len([entry for entry in again.entries if isinstance(entry, RunEntry)]) == 2
    assert git(job, "for-each-ref", "--format=%(refname)", "refs/reconciler") == ""


def test_bare_repository(checkout: Path, tmp_path: Path) -> None:
    """A bare repository with a remote will do as well."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(remote_of(checkout)), str(bare))

    assert filled(bare).entries[-1] == refused()


def test_one_small_fetch(checkout: Path) -> None:
    """A load fetches the last commit alone, however long the history is."""
    for _ in range(3):
        filled(checkout)
    store = git_store(checkout)
    store.read()

    own = store._remote.git
    assert own.text("rev-list", "--count", "--all") == "1"


def test_compacted_lines_stay_in_the_history(checkout: Path) -> None:
    """What compacting drops can still be read in the ref's earlier commits."""
    journal = filled(checkout)
    before = git_store(checkout).read()
    with journal.locked():
        journal.compact(
            RunEntry(
                run="run-2",
                at=journal.now(),
                actor="someone",
                commit="",
                digest="",
                command="compact",
            )
        )

    commits = git(remote_of(checkout), "rev-list", REF).split()
    kept = [
        git(remote_of(checkout), "show", f"{commit}:journal.jsonl").encode() + b"\n"
        for commit in commits
        if "journal.jsonl" in git(remote_of(checkout), "ls-tree", "--name-only", commit)
    ]
    assert before in kept


def test_temporary_repository_is_removed(checkout: Path, tmp_path: Path) -> None:
    """The repository that objects are made in goes with the store."""
    with patch("tempfile.tempdir", str(tmp_path)):
        store = git_store(checkout)
        store.read()
        (own,) = tmp_path.glob("reconciler-git-*")
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        del store

    assert not own.exists()


def fake_git(folder: Path, script: str) -> dict[str, str]:
    """Put a git before the real one that runs a script at each push, which may go on to it."""
    real = os.path.realpath(git_path())
    folder.mkdir()
    (folder / "git").write_text(
        f'#!/bin/sh\nreal={shlex.quote(real)}\ncase " $* " in *" push "*) {script};; esac\n'
        'exec "$real" "$@"\n'
    )
    (folder / "git").chmod(0o755)
    environ = git_environ()
    return {**environ, "PATH": f"{folder}:{environ['PATH']}"}


def git_path() -> str:
    """Find the real git."""
    found = [Path(place) / "git" for place in os.environ["PATH"].split(":")]
    return str(next(file for file in found if file.is_file()))


def store_with(checkout: Path, environ: dict[str, str]) -> GitStore:
    return GitStore(GitRemote(checkout, REF, "", environ, lambda _: None), f"git:{REF}")


def test_lost_answer_of_a_push(checkout: Path, tmp_path: Path) -> None:
    """A push that came through, and whose answer was lost, counts once and as done."""
    environ = fake_git(tmp_path / "bin", '"$real" "$@"; exit 128')
    journal = journal_on(store_with(checkout, environ))
    with journal.locked():
        journal.append(WRITE)

    again = journal_on(git_store(checkout))
    again.load()
    assert again.entries == WRITE
    assert len(git(remote_of(checkout), "rev-list", REF).split()) == 3


def test_refused_push(checkout: Path) -> None:
    """A push that the server refuses is error 8 with git's own words, and writes nothing."""
    hook = remote_of(checkout) / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not allowed here' >&2\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(JournalError, match="not allowed here") as raised:
        filled(checkout)
    assert raised.value.exit_code == 8
    assert git(remote_of(checkout), "for-each-ref", REF) == ""


def test_credentials_stay_with_git(checkout: Path) -> None:
    """What git says is told without the user information of an address."""
    git(checkout, "remote", "set-url", "origin", "http://user:canary@127.0.0.1:1/x.git")

    with pytest.raises(JournalError) as raised:
        git_store(checkout).read()
    assert "canary" not in str(raised.value)
    assert "127.0.0.1:1" in str(raised.value)


def test_environment_of_git(tmp_path: Path) -> None:
    """Git gets no secret of ours, nothing that leads it elsewhere, and never a prompt."""
    given = {
        "PATH": os.environ["PATH"],
        "RECONCILER_API_KEY": "canary",
        "GIT_DIR": "/nowhere",
        "GIT_TRACE_CURL": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_TERMINAL_PROMPT": "1",
    }
    show = Git(tmp_path, given, ("-c", "alias.env=!env"))

    names = dict(line.split("=", 1) for line in show.text("env").splitlines())
    assert names["GIT_TERMINAL_PROMPT"] == "0"
    assert names["SSH_ASKPASS_REQUIRE"] == "never"
    assert "GIT_SSH_COMMAND" not in names
    assert not {"RECONCILER_API_KEY", "GIT_TRACE_CURL"} & set(names)
    assert names.get("GIT_DIR") != "/nowhere"


def test_the_way_to_the_server_is_that_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    """A deploy key that a CI job put into its checkout's settings is what leads to the server."""
    way, mark = tmp_path / "a way", tmp_path / "asked"
    way.write_text(f'#!/bin/sh\necho "$@" > "{mark}"\nexit 1\n', encoding="utf-8")
    way.chmod(0o755)
    git(checkout, "remote", "set-url", "origin", "ssh://git.example.com/x.git")
    git(checkout, "config", "core.sshCommand", f'"{way}" -i key')

    with pytest.raises(JournalError):
        git_store(checkout).read()
    assert "-i key" in mark.read_text(encoding="utf-8")


def test_settings_of_the_checkout_reach_the_server(checkout: Path) -> None:
    """The token that a CI job put into its checkout's settings is used, and is no argument."""
    git(checkout, "config", "http.extraheader", "Authorization: basic canary")
    git(checkout, "config", "core.hooksPath", "/nowhere")
    store = git_store(checkout)
    own = store._remote.git

    assert own.text("config", "--get-all", "http.extraheader") == "Authorization: basic canary"
    assert "canary" not in " ".join(own.options)
    with pytest.raises(GitFailed):
        own.text("config", "core.hooksPath")


def test_no_answer(tmp_path: Path) -> None:
    """A git that does not answer is ended, with all that it started."""
    slow = Git(tmp_path, git_environ(), ("-c", "alias.wait=!sleep 600"), limit=0.2)

    with pytest.raises(GitFailed, match=r"no answer within"):
        slow.text("wait")


@pytest.mark.parametrize(
    ("remotes", "wanted", "said"),
    [
        ([], "", "no remote"),
        (["a", "b"], "", "name the remote"),
        (["a", "b"], "c", "no remote `c`"),
    ],
)
def test_which_remote(tmp_path: Path, remotes: list[str], wanted: str, said: str) -> None:
    """Without an obvious remote, the error names those that there are."""
    git(tmp_path, "init", "--quiet")
    for name in remotes:
        git(tmp_path, "remote", "add", name, "../x")

    remote = GitRemote(tmp_path, REF, wanted, git_environ())
    with pytest.raises(JournalError, match=said) as raised:
        GitStore(remote, f"git:{REF}").read()
    assert all(name in str(raised.value) for name in remotes)


def test_the_only_remote(checkout: Path) -> None:
    """The only remote is taken whatever its name, and a named one is taken too."""
    git(checkout, "remote", "rename", "origin", "upstream")
    filled(checkout)

    named = GitStore(GitRemote(checkout, REF, "upstream", git_environ()), "x")
    assert named.read() == git_store(checkout).read() != b""


def test_no_repository(tmp_path: Path) -> None:
    """Outside a repository the error says so, in git's words."""
    environ = {**git_environ(), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    with pytest.raises(JournalError, match="not a git repository"):
        store_with(tmp_path, environ).read()
