"""The image, built and run without any daemon: buildah in a chroot, a Debian made here.

There is no separation of processes, network or memory; files, users and mounts
are as they are in a container.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner import ROOT

PACKAGES = ("buildah", "mmdebstrap")
# What slim images of Debian leave out, too.
LEFT_OUT = ("man", "doc", "info", "locale")
CANARY = "canary-2f6a1c1e"
SOURCES = (
    *(".dockerignore", "Dockerfile", "LICENSE", "README.md", "pyproject.toml"),
    *("reconciler", "requirements"),
)
TIMESTAMP = "315532800"
ENTER = """\
set -eu
mount --bind "$1" "$1"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc" 2>/dev/null || mount --rbind /proc "$1/proc"
mount --bind "$2" "$1/workspace"
mount -o remount,bind,ro "$1"
cd "$1"
user=$3
shift 3
exec chroot --userspec="$user" . /usr/bin/env -i --chdir=/workspace "$@"
"""


def missing_package() -> str:
    """Give the Debian package that building needs and this machine lacks; "" where all are here."""
    return next((name for name in PACKAGES if shutil.which(name) is None), "")


def copy_sources(folder: Path) -> None:
    """Copy what the project is built of."""
    folder.mkdir(exist_ok=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy(ROOT / name, folder)


def output_of(*command: str | Path) -> str:
    """Run a command that must go well; give what it printed."""
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return ran.stdout


@dataclass(frozen=True)
class Images:
    """A store of images in a folder, and the wheels that are built into them."""

    folder: Path

    def buildah(self, *arguments: str | Path) -> str:
        """Run buildah on this store."""
        places = ("--root", self.folder / "root", "--runroot", self.folder / "run")
        return output_of("buildah", *places, *arguments).strip()

    def make_base(self) -> None:
        """Make a small Debian, and the wheels of both locks, fetched as pip is set up here."""
        excludes = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]
        tar = self.folder / "base.tar"
        output_of("mmdebstrap", "--quiet", "--variant=minbase", *excludes, "bookworm", tar)
        base = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", base, tar, "/")
        self.buildah("commit", "--quiet", "--rm", base, "base")
        locks = [("-r", ROOT / "requirements" / f"{name}.txt") for name in ("runtime", "build")]
        wanted = [part for lock in locks for part in lock]
        form = ("--only-binary=:all:", "--python-version", "3.11", "--require-hashes")
        pip = (sys.executable, "-m", "pip", "download", "--quiet", *form)
        output_of(*pip, *wanted, "--dest", self.folder / "wheels")
        # Two builds are to have the same sources, whoever edits them meanwhile.
        copy_sources(self.folder / "sources")

    def build(self, name: str) -> str:
        """Build the image from nothing kept; give its id, which is a digest of all of it."""
        arguments = {
            "BASE": "localhost/base",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "/wheelhouse",
            # A mirror's address may hold a password.
            "PIP_INDEX_URL": f"https://user:{CANARY}@mirror.invalid/simple",
            "REVISION": "0" * 40,
        }
        given = [f"--build-arg={key}={value}" for key, value in arguments.items()]
        volume = f"--volume={self.folder / 'wheels'}:/wheelhouse:ro"
        how = ("--no-cache", "--isolation=chroot", f"--timestamp={TIMESTAMP}", volume)
        said = self.buildah(
            "build", "--quiet", *how, *given, "--tag", name, self.folder / "sources"
        )
        return said.splitlines()[-1]

    def about(self, name: str) -> Any:
        """Give what an image says of itself."""
        return json.loads(self.buildah("inspect", "--type", "image", name))

    def mounted(self, name: str) -> Path:
        """Give the root folder of a container of an image."""
        return Path(self.buildah("mount", self.buildah("from", name)))

    def size(self, name: str) -> int:
        """Give the size of an image in bytes, without what its files take more on a disk."""
        files = (file for file in self.mounted(name).rglob("*") if not file.is_symlink())
        seen = {(s.st_dev, s.st_ino): s.st_size for s in map(os.stat, files) if s.st_size}
        return sum(seen.values())


@dataclass(frozen=True)
class Container:
    """A root folder that is read-only to what runs in it, and how its image says to run."""

    root: Path
    config: Any

    def run(
        self, workspace: Path, *arguments: str, entry: Sequence[str] = (), **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the image's command in a workspace, as the image's user."""
        given = [*self.config["Env"], *(f"{name}={value}" for name, value in environ.items())]
        command = [*(entry or self.config["Entrypoint"]), *arguments]
        enter = ["unshare", "--mount", "sh", "-c", ENTER, "enter"]
        return subprocess.run(
            [*enter, self.root, workspace, self.config["User"], *given, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
        )
