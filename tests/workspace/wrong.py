"""What a wrong manifest is, and the manifests that wrong ones are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FILE = "checkout.yaml"
SLI = "{goodEvents: {query: good}, totalEvents: {query: all}}"
UUID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"

PROJECT = """\
manifests: [.]
defaultEnvironment: local
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {team: payments, threshold: 5}
  production:
    baseUrl: https://api.example.com
"""


@dataclass(frozen=True)
class Wrong:
    """Files that are wrong, and the complaint that they deserve.

    `at` is `file:line:column`, or the file alone where no line is to blame.
    """

    name: str
    code: str
    at: str
    says: str
    files: Mapping[str, str | bytes]
    suggests: str = ""
    exits: int = 4
    command: str = "validate"
    links: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def text(  # noqa: PLR0917 - a row of a table
    name: str, code: str, place: str, says: str, content: str | bytes, suggests: str = ""
) -> Wrong:
    """Give a case of one YAML file; `place` is `line:column` in it."""
    return Wrong(name, code, f"{FILE}:{place}", says, {FILE: content}, suggests)


def slo(*lines: str) -> str:
    """Give an SLO of eight good lines, and these in its spec; the first stands in line 9."""
    return (
        "apiVersion: reconciler/v1\n"
        "kind: SLO\n"
        "metadata:\n"
        "  name: checkout\n"
        "spec:\n"
        "  name: Checkout\n"
        "  targetThresholdPercentage: 99.9\n"
        f"  requestBasedMetricSli: {SLI}\n"
    ) + "".join(f"  {line}\n" for line in lines)


def alert(*lines: str, id_line: str = f"id: {UUID}") -> str:
    """Give an alert definition of nine good lines, and these in its spec, from line 10."""
    return (
        "apiVersion: reconciler/v1\n"
        "kind: AlertDefinition\n"
        "metadata:\n"
        "  name: checkout-errors\n"
        f"  {id_line}\n"
        "spec:\n"
        "  name: Checkout errors\n"
        "  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED\n"
        "  logsImmediate: {}\n"
    ) + "".join(f"  {line}\n" for line in lines)


def view(*lines: str, id_line: str = "id: 7") -> str:
    """Give a saved view of eight good lines, and these in its spec, from line 9."""
    return (
        "apiVersion: reconciler/v1\n"
        "kind: SavedView\n"
        "metadata:\n"
        "  name: errors\n"
        f"  {id_line}\n"
        "spec:\n"
        "  name: Errors\n"
        "  timeSelection: {quickSelection: {seconds: 900}}\n"
    ) + "".join(f"  {line}\n" for line in lines)


def board(*lines: str, name: str = "shop") -> str:
    """Give a dashboard of six good lines, and these in it, from line 7."""
    return (
        "apiVersion: reconciler/v1\n"
        "kind: Dashboard\n"
        f"metadata: {{name: {name}}}\n"
        "spec:\n"
        "  dashboard:\n"
        "    name: Shop\n"
    ) + "".join(f"    {line}\n" for line in lines)


def board_of(file: str) -> str:
    """Give a dashboard whose content stands in a file, named in line 5."""
    return (
        "apiVersion: reconciler/v1\n"
        "kind: Dashboard\n"
        "metadata: {name: shop}\n"
        "spec:\n"
        f"  file: {file}\n"
    )


def policies(*lines: str, name: str = "policies") -> str:
    """Give a log policy set of four good lines, and these in its spec, from line 5."""
    return (
        f"apiVersion: reconciler/v1\nkind: LogPolicySet\nmetadata: {{name: {name}}}\nspec:\n"
    ) + "".join(f"  {line}\n" for line in lines)


def envelope(*lines: str) -> str:
    """Give a document of these lines, and a good spec of an SLO."""
    return "".join(f"{line}\n" for line in lines) + (
        f"spec: {{name: Checkout, targetThresholdPercentage: 99, requestBasedMetricSli: {SLI}}}\n"
    )
