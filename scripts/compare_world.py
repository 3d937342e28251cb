"""A folder in which a tree plays a scenario for compare_commits.py, and what each run did."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUNNER = Path(__file__).with_name("compare_runner.py")
MONDAY = 1_772_442_000
"""2026-03-02T09:00:00Z, when every scenario begins."""
MINUTE = 61
KEY = "canary-key-8d1f77"
API = "/mgmt/openapi/latest"
READY = "emulator ready"
LONGEST_WAIT = 30

Parts = dict[str, str]
"""What a run did: stdout, stderr, exit code, requests, and each file that it changed."""

Run = tuple[str, Parts]
"""The command line of a run, and what it did."""


@dataclass
class Tree:
    """A tree of the project, and a process that runs its command lines."""

    name: str
    root: Path
    _process: subprocess.Popen[str] | None = None

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the runner; a task has its own."""
        path = os.environ["PATH"]
        return {"PATH": path, "PYTHONPATH": str(self.root), "PYTHONHASHSEED": "0"}

    def ask(self, task: Mapping[str, object]) -> int:
        """Run a task; return its exit code, or the process id where it goes on."""
        command = [sys.executable, "-P", str(RUNNER)]
        if task.get("cold"):
            command.append(json.dumps(task))
            return subprocess.run(command, env=self.environ, check=False).returncode
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, env=self.environ, stdin=pipe, stdout=pipe, text=True
            )
        process = self._process
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


@dataclass
class World:
    """One scenario on one tree. Both trees play it in the same folder, one after the other."""

    tree: Tree
    place: Path
    port: int
    now: int = MONDAY
    runs: list[Run] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)
    look: Callable[[], Parts] = dict
    """What else is compared after each run."""

    names: dict[str, str] = field(default_factory=dict)
    """What is compared in the place of what cannot be chosen."""

    _dumps: dict[Path, tuple[object, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with empty folders."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.folder = self.place / "shop"
        for folder in (self.folder, self.place / "home", self.kept):
            folder.mkdir(parents=True)

    @property
    def kept(self) -> Path:
        """Where the streams of a run are."""
        return self.place / "kept"

    @property
    def url(self) -> str:
        """The address of the emulator of `served`."""
        return f"http://127.0.0.1:{self.port}"

    def write(self, name: str, text: str) -> None:
        """Write a file of the workspace."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that has to be there."""
        text = (self.folder / name).read_text(encoding="utf-8")
        if old not in text:
            raise ValueError(f"{name} does not hold {old!r}")
        self.write(name, text.replace(old, new))

    def copy_examples(self) -> None:
        """Copy the examples of the work tree."""
        ignored = shutil.ignore_patterns(".reconciler")
        shutil.copytree(ROOT / "examples", self.folder, ignore=ignored, dirs_exist_ok=True)

    def git(self, *arguments: str) -> str:
        """Run git in the workspace; return what it printed."""
        ran = subprocess.run(
            ["git", *arguments],  # noqa: S607 - git of the PATH
            cwd=self.folder,
            env=self._environ(),
            check=True,
            capture_output=True,
            text=True,
        )
        return ran.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit all; return the commit."""
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def run(self, line: str, *, deadly: int = 0, cold: bool = False, text: str = "") -> Parts:
        """Run a command line a minute after the last, and keep what it did.

        It dies when request number `deadly` was answered.
        """
        self.now += MINUTE
        name = line + (f" (killed after {deadly} requests)" if deadly else "")
        for file in self.kept.iterdir():
            file.unlink()
        before = self._files()
        task = self._task(line, self.kept, deadly=deadly, cold=cold, input=text)
        parts = {"exit code": str(self.tree.ask(task))}
        for file in sorted(self.kept.iterdir()):
            parts[file.name] = file.read_text(encoding="utf-8", errors="backslashreplace")
        del parts["stdin"]
        after = self._files()
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                parts[f"file {path}"] = after.get(path, "(removed)")
        self.runs.append((name, self._named({**parts, **self.look()})))
        return parts

    @contextmanager
    def served(self, options: str = "") -> Iterator[None]:
        """Serve an emulator to the end of the block; its log of requests is compared too."""
        kept = self.place / "kept-by-emulator"
        # An earlier emulator's "ready" is not this one's.
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        log = self.place / "requests.jsonl"
        line = f"emulator serve --port {self.port} --log {log} {options}"
        process = self.tree.ask(self._task(line, kept, goes_on=True, cold=False, deadly=0))
        try:
            for _ in range(LONGEST_WAIT * 100):
                if (kept / "stderr").exists() and READY in (kept / "stderr").read_text("utf-8"):
                    break
                time.sleep(0.01)
            else:
                raise TimeoutError((kept / "stderr").read_text("utf-8"))
            yield
        finally:
            code = self.tree.ask({"stop": process, "now": self.now})
            told = {name: (kept / name).read_text("utf-8") for name in ("stdout", "stderr")}
            sent = log.read_text("utf-8") if log.exists() else ""
            parts = {"exit code": str(code), **told, "log": sent}
            self.runs.append((f"emulator serve {options}", parts))
            log.unlink(missing_ok=True)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask the served emulator, as alice does through the web interface."""
        request = urllib.request.Request(  # noqa: S310 - an http URL of our own
            f"{self.url}{API}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={
                "Authorization": KEY,
                "Content-Type": "application/json",
                "X-Emulator-User": "alice@example.com",
            },
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=LONGEST_WAIT) as reply:
            return json.load(reply)

    def _named(self, parts: Parts) -> Parts:
        for old, new in self.names.items():
            parts = {part: text.replace(old, new) for part, text in parts.items()}
        return parts

    def _task(self, line: str, kept: Path, **more: object) -> dict[str, object]:
        return {
            "arguments": shlex.split(line),
            "folder": str(self.folder),
            "kept": str(kept),
            "environ": self._environ(),
            "now": self.now,
            "seed": f"{self.now} {line}",
            "input": "",
            **more,
        }

    def _environ(self) -> dict[str, str]:
        date = f"@{self.now} +0000"
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.place / "home"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "RECONCILER_CACHE": str(self.place / "cache"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_NAME": "someone" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "someone@example.com" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": date for who in ("AUTHOR", "COMMITTER")},
            **self.environ,
        }

    def _files(self) -> dict[str, str]:
        """Return the content of each file but streams, the cache and git's own."""
        left_out = {"kept", "kept-by-emulator", "cache", ".git", "remote.git", "requests.jsonl"}
        found = {}
        for path in self.place.rglob("*"):
            name = path.relative_to(self.place)
            if left_out.isdisjoint(name.parts) and path.is_file():
                if path.suffix == ".db":
                    found[str(name)] = self._rows(path)
                elif not path.name.endswith((".db-wal", ".db-shm")):
                    found[str(name)] = path.read_bytes().decode("utf-8", "backslashreplace")
        return found

    def _rows(self, file: Path) -> str:
        """Return the rows of a database, whose bytes hold salts; they are read where it changed."""
        both = [file, file.with_name(f"{file.name}-wal")]
        state = tuple((one.stat().st_mtime_ns, one.stat().st_size) for one in both if one.exists())
        if self._dumps.get(file, ((), ""))[0] != state:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                self._dumps[file] = state, "\n".join(database.iterdump())
        return self._dumps[file][1]
