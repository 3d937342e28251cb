"""Commands by name, and the text of `--help`. Imports nothing.

A person waits for `--help`, and importing the library that parses command lines takes longer than
all else. A test compares this text with the library's own.
"""

from __future__ import annotations

ABOUT = "Alerts, SLOs, dashboards, log policies and saved views as code."

# name: (module, function, one line of help). A module is loaded when its command runs.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("init", "init", "Make a workspace to start from; overwrites nothing."),
    "validate": ("validate", "validate", "Check manifests offline."),
    "fmt": ("fmt", "fmt", "Bring manifests and exports into their one layout."),
    "rules": ("rules", "rules", "Test the team's own rules against their examples."),
    "graph": ("graph", "graph", "Show what refers to what, and who uses a metric."),
    "plan": ("plan", "plan", "Show what apply would do; reads only."),
    "apply": ("apply", "apply", "Make the service hold what the manifests declare."),
    "rollback": ("rollback", "rollback", "Put back what was declared before a run."),
    "watch": ("watch", "watch", "Show whether alerts are noisier since a run."),
    "drift": ("drift", "drift", "Show whether live differs from what was applied."),
    "audit": ("audit", "audit", "Compare what is declared with what happened."),
    "import": ("import_", "import_", "Make manifests of what is there already."),
    "adopt": ("adopt", "adopt", "Write live edits into the manifests, comments kept."),
    "journal": ("journal", "journal", "Show, verify and settle what was written."),
    "events": ("events", "events", "List the events of alerts."),
    "incidents": ("incidents", "incidents", "List incidents and their events; close them."),
    "cases": ("cases", "cases", "List cases."),
    "usage": ("usage", "usage", "Show how much data was used, day by day."),
    "policies": ("policies", "policies", "List, test and add log policies."),
    "doctor": ("doctor", "doctor", "Check everything that a run needs, with reads only."),
    "conformance": ("conformance", "conformance", "Compare a service with the API document."),
    "ci": ("ci", "ci", "Do the same inside CI: comment, summary, outputs."),
    "explain": ("explain", "explain", "Say what a field or a code means, with an example."),
    "schema": ("schema", "schema", "Print the JSON Schema of a kind of manifest."),
    "completion": ("completion", "completion", "Print what lets a shell complete names."),
    "emulator": ("emulator", "emulator", "Run the management API on this machine."),
}

_HEAD = """\
Usage: reconciler [OPTIONS] COMMAND [ARGS]...

  {about}

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
"""


def overview() -> str:
    """Return the output of `reconciler --help`, ending in a line break."""
    widest = max(map(len, COMMANDS))
    lines = (f"  {name:{widest}}  {words}\n" for name, (_, _, words) in COMMANDS.items())
    return _HEAD.format(about=ABOUT) + "".join(lines)
