"""Every list that a stranger can make long: what `validate` costs where one of them is.

`LENGTH=100000` is how long. Tests count calls at a few hundred; here are seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import peak_of_process

LENGTH = int(os.environ.get("LENGTH", "20000"))
PROJECT = "manifests: [.]\nenvironments:\n  local: {emulator: {data: .reconciler/local.db}}\n"
SPEC = """\
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  targetThresholdPercentage: 99.9
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
SLO = (
    f"apiVersion: reconciler/v1\nkind: SLO\nmetadata: {{name: checkout}}\nspec:\n  name: C\n{SPEC}"
)
BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: board}
spec:
  dashboard:
    name: Board
    layout:
"""
POLICIES = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: all}
spec:
  policies:
"""
POLICY = """\
    - logRules: {{severities: [SEVERITY_ERROR]}}
      policy: {{name: p{0}, description: d, priority: PRIORITY_TYPE_HIGH,
        applicationRule: {{name: a{0}, ruleTypeId: RULE_TYPE_ID_IS}}}}
"""
WIDGET = "{{title: w{0}, definition: {{markdown: {{markdownText: hello}}}}}}"

Files = dict[str, str]


def _each(count: int, text: str) -> str:
    return "".join(text.format(number) for number in range(count))


def comments(count: int) -> Files:
    """Return comments that ignore nothing, one below the other."""
    return {"slo.yaml": SLO + _each(count, "# reconciler: ignore[L201] reason {0}\n")}


def comments_between(count: int) -> Files:
    """Return comments that ignore nothing, each above a line of its own."""
    lines = _each(count, "    # reconciler: ignore[L201] reason {0}\n    l{0}: x\n")
    head = SLO.replace(
        "metadata: {name: checkout}\n", f"metadata:\n  name: checkout\n  labels:\n{lines}"
    )
    return {"slo.yaml": head}


def comments_used(count: int) -> Files:
    """Return many comments of one line, and a complaint there."""
    marks = _each(count, "# reconciler: ignore[L201] reason {0}\n")
    return {"slo.yaml": marks + SLO}


def sections(count: int) -> Files:
    """Return a dashboard of many sections."""
    return {
        "board.yaml": BOARD
        + "      sections:\n"
        + _each(count, "        - rows: [{{widgets: [" + WIDGET + "]}}]\n")
    }


def rows(count: int) -> Files:
    """Return a dashboard with many rows in a section."""
    return {
        "board.yaml": BOARD
        + "      sections:\n        - rows:\n"
        + _each(count, "          - widgets: [" + WIDGET + "]\n")
    }


def widgets(count: int) -> Files:
    """Return a dashboard with many widgets in a row."""
    head = BOARD + "      sections:\n        - rows:\n          - widgets:\n"
    return {"board.yaml": head + _each(count, f"            - {WIDGET}\n")}


def policies(count: int) -> Files:
    """Return a log policy set of many policies."""
    return {"policies.yaml": POLICIES + _each(count, POLICY)}


def documents(count: int) -> Files:
    """Return a file of many documents."""
    return {
        "slos.yaml": "---\n".join(
            SLO.replace("checkout", f"c{n}").replace("name: C", f"name: C{n}") for n in range(count)
        )
    }


def documents_of_one_title(count: int) -> Files:
    """Return a file of many documents that people call the same."""
    return {"slos.yaml": "---\n".join(SLO.replace("checkout", f"c{n}") for n in range(count))}


def documents_of_one_name(count: int) -> Files:
    """Return a file of many documents of one name."""
    return {"slos.yaml": "---\n".join([SLO] * count)}


def keys(count: int) -> Files:
    """Return a manifest of many fields that nobody knows."""
    return {"slo.yaml": SLO + _each(count, "  field{0}: x\n")}


def labels(count: int) -> Files:
    """Return a manifest of many labels."""
    many = ", ".join(f"l{number}: x" for number in range(count))
    return {"slo.yaml": SLO.replace("checkout}", f"checkout, labels: {{{many}}}}}")}


def exempt(count: int) -> Files:
    """Return a manifest that is exempted from much, nothing of which there is."""
    many = _each(count, "    L{0}: a reason\n")
    return {
        "slo.yaml": SLO.replace(
            "metadata: {name: checkout}\n", f"metadata:\n  name: checkout\n  exempt:\n{many}"
        )
    }


def members(count: int) -> Files:
    """Return a manifest for many items."""
    items = _each(count, "  - {{name: c{0}}}\n")
    text = SLO.replace("checkout", '"${each:name}"').replace("name: C\n", "name: C ${each:name}\n")
    return {"slo.yaml": f"{text}forEach:\n{items}"}


def members_in_the_wrong(count: int) -> Files:
    """Return a manifest for many items, and for each a mistake of its own."""
    items = _each(count, "  - {{name: c{0}, frame: f{0}}}\n")
    text = SLO.replace("checkout", '"${each:name}"').replace(
        "SLO_TIME_FRAME_28_DAYS", "${each:frame}"
    )
    return {"slo.yaml": f"{text}forEach:\n{items}"}


def complaints(count: int) -> Files:
    """Return a file with a mistake in each document."""
    wrong = SLO.replace("99.9", "many")
    return {"slos.yaml": "---\n".join(wrong.replace("checkout", f"c{n}") for n in range(count))}


