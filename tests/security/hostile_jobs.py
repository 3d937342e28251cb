"""A job on a checkout that leads elsewhere than main, to be made worse by tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.doors import KEY
from harness.ports import Stranger, stranger
from harness.repositories import begin, committed, git
from trust_cells import DASHBOARD, TRY, Places, Repository, planned_in_a_job

NOT_FOUND = {"message": "Not Found: it"}
GUARD = 11


@dataclass
class Job:
    """A checkout whose commit `change` leads elsewhere than `base`, which is main's newest."""

    root: Path
    folder: Path
    good: Stranger
    evil: Stranger
    base: str = ""
    change: str = ""
    environ: dict[str, str] = field(default_factory=dict)
    told: str = ""

    @property
    def places(self) -> Places:
        """Where the two project files lead."""
        return Places(self.good.url, self.evil.url, self.folder / "outside")

    def plan(self, name: str = "push", ref: str = TRY, commit: str = "", **inputs: str) -> str:
        """Run `ci plan` on an event; say where the key arrived: "good", "evil" or ""."""
        known = Repository("own", "edited", self.root, commit or self.change, self.base, "")
        ran = planned_in_a_job(known, self.folder, name, ref, **inputs, **self.environ)
        self.code, self.told = ran.code, ran.out
        arrived = [
            name
            for name, service in (("good", self.good), ("evil", self.evil))
            if any(KEY in key for key in service.keys)
        ]
        self.good.asked.clear()
        self.evil.asked.clear()
        assert len(arrived) < 2
        return arrived[0] if arrived else ""


@contextmanager
def a_job(tmp_path: Path) -> Iterator[Job]:
    """Give a job on the change, with the whole history."""
    root, folder = tmp_path / "work", tmp_path / "temporary"
    for made in (root, folder):
        made.mkdir()
    with stranger(404, NOT_FOUND) as good, stranger(404, NOT_FOUND) as evil:
        one = Job(root, folder, good, evil)
        (root / "reconciler.yaml").write_text(one.places.reviewed, encoding="utf-8")
        (root / "all.yaml").write_text(DASHBOARD.format(said="x"), encoding="utf-8")
        one.base = begin(root)
        git(root, "checkout", "--quiet", "-b", "try")
        (root / "reconciler.yaml").write_text(one.places.edited, encoding="utf-8")
        one.change = committed(root)
        git(root, "update-ref", "refs/remotes/origin/main", one.base)
        yield one
