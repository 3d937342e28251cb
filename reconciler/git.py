"""The one way git is run: it never asks, never hangs, and shows no credential.

What a repository says of itself may be a stranger's; `reading` looks at objects
alone, so that no hook, filter, monitor of files or server of its own is run.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.addresses import proxies_beyond
from reconciler.keys import is_key

LIMIT = 60.0
"""Seconds that one call of git may take."""

_LONGEST_WORDS = 600
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
# What says how to reach a server. The rest of the environment's own (GIT_DIR, GIT_TRACE and
# such) would lead a call elsewhere, or print what it sends.
_KEPT = re.compile(r"GIT_(SSH|ASKPASS|SSL|HTTP|PROXY|CONFIG|ALLOW_PROTOCOL|EXEC_PATH|CEILING)")
# Our own key and inputs, and what a runner keeps for its own steps: no business of git's.
_SECRET = ("RECONCILER_", "INPUT_", "ACTIONS_")
NOTHING_OF_ITS_OWN = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""Options with which git runs nothing that a repository names, filters of files aside."""

_ONLY_READING = {
    # A repository may ask a server for what it lacks, by a command of its own settings.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


class GitFailed(Exception):
    """Git said no, or did not answer; the text is its own words, credentials left out."""


class GitStuck(GitFailed):
    """Git is not there, or took too long: it said nothing at all."""


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one folder, with an environment of its own. `fixed` are variables of every call."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    options: tuple[str, ...] = ()
    limit: float = LIMIT
    fixed: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None
    ) -> bytes:
        """Run one command and give its output. Raises GitFailed, or GitStuck.

        It runs in a session of its own: a signal to the run does not reach it in
        the middle of a push, and nothing it starts finds a terminal to ask at.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 - git, by arguments that are checked
                ["git", *self.options, *arguments],  # noqa: S607 - git of the PATH
                cwd=self.folder,
                env={**_quiet(self.environ), **self.fixed, **(more or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise GitStuck(f"git cannot be run: {error.strerror}") from error
        with process:
            try:
                out, err = process.communicate(given, self.limit)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    said = f"git {arguments[0]} gave no answer within {self.limit:.0f} s"
                    raise GitStuck(said) from None
                raise
        if process.returncode != 0:
            raise GitFailed(shown(err) or f"git {arguments[0]} failed ({process.returncode})")
        return out

    def text(self, *arguments: str) -> str:
        """Run one command and give the text it prints."""
        return self.run(*arguments).decode(errors="replace").strip()


def ask(
    folder: Path, environ: Mapping[str, str], *arguments: str, given: bytes = b""
) -> bytes | None:
    """Ask git about a folder, and give what it prints; None where it says no.

    Raises GitStuck where it cannot be run, or takes too long.
    """
    git = Git(folder, environ, NOTHING_OF_ITS_OWN, fixed={"GIT_OPTIONAL_LOCKS": "0"})
    try:
        return git.run(*arguments, given=given)
    except GitStuck:
        raise
    except GitFailed:
        return None


def reading(repository: Path, environ: Mapping[str, str], limit: float = LIMIT) -> Git:
    """Give git for looking at the objects of the repository that stands at a folder.

    It takes no other repository for it, asks no server, and knows objects as
    they are stored; no settings count but the repository's own.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_CONFIG")}
    place = f"--git-dir={repository / '.git'}"
    options = (place, *NOTHING_OF_ITS_OWN, "-c", "core.commitGraph=false")
    return Git(repository, kept, options, limit=limit, fixed=_ONLY_READING)


def shown(words: bytes) -> str:
    """Give what git said, on one line and without the user information of addresses."""
    lines = words.decode(errors="replace").split("\n")
    told = "; ".join(line.strip() for line in lines if line.strip())
    return _USER_INFO.sub("", told)[:_LONGEST_WORDS]


def _quiet(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if not (name.startswith(_SECRET) or is_key(name))
        and (not name.startswith("GIT_") or _KEPT.match(name))
    }
    # In a session of its own ssh finds no terminal; how it is run is left to the settings.
    quiet = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}
    return {**kept, **proxies_beyond(environ), **quiet}
