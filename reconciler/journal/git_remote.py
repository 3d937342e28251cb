"""One ref of a repository's remote: fetched, looked up, and moved by compare-and-swap."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from reconciler.runtime.advice import from_newest
from reconciler.runtime.git import Git, GitFailed

_LOCAL = "refs/fetched"
_NEWEST = ".newest"
_LOCAL_NEWEST = "refs/newest"
_PUSHES = 3
_PAUSE = 1.0
# Settings for the server and its credentials. A person's other settings are left out: hooks,
# signing, refs to push along.
_PASSED = ("http.", "credential.", "ssh.", "protocol.")
_PASSED_WHOLE = ("core.sshcommand", "core.askpass", "core.gitproxy")


class RefMoved(Exception):
    """The ref was moved by another run, so nothing was pushed."""


class GitRemote:
    """One ref of the remote of the repository around a folder, and a mark next to it.

    The mark, `REF.newest`, is the commit of the ref at the last release of its lock. Every later
    commit descends from it. If the ref does not descend from the mark, it was moved back, and the
    mark has the lost commits.
    """

    def __init__(
        self,
        folder: Path,
        ref: str,
        remote: str,
        environ: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._there = Git(folder, environ)
        self._ref = ref
        self._remote = remote
        self._sleep = sleep
        self._url = self._name = ""
        self._own: Git | None = None

    @property
    def git(self) -> Git:
        """Git in the repository of our own. Raises GitFailed where there is no remote."""
        if self._own is None:
            self._own = self._opened()
        return self._own

    def _opened(self) -> Git:
        top = self._there.text("rev-parse", "--absolute-git-dir")
        bare = self._there.text("rev-parse", "--is-bare-repository") == "true"
        # An address of a remote may be relative to the folder of its repository.
        top_folder = Path(top if bare else self._there.text("rev-parse", "--show-toplevel"))
        self._name = self._chosen()
        self._url = self._there.text("remote", "get-url", "--push", "--", self._name)
        settings = self._settings()
        own = Path(tempfile.mkdtemp(prefix="reconciler-git-"))
        weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        environ = {
            name: value
            for name, value in self._there.environ.items()
            if not name.startswith("GIT_CONFIG")
        }
        environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", **settings}
        form = self._there.text("rev-parse", "--show-object-format")
        Git(top_folder, environ).run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={form}", "--", str(own)
        )
        return Git(top_folder, environ, (f"--git-dir={own}", "-c", "gc.auto=0"))

    def _chosen(self) -> str:
        names = self._there.text("remote").split()
        if self._remote in names:
            return self._remote
        if self._remote:
            listed = ", ".join(names) or "none"
            raise GitFailed(f"there is no remote `{self._remote}` (there are: {listed})")
        if "origin" in names or len(names) == 1:
            return "origin" if "origin" in names else names[0]
        if not names:
            raise GitFailed(
                "the repository has no remote: add one (`git remote add origin URL`), or keep the "
                "journal in a file (`journal: .reconciler/NAME.journal.jsonl` of the environment)"
            )
        raise GitFailed(f"name the remote, as in `{self._ref}@{names[0]}`: {', '.join(names)}")

    def _settings(self) -> dict[str, str]:
        """Return the repository's settings for reaching its server, as variables.

        As arguments of git, any user of the machine could read the token of a job.
        """
        listed = self._there.run("config", "--list", "--null", "--includes").decode(
            errors="surrogateescape"
        )
        pairs = [pair.split("\n", 1) for pair in listed.split("\0") if "\n" in pair]
        passed = [
            (name, value)
            for name, value in pairs
            if name.startswith(_PASSED) or name in _PASSED_WHOLE
        ]
        settings = {"GIT_CONFIG_COUNT": str(len(passed))}
        for number, (name, value) in enumerate(passed):
            settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return settings

    @property
    def memory(self) -> Path:
        """The file that keeps the last known end of the ref, below the repository's git folder."""
        _ = self.git  # finds the remote
        there = self._there.folder / self._there.text("rev-parse", "--git-common-dir")
        named = sha256(f"{self._ref}\0{self._name}".encode()).hexdigest()[:32]
        return there.resolve() / "reconciler" / f"{named}.json"

    @property
    def from_mark(self) -> str:
        """The commands that move the ref to where the mark is."""
        _ = self.git  # finds the remote
        return from_newest(self._name, f"{self._ref}{_NEWEST}", self._ref)

    def fetch(self) -> tuple[str, str]:
        """Fetch the last commits of ref and mark, and return their ids; "" for none."""
        try:
            return self._fetched(f"+{self._ref}:{_LOCAL}")
        except GitFailed:
            listed = self._listed()
            if not listed:
                return "", ""
        if self._ref not in listed:
            # The ref is gone, whatever was fetched of it before.
            return "", self._fetched()[1]
        # Another run may have made the ref between fetching and listing.
        return self._fetched(f"+{self._ref}:{_LOCAL}")

    def _fetched(self, *refs: str) -> tuple[str, str]:
        # A pattern may match nothing, so a missing mark is no error, and needs no second request.
        mark = f"+{self._ref}{_NEWEST[:-1]}*:{_LOCAL_NEWEST[:-1]}*"
        self.git.run(
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"),
            *("--no-recurse-submodules", "--", self._url, *refs, mark),
        )
        listed = self.git.text("for-each-ref", "--format=%(refname) %(objectname)")
        found = dict(line.split() for line in listed.splitlines())
        return found.get(_LOCAL, ""), found.get(_LOCAL_NEWEST, "")

    def tip(self) -> str:
        """Return the commit of the ref on the remote; "" where there is none."""
        return self._listed().get(self._ref, "")

    def _listed(self) -> dict[str, str]:
        """Return the commits of ref and mark on the remote, as far as they are there."""
        names = (self._ref, f"{self._ref}{_NEWEST}")
        listed = self.git.text("ls-remote", "--quiet", "--", self._url, *names)
        # Git lists every ref with a name that ends in one of these.
        found = (line.partition("\t") for line in listed.splitlines())
        return {name: tip for tip, _, name in found if name in names}

    def push(self, commit: str, before: str, *, marked: bool = False) -> None:
        """Move the ref from `before` ("" for a new ref) to `commit`, or remove it for "".

        With `marked` the mark is moved too. After a failed push the ref is read: an answer may have
        been lost. Raises RefMoved where another run moved the ref, and GitFailed.
        """
        mark = [f"+{commit}:{self._ref}{_NEWEST}"] if marked else []
        for left in reversed(range(_PUSHES)):
            try:
                self.git.run(
                    *("push", "--quiet", "--no-verify", f"--force-with-lease={self._ref}:{before}"),
                    *("--", self._url, f"{commit}:{self._ref}", *mark),
                )
            except GitFailed:
                there = self.tip()
                if there == commit:
                    return
                if there != before:
                    raise RefMoved from None
                if not left:
                    raise
                self._sleep(_PAUSE)
            else:
                return
