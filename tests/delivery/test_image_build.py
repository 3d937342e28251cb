"""The image, built and run for real: `make image`. IMAGE_BUILDS=2 builds it twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.doors import KEY
from harness.served import served
from harness.workspaces import examples_here, workspace
from imaging import CANARY, Container, Images, missing_package
from runner import ROOT

from reconciler import __version__

BUILDS = int(os.environ.get("IMAGE_BUILDS", "0"))
LARGEST = 90_000_000
LOCK = ROOT / "requirements" / "runtime.txt"

pytestmark = [
    pytest.mark.skipif(not BUILDS, reason="it takes minutes: `make image` runs it"),
    pytest.mark.skipif(bool(missing_package()), reason=f"needs Debian package {missing_package()}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for mounts"),
]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    """Give a store with a base and one image built on it."""
    made = Images(tmp_path_factory.mktemp("images"))
    made.make_base()
    made.build("first")
    yield made
    made.buildah("rm", "--all")
    made.buildah("rmi", "--all", "--force")


@pytest.fixture(scope="module")
def container(images: Images) -> Container:
    """Give a container of the image."""
    config = images.about("first")["OCIv1"]["config"]
    return Container(images.mounted("first"), config)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Give a copy of the examples that belongs to somebody else, and that anyone may write to."""
    made = tmp_path / "shop"
    shutil.copytree(ROOT / "examples", made, ignore=shutil.ignore_patterns(".reconciler"))
    made.chmod(0o777)
    os.chown(made, 1234, 1234)
    return made


def test_the_settings(images: Images) -> None:
    """The image runs the command as nobody in an empty folder, and says what it is."""
    config = images.about("first")["OCIv1"]["config"]

    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["reconciler"]
    assert config["WorkingDir"] == "/workspace"
    labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items()}
    assert labels["version"] == __version__
    assert labels["revision"] == "0" * 40
    assert (labels["title"], labels["licenses"]) == ("reconciler", "Apache-2.0")


def test_it_plans_and_applies(container: Container, shop: Path) -> None:
    """On a read-only root, in somebody else's workspace, it plans, applies and converges."""
    (shop / ".reconciler").mkdir(mode=0o700)
    os.chown(shop / ".reconciler", 65532, 65532)
    ended = [
        container.run(shop, *command.split())
        for command in ("validate", "plan", "apply --yes", "plan --exit-code", "drift")
    ]

    assert [one.returncode for one in ended] == [0] * 5, ended
    assert "20 to assert" in ended[1].stdout
    assert f"{examples_here()} written" in ended[2].stdout
    assert "Nothing to do" in ended[3].stdout


def test_it_talks_to_a_service(container: Container, tmp_path: Path) -> None:
    """It applies over the network, and knows authorities to trust."""
    folder = workspace(tmp_path / "work")
    (folder / ".reconciler").mkdir(mode=0o700)
    os.chown(folder / ".reconciler", 65532, 65532)
    with served() as service:
        said = {"RECONCILER_BASE_URL": service.base_url, "RECONCILER_API_KEY": KEY}
        applied = container.run(folder, "apply", "--yes", **said)
        again = container.run(folder, "plan", "--exit-code", **said)

    assert (applied.returncode, again.returncode) == (0, 0), applied.stderr + again.stderr
    assert (container.root / "etc/ssl/certs/ca-certificates.crt").stat().st_size > 100_000


def test_git_is_inside(container: Container, shop: Path) -> None:
    """`--changed-since` works in a repository that belongs to somebody else."""
    os.chown(shop, 0, 0)
    git = ("git", "-C", str(shop), "-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run([*git, *command], check=True)
    for file in (shop, *shop.rglob("*")):
        os.chown(file, 1234, 1234)
    planned = container.run(shop, "plan", "--changed-since", "main", "--format", "json")

    assert planned.returncode == 0, planned.stderr
    assert json.loads(planned.stdout)["notExamined"] == examples_here()
    helper = container.run(shop, "ls-remote", "https://127.0.0.1:1/x", entry=["git"])
    assert "Failed to connect" in helper.stderr


def test_approvals_can_be_signed(container: Container, shop: Path) -> None:
    """`ssh-keygen` makes a key for the image's user, which it refuses to a user without a name."""
    made = container.run(shop, "-q", "-N", "", "-f", "/workspace/key", entry=["ssh-keygen"])

    assert (made.returncode, made.stderr) == (0, "")
    assert (shop / "key.pub").exists()


def test_nothing_is_left_of_building(images: Images, container: Container) -> None:
    """No compiler, no pip, no lists of packages, and nothing that was given to build with."""
    root = container.root
    names = {
        file.name
        for place in ("usr/bin", "opt/reconciler/bin")
        for file in (root / place).iterdir()
    }

    assert [name for name in names if re.match(r"pip|gcc|cc$|g\+\+|make$|wheel|uv$", name)] == []
    assert list(root.glob("var/lib/apt/lists/*")) == []
    assert list(root.glob("**/site-packages/pip")) == []
    assert CANARY not in json.dumps(images.about("first"))
    holding = ["grep", "-rlF", "--exclude-dir=proc", CANARY, str(root)]
    assert subprocess.run(holding, capture_output=True, check=False).stdout == b""


LISTING = """\
import importlib.metadata, json
print(json.dumps({one.name: one.version for one in importlib.metadata.distributions()}))
"""


def test_the_bill_of_materials(container: Container, shop: Path) -> None:
    """What is installed is what the lock's bill of materials lists, and this project."""
    python = "/opt/reconciler/bin/python"
    installed = json.loads(container.run(shop, "-c", LISTING, entry=[python]).stdout)
    command = [str(Path(sys.executable).with_name("cyclonedx-py")), "requirements", str(LOCK)]
    bill = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    assert normal(installed) == {
        **normal({component["name"]: component["version"] for component in bill["components"]}),
        "observability-reconciler": __version__,
    }


def normal(versions: dict[str, str]) -> dict[str, str]:
    """Give names as package tools compare them."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in versions.items()}


def test_it_is_small(images: Images) -> None:
    """The image is at most 90 MB larger than its base."""
    assert images.size("first") - images.size("base") < LARGEST


@pytest.mark.skipif(BUILDS < 2, reason="IMAGE_BUILDS=2 builds it twice")
def test_two_builds_are_one(images: Images) -> None:
    """Two builds without a cache, at one timestamp, give one digest."""
    assert images.build("second") == images.about("first")["FromImageID"]
