"""M2 and M5: what can be wrong where something is said once for many."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import PROJECT, Sample, diagnostic, manifest, slo
from reconciler.expressions import Word, expression

_LOCAL = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {teams: [payments, search]}
"""
_OVERRIDES = "overrides:\n  local: "
_EACH = '"${each:service}"'


def _local(text: str) -> Sample:
    return Sample(files={PROJECT: _LOCAL, "checkout.yaml": text})


def _each(items: str, *lines: str, target: str = "99.9") -> Sample:
    return manifest(f"{slo(*lines, name=_EACH, target=target)}forEach: {items}\n")


REUSE_CODES: Final = (
    diagnostic(
        "M212",
        "`overrides` is no mapping of environments to patches of `spec`, or a patch names an item "
        "of a list without the name by which it would be found.",
        "The manifest would hold in that environment without what was meant to differ.",
        _local(f"{slo()}{_OVERRIDES}[targetThresholdPercentage]\n"),
        _local(f"{slo()}{_OVERRIDES}{{targetThresholdPercentage: 95}}\n"),
        page="reuse",
    ),
    diagnostic(
        "M213",
        "`forEach` is no list of mappings, two of its items are equal, or one is empty. A list "
        "without items, of which nothing is made, is a warning.",
        "Each item stands for one resource, so two that are equal would be one.",
        _each("[{service: checkout}, checkout]"),
        _each("[{service: checkout}, {service: search}]"),
        page="reuse",
    ),
    diagnostic(
        "M214",
        "An item has a key, or a key inside a mapping, that no `${each:KEY}` names.",
        "It changes nothing. It is often a slip, or is left of an expression that was removed.",
        _each("[{service: checkout, target: 99}]"),
        _each("[{service: checkout, target: 99}]", target=expression(Word.EACH, "target")),
        page="reuse",
    ),
    diagnostic(
        "M511",
        "`${each:KEY}` names a key that an item lacks, or stands where there is no item: outside "
        "of a manifest with `forEach`, or in one of its values.",
        "Nobody knows what would stand there for that item.",
        _each("[{service: checkout, of: orders}, {service: search}]", "description: ${each:of}"),
        _each("[{service: checkout}, {service: search}]", "description: ${each:service}"),
        page="reuse",
    ),
    diagnostic(
        "M512",
        "`${file:PATH}` names a file that is not there, stands outside the project folder, is no "
        "YAML or JSON, or includes itself. The path is seen from the file that it stands in.",
        "Without the file there is a hole in the manifest; and a file from elsewhere on the "
        "machine is none of its business.",
        manifest(slo("description: ${file:../note.yaml}")),
        manifest(slo("description: ${file:note.yaml}"), note_yaml="Look at the queue first.\n"),
        page="reuse",
    ),
    diagnostic(
        "M513",
        "An expression that gives a list or a mapping stands inside a text. Alone in a value it "
        "gives all of it.",
        "There is more than one way to write a list as text, and none was chosen.",
        _local(slo("description: Owned by ${var:teams}.")),
        _local(slo("description: Owned by payments and search.")),
        page="reuse",
    ),
)