def complaints_of_text(count: int) -> Files:
    """Return a file with many mistakes of writing."""
    return {"slo.yaml": SLO + _each(count, "  field{0}: yes\n")}


def anchors(count: int) -> Files:
    """Return a manifest of many anchors."""
    return {"slo.yaml": SLO + _each(count, "  field{0}: &a{0} x\n")}


def aliases(count: int) -> Files:
    """Return a manifest of more aliases than there may be."""
    return {"slo.yaml": SLO + "  first: &a x\n" + _each(count, "  field{0}: *a\n")}


def environments(count: int) -> Files:
    """Return a project of many environments."""
    named = _each(count, "  e{0}: {{emulator: {{data: .reconciler/e{0}.db}}}}\n")
    return {"reconciler.yaml": f"manifests: [.]\nenvironments:\n{named}", "slo.yaml": SLO}


def mistakes_in_environments(count: int) -> Files:
    """Return a project of many environments, and a file with a mistake in each document."""
    return {**environments(count), **complaints(count)}


def overrides(count: int) -> Files:
    """Return a manifest with overrides of many environments that there are not."""
    return {"slo.yaml": SLO + "overrides:\n" + _each(count, "  e{0}: {{description: d{0}}}\n")}


def overridden_environments(count: int) -> Files:
    """Return a project of many environments, and a manifest with an override for each."""
    return {**environments(count), **overrides(count)}


def strange_overrides(count: int) -> Files:
    """Return a project of many environments, and overrides of as many that there are not."""
    text = overrides(count)["slo.yaml"].replace("  e", "  x")
    return {**environments(count), "slo.yaml": text}


def overridden_fields(count: int) -> Files:
    """Return an override of many fields."""
    return {"slo.yaml": SLO + "overrides:\n  local:\n" + _each(count, "    field{0}: x\n")}


def overridden_policies(count: int) -> Files:
    """Return an override of each of many policies."""
    patch = "overrides:\n  local:\n    policies:\n" + _each(
        count, "      - policy: {{name: p{0}, description: e}}\n"
    )
    return {"policies.yaml": POLICIES + _each(count, POLICY) + patch}


def expressions(count: int) -> Files:
    """Return a manifest of many references to what there is not."""
    return {"slo.yaml": SLO + _each(count, "  field{0}: ${{var:v{0}}}\n")}


def lines_of_text(count: int) -> Files:
    """Return a text of many lines."""
    return {"slo.yaml": SLO + "  description: |\n" + _each(count, "    line {0}\n")}


def groups(count: int) -> Files:
    """Return an alert that is grouped by many keys."""
    many = ", ".join(f"k{number}" for number in range(count))
    return {
        "alert.yaml": "apiVersion: reconciler/v1\nkind: AlertDefinition\n"
        "metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}\n"
        "spec:\n  name: Errors\n  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED\n"
        f"  logsImmediate: {{}}\n  groupByKeys: [{many}]\n"
    }


def files(count: int) -> Files:
    """Return many files."""
    return {
        f"s{n}.yaml": SLO.replace("checkout", f"c{n}").replace("name: C", f"name: C{n}")
        for n in range(count)
    }


def variables(count: int) -> Files:
    """Return an environment of many variables."""
    many = _each(count, "      v{0}: x\n")
    used = _each(count, "  field{0}: ${{var:v{0}}}\n")
    project = PROJECT.replace(
        "{emulator: {data: .reconciler/local.db}}",
        f"\n    emulator: {{data: .reconciler/local.db}}\n    variables:\n{many}",
    )
    return {"reconciler.yaml": project, "slo.yaml": SLO + used}


LISTS: dict[str, Callable[[int], Files]] = {
    each.__name__.replace("_", " "): each
    for each in (
        comments,
        comments_between,
        comments_used,
        sections,
        rows,
        widgets,
        policies,
        documents,
        documents_of_one_title,
        documents_of_one_name,
        keys,
        labels,
        exempt,
        members,
        members_in_the_wrong,
        complaints,
        complaints_of_text,
        anchors,
        aliases,
        environments,
        mistakes_in_environments,
        overrides,
        overridden_environments,
        strange_overrides,
        overridden_fields,
        overridden_policies,
        expressions,
        lines_of_text,
        groups,
        files,
        variables,
    )
}


def write(folder: Path, made: Files) -> None:
    """Write a project with a list into a folder."""
    (folder / "reconciler.yaml").write_text(PROJECT, encoding="utf-8")
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def run() -> None:
    """Print the figures."""
    wanted = os.environ.get("LISTS", "").split(",") if os.environ.get("LISTS") else list(LISTS)
    print(f"validate, whole processes, where one list has {LENGTH:,} items, and half as many")
    for name in wanted:
        took = []
        for count in (LENGTH // 2, LENGTH):
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), LISTS[name](count))
                line = [sys.executable, "-c", COMMAND, folder]
                took.append(peak_of_process(line, {"RECONCILER_CACHE": folder}))
        (half, _), (whole, peak) = took
        print(f"  {name:24} {half:7.2f} s {whole:7.2f} s  {peak:7.0f} MB", flush=True)


COMMAND = """\
import sys
from reconciler.cli.root import run
sys.stdout = sys.stderr = open('/dev/null', 'w')
run(['validate', sys.argv[1], '--no-cache'])
"""
