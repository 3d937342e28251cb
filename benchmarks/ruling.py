"""Rules of a team's own over a workspace, against reading that workspace.

Both the run and the process that judges are counted, its start included.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.manifests import write_workspace
from benchmarks.measuring import cpu_of, medians, verdict
from reconciler.features.rules.rule_settings import Rule
from reconciler.project import ProjectFile
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspace

ROUNDS = 5
FILES = 1_000
TARGET_OF_READING = 1.0
CHECKS = (
    "has(resource.metadata.labels.team)",
    "resource.metadata.name.size() < 200",
    "resource.kind != 'SLO' || has(resource.spec.targetThresholdPercentage)",
    "!has(resource.spec.name) || resource.spec.name.matches('^[A-Z].*')",
    "resource.metadata.labels.all(key, key.size() > 1)",
)


def run() -> None:
    """Print the figures."""
    rules = [
        Rule(name=f"rule-{number}", check=CHECKS[number % len(CHECKS)], message="m")
        for number in range(20)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_workspace(folder, files=FILES, widgets=13) / 1e6
        scope = Scope("production", {}, {}, lambda: "salt")

        def load(settings: ProjectFile) -> Callable[[], float]:
            return lambda: _cpu_with_children(
                lambda: load_workspace([folder], folder, scope, settings)
            )

        took = medians(
            ROUNDS, {"without": load(ProjectFile()), "with": load(ProjectFile(rules=rules))}
        )
    reading, more = took["without"], took["with"] - took["without"]
    share = more / reading
    print(f"judging {FILES:,} manifests of {size:.1f} MB by {len(rules)} rules")
    print(f"  floor: reading them                {reading:6.2f} s")
    print(
        f"  rules, and their process           {more:6.2f} s   {share:.2f} of reading "
        f"(target {TARGET_OF_READING:g}: {verdict(share, TARGET_OF_READING)})"
    )


def _cpu_with_children(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = cpu_of(work)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
