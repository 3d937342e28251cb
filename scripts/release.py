"""Check that a version can be released; with `--publish`, build dist/ and make the tag.

Nothing is uploaded: the last lines say what to run. `make release` is the dry run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MOST_WORDS = 1500


@dataclass(frozen=True)
class Release:
    """The project to release, and where its wheel and bill of materials go."""

    root: Path
    dist: Path
    base: str

    @property
    def version(self) -> str:
        """Return the version that the package names."""
        _, _, rest = self.text("reconciler/__init__.py").partition('__version__ = "')
        return rest.partition('"')[0]

    def text(self, name: str) -> str:
        """Read a file of the project."""
        return (self.root / name).read_text(encoding="utf-8")

    def run(self, *command: str | Path) -> tuple[int, str]:
        """Run a command in the project; return its exit code and what it printed."""
        ran = subprocess.run(command, cwd=self.root, capture_output=True, check=False, text=True)
        return ran.returncode, (ran.stdout + ran.stderr).strip()

    def failed(self, *command: str | Path) -> list[str]:
        """Return what is wrong where a command fails, else nothing."""
        code, said = self.run(*command)
        last = "\n".join(said.splitlines()[-12:])
        return [f"{' '.join(map(str, command))} ended with {code}: {last}"] if code else []


def check_version(release: Release) -> Iterator[str]:
    """Yield each place that names another version than the package."""
    version = release.version
    declared = tomllib.loads(release.text("pyproject.toml"))["project"].get("version", version)
    image = re.search(r'image\.version="(.*?)"', release.text("Dockerfile"))
    heading, _ = _entry(release)
    for place, said in (
        ("pyproject.toml", declared),
        ("the label of the Dockerfile", image and image[1]),
        ("the newest heading of CHANGELOG.md", heading.split(" ")[0]),
    ):
        if said != version:
            yield f"{place} says {said}, reconciler.__version__ says {version}: make them equal"


def check_changelog(release: Release) -> Iterator[str]:
    """Yield what of the changelog's newest entry keeps it from being released."""
    heading, entry = _entry(release)
    words = len(entry.split())
    if words > MOST_WORDS:
        yield f"the entry of CHANGELOG.md has {words} words; shorten it to {MOST_WORDS}"
    if not words:
        yield f"the entry {heading} of CHANGELOG.md is empty: say what users can do now"
    if re.search("unreleased", heading + entry, re.IGNORECASE):
        yield f"CHANGELOG.md says that {heading} is unreleased: write the date in its place"


def _entry(release: Release) -> tuple[str, str]:
    _, _, newest = release.text("CHANGELOG.md").partition("\n## ")
    heading, _, entry = newest.partition("\n")
    return heading.strip(), entry.partition("\n## ")[0]


def check_wheel(release: Release) -> Iterator[str]:
    """Yield what is wrong with the wheel: built, installed into an empty place, and run."""
    shutil.rmtree(release.dist, ignore_errors=True)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index")
    yield from release.failed(*pip, *build, "--wheel-dir", release.dist, ".")
    for wheel in release.dist.glob("*.whl"):
        with TemporaryDirectory() as place:
            yield from release.failed(sys.executable, "-m", "venv", "--without-pip", place)
            install = (*pip, "--python", f"{place}/bin/python", "install")
            lock = ("--require-hashes", "-r", "requirements/runtime.txt")
            wrong = release.failed(*install, *lock) + release.failed(*install, "--no-deps", wheel)
            yield from wrong
            said = "" if wrong else release.run(f"{place}/bin/reconciler", "--version")[1]
            if release.version not in said.split():
                yield f"the installed command says {said!r} for version {release.version}"


