"""Ours beside tools that people use for parts of it, in one run, in turn.

What compares, and what does not:

- check-jsonschema holds the same 200 manifests against the schema that `reconciler schema manifest`
  prints. It knows nothing across files, of expressions and queries; `validate` does all that too.
- yamllint reads the same files for style. It checks no field.
- octodns plans 1,000 records with YAML files at both ends, and nothing to do. A record is a line or
  three and nothing goes over a network; our plan of 1,000 resources reads 950 over HTTP.

They are installed by `make bench` into build/peers, and left out where they could not be.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.manifests import write_workspace
from benchmarks.measuring import cpu_of_process, figures
from benchmarks.worlds import COMMAND, world_of

TOOLS = Path(os.environ.get("PEERS", Path(__file__).parent.parent / "build" / "peers" / "bin"))
FILES = 200
RECORDS = 1_000
ROUNDS = 5
TARGET = 0.10
STYLE = "{extends: relaxed, rules: {line-length: disable}}"
CONFIG = """\
manager: {{max_workers: 1}}
providers:
  declared:
    class: octodns.provider.yaml.YamlProvider
    directory: {0}/declared
    enforce_order: false
  live:
    class: octodns.provider.yaml.YamlProvider
    directory: {0}/live
    enforce_order: false
zones: {{example.com.: {{sources: [declared], targets: [live]}}}}
"""


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        _checked(Path(name))
    with tempfile.TemporaryDirectory() as name:
        _planned(Path(name))


def _tool(name: str) -> str | None:
    """Give the path of a peer; None, with a line, where it is not installed."""
    tool = TOOLS / name
    if tool.exists():
        return str(tool)
    print(f"  left out: {name} is not in {TOOLS}; `make bench` installs it")
    return None


def _checked(folder: Path) -> None:
    manifests = folder / "manifests"
    write_workspace(manifests, files=FILES, widgets=13)
    schema = folder / "schema.json"
    with schema.open("wb") as stream:
        subprocess.run([COMMAND, "schema", "manifest"], stdout=stream, check=True)  # noqa: S603 - ours
    files = sorted(map(str, manifests.rglob("*.yaml")))
    ours = [COMMAND, "validate", "--quiet", str(manifests)]
    more = {"RECONCILER_CACHE": str(folder / "cache")}
    print(f"{FILES} manifests, whole processes")
    for name, words in (
        ("check-jsonschema", ["--schemafile", str(schema), *files]),
        ("yamllint", ["-d", STYLE, *files]),
    ):
        tool = _tool(name)
        if tool is None:
            continue
        took = figures(
            ROUNDS,
            partial(cpu_of_process, [tool, *words]),
            {
                "cold": partial(cpu_of_process, [*ours, "--no-cache"], more),
                "warm": partial(cpu_of_process, ours, more),
            },
        )
        target = TARGET if name == "check-jsonschema" else None
        for how, figure in took.items():
            print(figure.text(f"`reconciler validate`, {how}", name, target))


def _planned(folder: Path) -> None:
    print(f"nothing to do among {RECORDS:,}, whole processes")
    tool = _tool("octodns-sync")
    if tool is None:
        return
    records = "".join(
        f"host-{at}:\n  ttl: 300\n  type: A\n  value: 192.0.2.{at % 250 + 1}\n"
        for at in range(RECORDS)
    )
    for end in ("declared", "live"):
        (folder / end).mkdir()
        (folder / end / "example.com.yaml").write_text(records, encoding="utf-8")
    config = folder / "octodns.yaml"
    config.write_text(CONFIG.format(folder), encoding="utf-8")
    with world_of(RECORDS, folder / "world") as world:
        more = {**world.environ, "RECONCILER_CACHE": str(folder / "cache")}
        plan = world.command("plan", "--exit-code")
        took = figures(
            ROUNDS,
            partial(cpu_of_process, [tool, "--quiet", "--config-file", str(config)]),
            {
                "cold": partial(cpu_of_process, [*plan, "--no-cache"], more),
                "warm": partial(cpu_of_process, plan, more),
            },
        )
    for how, figure in took.items():
        print(figure.text(f"`reconciler plan`, {how}", "octodns-sync, YAML at both ends", None))
