"""`make demo`: a first run of the whole round, on a copy of examples/, read in two minutes.

It needs no server and no key, and writes only in a temporary folder. Every step
is checked; the exit code is 1 when one of them does not go as it should.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).with_name("reconciler")
MANIFESTS = "checkout"
DATA = ".reconciler/local.db"
READY = "emulator ready: "
API = "/mgmt/openapi/latest"
EDITED = ("Dashboard/checkout", [["dashboard", "relativeTimeFrame"]])
STOP_SECONDS = 10


class UnexpectedError(Exception):
    """A step did not go as it should."""


class Demo:
    """One round in one folder, whose steps are numbered as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps = 0
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RECONCILER_", "INPUT_"))
        }

    def headline(self, said: str) -> None:
        """Print what the next step is about."""
        self.steps += 1
        bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
        print(f"\n{bold}{self.steps}. {said}{plain}")

    def run(self, *arguments: str, code: int = 0) -> None:
        """Type one command; its output is printed as it comes."""
        print(f"$ reconciler {' '.join(arguments)}", flush=True)
        ran = subprocess.run([COMMAND, *arguments], cwd=self.folder, env=self.environ, check=False)
        if ran.returncode != code:
            raise UnexpectedError(f"the exit code is {ran.returncode}, and should be {code}")

    def asked(self, command: str, code: int) -> Any:
        """Return the JSON output of a command, which is not shown."""
        ran = subprocess.run(
            [COMMAND, command, MANIFESTS, "--format", "json"],
            cwd=self.folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            check=False,
        )
        if ran.returncode != code:
            raise UnexpectedError(
                f"`{command}` gives the exit code {ran.returncode}, and should give {code}"
            )
        return json.loads(ran.stdout)

    @contextmanager
    def emulator(self) -> Iterator[str]:
        """Serve the data of the local environment; yield the server's URL."""
        print(f"$ reconciler emulator serve --data {DATA} --port 0 &")
        with subprocess.Popen(
            [COMMAND, "emulator", "serve", "--data", DATA, "--port", "0"],
            cwd=self.folder,
            env=self.environ,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                assert server.stderr is not None  # noqa: S101 - it is a pipe
                line = server.stderr.readline()
                print(line, end="")
                if not line.startswith(READY):
                    raise UnexpectedError("the emulator does not serve")
                yield line.removeprefix(READY).strip()
            finally:
                server.terminate()
                server.wait(STOP_SECONDS)


def request(method: str, url: str, body: object = None) -> Any:
    """Ask the emulator, as alice would through the web interface."""
    asking = urllib.request.Request(  # noqa: S310 - an http URL of our own
        url,
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={
            "Authorization": "any-key",
            "Content-Type": "application/json",
            "X-Emulator-User": "alice@example.com",
        },
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asking, timeout=STOP_SECONDS) as reply:
        return json.load(reply)


def narrow_time_frame(url: str) -> None:
    """Change a dashboard behind the manifests' back, as a person would."""
    dashboard = request("GET", f"{url}{API}/v1/dashboards/by-slug/checkout")["dashboard"]
    dashboard["relativeTimeFrame"] = "900s"
    print(
        f"$ curl -X PUT {url}{API}/v1/dashboards/dashboards \\\n"
        "    -H 'Authorization: any-key' -H 'X-Emulator-User: alice@example.com' \\\n"
        '    -d \'{"requestId": "demo", "dashboard": {..., "relativeTimeFrame": "900s"}}\''
    )
    body = {"requestId": "demo", "dashboard": dashboard}
    request("PUT", f"{url}{API}/v1/dashboards/dashboards", body)


def play(demo: Demo) -> None:
    """Take all steps. Raises UnexpectedError at the first that does not go as it should."""
    demo.headline("Check the manifests of one team. This is offline: no server, no key.")
    demo.run("validate", MANIFESTS)

    demo.headline("Plan: what an apply would write. It only reads.")
    demo.run("plan", MANIFESTS)

    demo.headline("Apply it, to the emulator that `local` in reconciler.yaml names.")
    demo.run("apply", MANIFESTS, "--yes", "--quiet")

    demo.headline("Plan again: nothing is left to do.")
    demo.run("plan", MANIFESTS, "--exit-code")

    demo.headline("Alice edits by hand: the checkout dashboard shows 15 minutes, not 6 hours.")
    with demo.emulator() as url:
        narrow_time_frame(url)

    demo.headline("Drift: somebody changed what was applied. The exit code is 2.")
    demo.run("drift", MANIFESTS, code=2)
    drifted = [
        resource
        for resource in demo.asked("drift", 2)["resources"]
        if resource["state"] == "drifted"
    ]
    found = [(value["ref"], [field["path"] for field in value["fields"]]) for value in drifted]
    if found != [EDITED]:
        raise UnexpectedError(f"the drift should be {[EDITED]}, and is {found}")

    demo.headline("Plan: the one field that has to go back. With --exit-code, changes are 2.")
    demo.run("plan", MANIFESTS, "--exit-code", code=2)

    demo.headline("Nobody overwrites a colleague's edit unseen: `--yes` alone is refused.")
    demo.run("apply", MANIFESTS, "--yes", "--quiet", code=11)

    demo.headline("The plan above showed the edit. Applying that very plan heals it.")
    reviewed = demo.asked("plan", 0)["digest"]
    demo.run("apply", MANIFESTS, "--expect", reviewed, "--quiet")
    demo.asked("drift", 0)


def main() -> int:
    """Play the demo in a temporary folder; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="reconciler-demo-") as name:
        ignored = shutil.ignore_patterns(".reconciler")
        folder = shutil.copytree(ROOT / "examples", Path(name) / "examples", ignore=ignored)
        demo = Demo(folder)
        try:
            play(demo)
        except UnexpectedError as error:
            print(f"\nThe demo failed at step {demo.steps}: {error}", file=sys.stderr)
            return 1
    print(
        f"\nAll {demo.steps} steps went as they should. To play with it yourself: "
        "cd examples, and run\nthe same commands with ../.venv/bin/reconciler; "
        "README.md says how to begin with a real service."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
