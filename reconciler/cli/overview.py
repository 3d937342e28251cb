"""Commands by name, and the text of `--help`. Imports nothing but the table of features.

A person waits for `--help`, and importing the library that parses command lines takes longer than
all else. A test compares this text with the library's own.
"""

from reconciler.features import FEATURES

ABOUT = "Alerts, SLOs, dashboards, log policies and saved views as code."

_CORE: dict[str, str] = {
    "init": "cli.init:init Make a workspace to start from; overwrites nothing.",
    "validate": "cli.validate:validate Check manifests offline.",
    "plan": "cli.plan:plan Show what apply would do; reads only.",
    "apply": "cli.apply:apply Make the service hold what the manifests declare.",
    "drift": "cli.drift:drift Show whether live differs from what was applied.",
    "journal": "cli.journal_commands:journal Show, verify and settle what was written.",
    "events": "cli.service_records:events List the events of alerts.",
    "incidents": "cli.service_records:incidents List incidents and their events; close them.",
    "cases": "cli.service_records:cases List cases.",
    "usage": "cli.service_records:usage Show how much data was used, day by day.",
    "policies": "cli.service_records:policies List, test and add log policies.",
    "ci": "ci.command:ci Plan and apply inside CI, with a comment.",
    "schema": "cli.schema:schema Print the JSON Schema of a kind of manifest.",
    "completion": "cli.completion:completion Print what lets a shell complete names.",
    "emulator": "cli.emulator:emulator Run the management API on this machine.",
}

# The order of `--help`. A name may be here without its command; others come last.
_GROUPS: dict[str, tuple[str, ...]] = {
    "Start": ("init", "import", "doctor", "emulator"),
    "Write": ("validate", "fmt", "rules", "test"),
    "Every day": (
        "plan",
        "approve",
        "apply",
        "drift",
        "adopt",
        "rollback",
        "journal",
        "ci",
    ),
    "Insights": ("explain", "graph", "audit", "watch"),
    "Records of the service": ("events", "incidents", "cases", "usage", "policies"),
    "Plumbing": ("schema", "completion", "conformance"),
}
_LAST = "Plumbing"


def in_order(names: list[str], order: tuple[str, ...]) -> list[str]:
    """Return the names sorted as in `order`, then the names that it lacks, as they come."""
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _commands() -> dict[str, tuple[str, str, str]]:
    order = tuple(name for names in _GROUPS.values() for name in names)
    rows = dict(_CORE)
    for feature, sorts in FEATURES.items():
        for name, row in sorts.get("commands", {}).items():
            rows[name] = f"features.{feature}.{row}"
    return {name: _parts(rows[name]) for name in in_order(list(rows), order)}


def _parts(row: str) -> tuple[str, str, str]:
    address, _, words = row.partition(" ")
    module, _, function = address.partition(":")
    return f"reconciler.{module}", function, words


# name: (module, function, one line of help). A module is loaded when its command runs.
COMMANDS: dict[str, tuple[str, str, str]] = _commands()

_HEAD = """\
Usage: reconciler [OPTIONS] COMMAND [ARGS]...

  {about}

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.
"""


def grouped() -> dict[str, list[tuple[str, str]]]:
    """Map each heading of `--help` to its commands, padded to one width, and their words."""
    heading_of = {name: heading for heading, names in _GROUPS.items() for name in names}
    widest = max(map(len, COMMANDS))
    found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in _GROUPS}
    for name, (_, _, words) in COMMANDS.items():
        found[heading_of.get(name, _LAST)].append((f"{name:{widest}}", words))
    return {heading: rows for heading, rows in found.items() if rows}


def overview() -> str:
    """Return the output of `reconciler --help`, ending in a line break."""
    sections = (
        f"\n{heading}:\n" + "".join(f"  {name}  {words}\n" for name, words in rows)
        for heading, rows in grouped().items()
    )
    return _HEAD.format(about=ABOUT) + "".join(sections)
