"""The one door to git: it never asks, never hangs, and shows no credential."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = 60.0
"""Seconds that one call of git may take."""

_LONGEST_WORDS = 600
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
# What says how to reach a server. The rest of the environment's own (GIT_DIR, GIT_TRACE and
# such) would lead a call elsewhere, or print what it sends.
_KEPT = re.compile(r"GIT_(SSH|ASKPASS|SSL|HTTP|PROXY|CONFIG|ALLOW_PROTOCOL|EXEC_PATH|CEILING)")
_OURS = "RECONCILER_"


class GitFailed(Exception):
    """Git said no, or did not answer; the text is its own words, credentials left out."""


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one folder, with an environment of its own."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    options: tuple[str, ...] = ()
    limit: float = LIMIT

    def run(
        self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None
    ) -> bytes:
        """Run one command and give its output. Raises GitFailed.

        It runs in a session of its own: a signal to the run does not reach it in
        the middle of a push, and nothing it starts finds a terminal to ask at.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 - git, by arguments that are checked
                ["git", *self.options, *arguments],  # noqa: S607 - git of the PATH
                cwd=self.folder,
                env={**_quiet(self.environ), **(more or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailed(f"git cannot be run: {error.strerror}") from error
        with process:
            try:
                out, err = process.communicate(given, self.limit)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    said = f"git {arguments[0]} gave no answer within {self.limit:.0f} s"
                    raise GitFailed(said) from None
                raise
        if process.returncode != 0:
            raise GitFailed(shown(err) or f"git {arguments[0]} failed ({process.returncode})")
        return out

    def text(self, *arguments: str) -> str:
        """Run one command and give the text it prints."""
        return self.run(*arguments).decode(errors="replace").strip()


def shown(words: bytes) -> str:
    """Give what git said, on one line and without the user information of addresses."""
    lines = words.decode(errors="replace").split("\n")
    told = "; ".join(line.strip() for line in lines if line.strip())
    return _USER_INFO.sub("", told)[:_LONGEST_WORDS]


def _quiet(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(_OURS) and (not name.startswith("GIT_") or _KEPT.match(name))
    }
    kept.setdefault("GIT_SSH_COMMAND", kept.get("GIT_SSH", "ssh -oBatchMode=yes"))
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
