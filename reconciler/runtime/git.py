"""The only calls of git: they never prompt, never hang, and show no credentials.

A repository may come from a stranger. `reading` only looks at objects, so that no hook, filter,
file monitor or server of the repository is run.
"""

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.runtime.connection import is_key, proxies_beyond

LIMIT = 60.0
"""Seconds that one call of git may take."""

_LONGEST_WORDS = 600
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
# Variables for reaching a server. Other variables (GIT_DIR, GIT_TRACE and such) would lead a call
# elsewhere, or print what it sends.
_KEPT = re.compile(r"GIT_(SSH|ASKPASS|SSL|HTTP|PROXY|CONFIG|ALLOW_PROTOCOL|EXEC_PATH|CEILING)")
# Our own key and inputs, and variables for the steps of a CI runner, are not for git.
_SECRET = ("RECONCILER_", "INPUT_", "ACTIONS_")
NOTHING_OF_ITS_OWN = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""Options that keep git from running programs of a repository, except filters of files."""

_ONLY_READING = {
    # A repository may set a command that asks a server for missing objects.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def _no_bare(folder: Path) -> tuple[str, ...]:
    """Return the options for a folder of a checkout, which is no repository by itself.

    A branch can add the files of a repository there, and its settings would run programs.
    """
    is_checkout = any((above / ".git").exists() for above in (folder, *folder.parents))
    return ("-c", "safe.bareRepository=explicit") if is_checkout else ()


class GitFailed(Exception):
    """Git failed or did not answer; the text is the message of git without credentials."""


class GitStuck(GitFailed):
    """Git is missing or took too long: there is no message of git."""


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
        """Run one command and return its output. Raises GitFailed or GitStuck.

        It runs in a session of its own: a signal to the run does not reach it in the middle of a
        push, and the programs that it starts find no terminal to prompt at.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 - git, by arguments that are checked
                ["git", *_no_bare(self.folder), *self.options, *arguments],  # noqa: S607 - of the PATH
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
                    message = f"git {arguments[0]} gave no answer within {self.limit:.0f} s"
                    raise GitStuck(message) from None
                raise
        if process.returncode != 0:
            raise GitFailed(shown(err) or f"git {arguments[0]} failed ({process.returncode})")
        return out

    def text(self, *arguments: str) -> str:
        """Run one command and return its output as text."""
        return self.run(*arguments).decode(errors="replace").strip()


def ask(
    folder: Path, environ: Mapping[str, str], *arguments: str, given: bytes = b""
) -> bytes | None:
    """Ask git about a folder; return its output, or None if it fails.

    Raises GitStuck if git cannot be run, or takes too long.
    """
    git = Git(folder, environ, NOTHING_OF_ITS_OWN, fixed={"GIT_OPTIONAL_LOCKS": "0"})
    try:
        return git.run(*arguments, given=given)
    except GitStuck:
        raise
    except GitFailed:
        return None


def reading(repository: Path, environ: Mapping[str, str]) -> Git:
    """Return git for reading the objects of the repository at a folder.

    It uses no other repository, contacts no server, and reads objects as they are stored. Only the
    settings of the repository apply.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_CONFIG")}
    place = f"--git-dir={repository / '.git'}"
    options = (place, *NOTHING_OF_ITS_OWN, "-c", "core.commitGraph=false")
    return Git(repository, kept, options, fixed=_ONLY_READING)


def shown(words: bytes) -> str:
    """Return the message of git on one line, without the user information of addresses."""
    lines = words.decode(errors="replace").split("\n")
    message = "; ".join(line.strip() for line in lines if line.strip())
    return _USER_INFO.sub("", message)[:_LONGEST_WORDS]


def _quiet(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if not (name.startswith(_SECRET) or is_key(name))
        and (not name.startswith("GIT_") or _KEPT.match(name))
    }
    # In its own session ssh finds no terminal. The user's settings decide how ssh is run.
    quiet = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}
    return {**kept, **proxies_beyond(environ), **quiet}
