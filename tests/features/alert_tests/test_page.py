"""The page about tests of alerts shows what happens."""

from __future__ import annotations

import re
from pathlib import Path

from harness.workspaces import project_at

PAGE = Path(__file__).parents[3] / "docs" / "alert-tests.md"


def test_the_example_of_the_page(tmp_path: Path) -> None:
    """The manifest of the page holds, and fails as shown with another threshold."""
    page = PAGE.read_text(encoding="utf-8")
    (manifest,) = re.findall(r"```yaml\n(# checkout.yaml\n.*?)```", page, re.DOTALL)
    held, failed, weak = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    project = project_at(tmp_path, checkout=manifest)

    ran = project.run("test")
    assert (ran.code, ran.err) == (0, held)
    assert project.run("test", "--weak").err == weak
    project.write("checkout.yaml", manifest.replace("threshold: 9", "threshold: 10"))
    ran = project.run("test")
    assert ran.code == 4
    assert failed.strip() in ran.out