def build_image(release: Release) -> Iterator[str]:
    """Yield why the image was not built."""
    found = (name for name in ("docker", "podman", "buildah") if shutil.which(name))
    engine = next((name for name in found if release.run(name, "info")[0] == 0), None)
    if engine is None:
        yield "no image was built: neither docker nor podman nor buildah runs here"
    elif not release.base:
        yield "no image was built: name its base with BASE=debian:12-slim@sha256:…"
    else:
        arguments = ("--build-arg", f"BASE={release.base}", "-t", f"reconciler:{release.version}")
        yield from release.failed(engine, "build", *arguments, ".")


def check_bill(release: Release) -> Iterator[str]:
    """Yield what is wrong with the bill of materials."""
    yield from release.failed("make", "sbom")
    release.dist.mkdir(exist_ok=True)
    shutil.copy(release.root / "build" / "sbom.json", release.dist)


def check_contact(release: Release) -> Iterator[str]:
    """Yield where SECURITY.md names another contact than the setting, or one where it is empty."""
    contact = tomllib.loads(release.text("pyproject.toml"))["tool"]["release"]["contact"]
    named = re.findall(r"^Contact: (.*)$", release.text("SECURITY.md"), re.MULTILINE)
    if named != [contact] * bool(contact):
        yield f"SECURITY.md names the contacts {named}, the setting in pyproject.toml {contact!r}"


def check_schemas(release: Release) -> Iterator[str]:
    """Yield whether what the program writes was stale; it is fresh then."""
    before = release.run("git", "diff")
    yield from release.failed("make", "schemas")
    if release.run("git", "diff") != before:
        yield "schemas/ or docs/reference/ was stale: commit what `make schemas` wrote"


def check_site_and_dockerfile(release: Release) -> Iterator[str]:
    """Yield what is wrong with the site, and with the Dockerfile."""
    yield from release.failed("make", "docs")
    yield from release.failed(BIN / "hadolint", "Dockerfile")


def check_tree(release: Release) -> Iterator[str]:
    """Yield what keeps the tag from meaning exactly these files."""
    if release.run("git", "status", "--porcelain")[1]:
        yield "the work tree has changes: commit them"
    if release.run("git", "tag", "--list", f"v{release.version}")[1]:
        yield f"the tag v{release.version} exists: raise the version"


Check = Callable[[Release], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    *(check_version, check_changelog, check_contact, check_schemas),
    *(check_wheel, check_bill, check_site_and_dockerfile, build_image),
)


def publish(release: Release) -> None:
    """Put what passed into dist/, compare it, and make the tag last."""
    tag = f"v{release.version}"
    script = 'rm -rf dist && cp -R "$1" dist && diff -r "$1" dist && git tag -a "$2" -m "$2"'
    for said in release.failed("sh", "-c", script, "sh", release.dist, tag):
        sys.exit(said)
    print(f"\ndist/ and the tag {tag} are made, and nothing is uploaded. To publish, run:")
    print(f"  git push origin {tag}\n  twine upload dist/*.whl")
    print(f"  docker push reconciler:{tag[1:]}  # if it was built")


def main(arguments: Sequence[str], root: Path = ROOT, checks: Sequence[Check] = CHECKS) -> int:
    """Check everything, and publish if asked and all passed; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="tag, and build dist/")
    parser.add_argument("--allow-missing-image", action="store_true", help="publish without image")
    parser.add_argument("--base", default="", help="base of the image, with its digest")
    given = parser.parse_args(arguments)
    release = Release(root, root / "build" / "release", given.base)
    passed = True
    for check in (*checks, *((check_tree,) if given.publish else ())):
        needed = check is not build_image or (given.publish and not given.allow_missing_image)
        wrong = list(check(release))
        passed = passed and not (wrong and needed)
        word = "ok" if not wrong else "failed" if needed else "left out"
        lines = (f"{check.__name__.replace('_', ' ')}: {word}", *(f"  {said}" for said in wrong))
        print(*lines, sep="\n", flush=True)
    if not passed:
        print("\nNot released: see what failed above")
    elif given.publish:
        publish(release)
    else:
        print(f"\n{release.version} can be released: make release PUBLISH=1")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
