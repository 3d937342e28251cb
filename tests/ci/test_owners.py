r"""Code owners against the forge's documented examples, and against git's own patterns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.ci.job import PLACES, OwnerRule, owners_of, read_owners

DOCUMENTED = """\
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs-star@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat-logs
/apps/ @octocat
/apps/github
"""
# Path: owners by the forge's own words beside each line of the example.
OWNED: dict[str, tuple[str, ...]] = {
    "readme.md": ("@global-owner1", "@global-owner2"),
    "src/deep/file.py": ("@global-owner1", "@global-owner2"),
    "src/app.js": ("@js-owner",),
    "main.go": ("docs@example.com",),
    "notes/a.txt": ("@octo-org/octocats",),
    "build/logs/a/b.py": ("@octocat-logs",),
    "other/build/logs.md": ("@global-owner1", "@global-owner2"),
    "deeply/nested/logs/x": ("@octocat-logs",),
    "docs/getting-started.md": ("@doctocat",),
    "docs/build-app/troubleshooting.md": ("@doctocat",),
    "lib/docs/a.md": ("@global-owner1", "@global-owner2"),
    "scripts/run.sh": ("@doctocat", "@octocat"),
    "lib/apps/a.py": ("@octocat",),
    "apps/a.py": ("@octocat",),
    "apps/github": (),
    "apps/github/a.py": (),
}


@pytest.mark.parametrize("path", OWNED)
def test_the_documented_example(path: str) -> None:
    """Of each path of the forge's example, the last line that matches gives the owners."""
    assert owners_of(path, read_owners(DOCUMENTED)) == OWNED[path]


# Pattern, path, and whether the forge's words say that it matches.
WORDS = [
    ("docs/*", "docs/getting-started.md", True),
    ("docs/*", "docs/build-app/troubleshooting.md", False),
    ("/*", "readme.md", True),
    ("/*", "src/readme.md", False),
    ("*", "src/deep/readme.md", True),
    ("apps/", "deep/apps/a/b", True),
    ("apps/", "apps", False),
    ("/apps/", "deep/apps/a", False),
    ("docs/**/*.md", "docs/a.md", True),
    ("docs/**/*.md", "docs/a/b/c.md", True),
    ("**/logs", "build/logs/x", True),
    ("a\\ b.yaml", "a b.yaml", True),
    ("a/**", "a/b/c", True),
    ("a/**", "a", False),
    ("monitoring", "x/monitoring/alerts/a.yaml", True),
    ("Monitoring", "monitoring/a.yaml", False),
    ("a.yaml", "axyaml", False),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), WORDS)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    """Each pattern matches what the forge says it does."""
    assert OwnerRule(pattern, ()).matches(path) is expected


@pytest.mark.parametrize(
    "line",
    ["!a.yaml @a", "[ab].yaml @a", "\\#a @a", "a.yaml nobody", "a.yaml @", "/ @a", "***/a @a"],
)
def test_malformed_lines_are_skipped(line: str) -> None:
    """A line that the forge does not take changes nothing."""
    assert owners_of("a.yaml", read_owners(f"* @all\n{line}\n")) == ("@all",)


def test_sections_of_the_other_forge() -> None:
    """Where sections count, each has its own last match, and its own usual owners."""
    text = "* @all\n[Data][2] @data\n*.yaml\n^[Docs]\n*.md @docs\n[DATA]\nslo.yaml @slo\n"
    owners = read_owners(text, ".gitlab/CODEOWNERS")

    assert owners_of("a.yaml", owners) == ("@all", "@data")
    assert owners_of("slo.yaml", owners) == ("@all", "@slo")
    assert owners_of("a.md", owners) == ("@all", "@docs")
    assert owners_of("a.md", read_owners(text)) == ("@docs",)


def test_the_order_of_places() -> None:
    """The forge's own folder goes first, as its documentation says."""
    assert PLACES[:3] == (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


STEPS = st.sampled_from(["a", "b", "ab", "a.b", "*", "a*", "*.b", "?", "**"])
PATHS = [
    f"{one}"
    for one in (
        *("a", "b", "ab", "a.b", "a/a", "a/b", "b/a", "a/b/a", "a/b/ab", "b/a.b", "ab/a/b/a.b"),
        *("a.b/a", "x/a", "x/a/b", "x/y/z", "b/x/y/a"),
    )
]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Give patterns whose meaning the forge and git share."""
    steps = draw(st.lists(STEPS, min_size=1, max_size=3))
    pattern = "/".join(steps)
    # What is right in a folder, and what git takes for a folder alone, are the forge's own.
    pattern = draw(st.sampled_from(["", "/"])) + pattern
    return pattern + (draw(st.sampled_from(["", "/"])) if steps[-1] not in ("*", "**") else "")


def ignored(folder: Path, pattern: str) -> set[str]:
    """Ask git which paths a pattern ignores, none of which need be there."""
    (folder / ".gitignore").write_text(f"{pattern}\n", encoding="utf-8")
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],  # noqa: S607 - git of the PATH
        cwd=folder,
        input="\n".join(PATHS),
        capture_output=True,
        text=True,
        check=False,
    )
    return set(asked.stdout.split())


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("owned")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)  # noqa: S607 - as above
    return folder


@given(pattern=patterns())
@settings(max_examples=40)
def test_patterns_are_those_of_git(repository: Path, pattern: str) -> None:
    """Where forge and git mean the same, a pattern matches what git would ignore by it."""
    steps = pattern.strip("/").split("/")
    if steps[-1] == "*" and "/" in pattern.strip() and pattern != "*":
        return
    own = {path for path in PATHS if OwnerRule(pattern, ()).matches(path)}

    assert own == ignored(repository, pattern)
