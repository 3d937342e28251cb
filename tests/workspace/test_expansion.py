"""What small texts may come to: what is made of them is counted, and ends early."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from harness.doors import typed

from benchmarks.lengthy import SLO, Files, environments, strange_overrides, write
from reconciler.kinds.checks import lint
from reconciler.syntax.files import MOST_MADE
from reconciler.workspace import expression_scope, reuse
from reconciler.workspace.expression_scope import MOST_INCLUDED, Includes, Size
from reconciler.workspace.reuse import overridden

pytestmark = pytest.mark.promise("S55")


def complaints(folder: Path, made: Files) -> list[dict[str, Any]]:
    """Return what `validate` complains of in a project."""
    write(folder, made)
    found: list[dict[str, Any]] = json.loads(
        typed("validate", "--no-cache", "--format", "json", str(folder)).out
    )["complaints"]
    return found


def errors(folder: Path, made: Files) -> list[dict[str, Any]]:
    """Return the errors, each of which has a code, a line and a remedy."""
    found = [
        complaint for complaint in complaints(folder, made) if complaint["severity"] == "error"
    ]
    assert all(value["code"] and value["line"] and value["column"] for value in found)
    return found


def items(count: int, width: int) -> Files:
    """Return a manifest with a wide list for many items."""
    text = SLO.replace("checkout", '"c${each:n}"')
    wide = ", ".join(["{}"] * width)
    each = "".join(f"  - {{n: {number}}}\n" for number in range(count))
    return {"slo.yaml": f"{text}  x: [{wide}]\nforEach:\n{each}"}


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the nodes of all that may be made, as it is asked for."""
    allowed: list[int] = []
    own = Includes.spend

    def spend(self: Includes, size: Size) -> bool:
        may = own(self, size)
        if may:
            allowed.append(size.nodes)
        return may

    monkeypatch.setattr(Includes, "spend", spend)
    return allowed


@pytest.mark.slow
def test_wide_items(tmp_path: Path, spent: list[int]) -> None:
    """160 KB of `forEach` that come to 60,000,000 nodes make no more than 1,000,000."""
    made = items(10_000, 6_000)
    assert len(made["slo.yaml"]) < 170_000

    (found,) = errors(tmp_path, made)

    assert sum(spent) <= MOST_MADE
    assert found["code"] == "M115"
    assert found["suggestion"]


def test_items_of_many_environments(
    tmp_path: Path, spent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is made counts over all environments together."""
    monkeypatch.setattr(expression_scope, "MOST_MADE", 1_000)

    found = errors(tmp_path, {**environments(20), **items(5, 20)})

    assert sum(spent) <= 1_000
    assert {value["code"] for value in found} == {"M115"}


@pytest.mark.slow
def test_files_eight_deep_and_thirty_wide(
    tmp_path: Path, spent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight files that include each other thirty times are looked up once for each that does."""
    resolved: list[Path] = []
    own = expression_scope._real

    def real(file: Path) -> Path:
        resolved.append(file)
        return own(file)

    monkeypatch.setattr(expression_scope, "_real", real)
    inner = {f"f{n}.yaml": f"- ${{file:f{n + 1}.yaml}}\n" * 30 for n in range(1, 8)}

    (found,) = errors(
        tmp_path,
        {"slo.yaml": SLO + "  x:\n" + "    - ${file:f1.yaml}\n" * 30, **inner, "f8.yaml": "- x\n"},
    )

    assert len(resolved) == len(set(resolved)) == 9
    assert len(spent) <= MOST_INCLUDED
    assert sum(spent) <= MOST_MADE
    assert found["code"] == "M512"
    assert found["suggestion"]


def test_overrides_of_400_strange_environments(tmp_path: Path) -> None:
    """Of 400 environments in `overrides` that there are not, 20 are named, and the rest counted."""
    found = errors(tmp_path, strange_overrides(400))

    assert len(found) == reuse.MOST_NAMED + 1
    assert "379 more" in found[-1]["message"]
    assert max(len(value["message"]) for value in found) < 300


def test_overrides_of_400_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patches of 400 environments are judged by themselves once each, and merged once each."""
    judged, merged = Mock(wraps=lint), Mock(wraps=overridden)
    monkeypatch.setattr("reconciler.workspace.reuse.lint", judged)
    monkeypatch.setattr("reconciler.workspace.build.overridden", merged)
    patches = "".join(f"  e{number}: {{description: d{number}}}\n" for number in range(400))

    assert not complaints(
        tmp_path, {**environments(400), "slo.yaml": f"{SLO}overrides:\n{patches}"}
    )

    assert judged.call_count <= 400
    assert merged.call_count <= 400


def test_text_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text for many items ends at the characters that may be made."""
    monkeypatch.setattr(expression_scope, "LARGEST_MADE", 100_000)
    made = items(20, 1)
    text = made["slo.yaml"].replace("name: C\n", f"name: C\n  description: {'d' * 20_000}\n")

    (found,) = errors(tmp_path, {"slo.yaml": text})

    assert found["code"] == "M115"
