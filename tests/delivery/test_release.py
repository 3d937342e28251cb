"""`make release`: a dry run that finds what is not ready, and a tag only where all passed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import release
from release import Check, Release
from runner import ROOT

READY = {
    "reconciler/__init__.py": '__version__ = "1.2.3"\n',
    "pyproject.toml": '[project]\ndynamic = ["version"]\n[tool.release]\ncontact = ""\n',
    "Dockerfile": 'LABEL org.opencontainers.image.version="1.2.3"\n',
    "CHANGELOG.md": "# Log\n\n## 1.2.3 (2030-01-31)\n\nIt says more.\n\n## 1.2.2\n\nUnreleased\n",
    "SECURITY.md": "# Security\n",
}


def project(folder: Path, **changed: str) -> Release:
    """Write a project that is ready to be released, but for some files."""
    for name, text in (READY | changed).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    made = Release(folder, folder / "build" / "release", "")
    made.dist.mkdir(parents=True)
    (made.dist / "a.whl").touch()
    (folder / ".gitignore").write_text("build\ndist\n", encoding="utf-8")
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-qb", "main"), ("add", "-A"), (*author, "commit", "-qm", "x")):
        assert made.failed("git", *command) == []
    return made


@pytest.fixture(autouse=True)
def author(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git know who makes a tag."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.com")


CHANGES = {
    "another version": ("CHANGELOG.md", "## 1.2.3", "## 1.2.4", release.check_version),
    "another image": ("Dockerfile", "1.2.3", "1.2.2", release.check_version),
    "a version twice": (
        "pyproject.toml",
        "dynamic",
        'version = "2"\ndynamic',
        release.check_version,
    ),
    "no date": ("CHANGELOG.md", "2030-01-31", "unreleased", release.check_changelog),
    "an empty entry": ("CHANGELOG.md", "It says more.", "", release.check_changelog),
    "a long entry": ("CHANGELOG.md", "says", "says " * 1500, release.check_changelog),
    "no contact": ("pyproject.toml", '""', '"mailto:a@example.com"', release.check_contact),
    "a contact": ("SECURITY.md", "# Security", "Contact: me", release.check_contact),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_is_not_ready(case: str, tmp_path: Path) -> None:
    """Each thing that is not ready is found, where a project that is ready has no finding."""
    name, old, new, check = CHANGES[case]
    ready = project(tmp_path / "ready")
    broken = project(tmp_path / "broken", **{name: READY[name].replace(old, new)})

    assert list(check(ready)) == []
    assert len(list(check(broken))) == 1


def good(_: Release) -> Iterator[str]:
    """Find nothing."""
    yield from ()


def bad(_: Release) -> Iterator[str]:
    """Find something."""
    yield "it is not ready"


def tags(root: Path) -> str:
    """Return the tags of a project."""
    ran = subprocess.run(["git", "tag"], cwd=root, capture_output=True, check=True, text=True)  # noqa: S607 - git of the PATH
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("checks", "options", "code", "tagged"),
    [
        ([good], [], 0, ""),
        ([good], ["--publish"], 0, "v1.2.3"),
        ([good, bad], [], 1, ""),
        ([bad, good], ["--publish"], 1, ""),
        ([release.build_image], [], 0, ""),
        ([release.build_image], ["--publish"], 1, ""),
        ([release.build_image], ["--publish", "--allow-missing-image"], 0, "v1.2.3"),
    ],
)
def test_the_tag_is_made_last(
    checks: list[Check], options: list[str], code: int, tagged: str, tmp_path: Path
) -> None:
    """Only a release that is asked for, and of which all passed, makes dist/ and the tag."""
    project(tmp_path)

    assert release.main(options, tmp_path, checks) == code
    assert tags(tmp_path) == tagged
    assert (tmp_path / "dist" / "a.whl").exists() == bool(tagged)


@pytest.mark.parametrize("deed", ["changed file", "same tag"])
def test_the_tag_is_of_these_files(deed: str, tmp_path: Path) -> None:
    """A work tree with changes, or a tag that exists, is not released."""
    made = project(tmp_path)
    if deed == "same tag":
        made.failed("git", "tag", "v1.2.3")
    else:
        (tmp_path / "new.txt").touch()

    assert release.main(["--publish"], tmp_path, [good]) == 1
    assert not (tmp_path / "dist").exists()


def test_the_project_has_one_version() -> None:
    """The package, its image and the changelog name one version; SECURITY.md has its contact."""
    here = Release(ROOT, ROOT / "build" / "release", "")

    assert [*release.check_version(here), *release.check_contact(here)] == []
    assert len((ROOT / "scripts" / "release.py").read_text("utf-8").splitlines()) <= 200


@pytest.mark.parametrize("copy", ["exit 1", 'mkdir "$3"'])
def test_no_tag_without_all_of_dist(
    copy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where dist/ is not the whole of what was checked, there is no tag."""
    project(tmp_path / "made")
    tool = tmp_path / "cp"
    tool.write_text(f"#!/bin/sh\n{copy}\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    with pytest.raises(SystemExit):
        release.main(["--publish"], tmp_path / "made", [good])

    assert tags(tmp_path / "made") == ""
