"""Random workspaces of all kinds, with references, items, overrides, files and secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

from harness.workspaces import Workspace

SECRET = "CHANNEL"  # noqa: S105 - a name
PROJECT = """\
environments:
  local:
    variables: {{team: {team}, regions: [{{region: eu}}, {{region: us}}]}}
"""
ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {{name: alert-{number}, id: {uuid}}}
spec:
  name: {text}
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {{}}
  description: {said}
"""
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {{name: slo-{number}}}
spec:
  name: SLO {number} {text}
  targetThresholdPercentage: {target}
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {{goodEvents: {{query: good}}, totalEvents: {{query: all}}}}
overrides:
  local:
    description: {said}
"""
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: board-{number}}}
spec:
  dashboard:
    name: Board {number}
    description: {said}
    layout: {{sections: []}}
"""
EXPORTED = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: board-{number}}}
spec: {{dashboard: "${{file:exports/board-{number}.json}}"}}
"""
EXPORT = '{{"name": "Board {number}", "description": "{text}", "layout": {{"sections": []}}}}'
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {{name: "view-{number}-${{each:region}}"}}
forEach: {{var: regions}}
spec:
  name: {text} of ${{var:team}} in ${{each:region}}
  timeSelection: {{quickSelection: {{seconds: {seconds}}}}}
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
      policy: {{name: {name}, description: {text}, priority: PRIORITY_TYPE_{priority}}}
"""


def alert_id(number: int) -> str:
    """Give the id that the service has for an alert."""
    return str(UUID(int=(0xA1E57 << 100) + (4 << 76) + (8 << 60) + number))


ALERT_IDS = tuple(alert_id(number) for number in range(3))


@dataclass
class RandomWorkspace:
    """The choices that make a workspace, each by itself: an edit chooses some of them anew."""

    random: Random
    chosen: dict[str, str] = field(default_factory=dict)

    def edit(self, share: float = 0.35) -> None:
        """Choose a share of all again; the first time, choose all."""
        for key, choices in self._choices().items():
            if key not in self.chosen or self.random.random() < share:
                self.chosen[key] = self.random.choice(choices)

    def _choices(self) -> dict[str, list[str]]:
        # What one manifest declares, none of it in one case of three.
        texts = ["One", "Two", "Höhe 3"]
        made = {"team": ["payments", "search"], "policies": ["", "a", "ab", "ba", "abc", "cab"]}
        made |= {f"priority-{name}": ["HIGH", "LOW"] for name in "abc"}
        for kind in ("alert", "slo", "board", "view"):
            for number in range(3):
                made[f"{kind}-{number}"] = ["yes", "yes", "no"]
                made[f"{kind}-{number}-text"] = texts
                made[f"{kind}-{number}-said"] = [
                    "plain",
                    "other",
                    f"see ${{secret:{SECRET}}}",
                    "about ${var:team}",
                ]
        for number in range(3):
            made[f"slo-{number}-target"] = ["99", "99.5"]
            made[f"view-{number}-seconds"] = ["900", "901"]
            made[f"board-{number}-form"] = ["plain", "file"]
        return made

    def write(self, root: Path, project: str = PROJECT) -> None:
        """Write it into a folder, from which what it wrote before is removed."""
        for old in (*root.glob("*.yaml"), *root.glob("exports/*.json")):
            old.unlink()
        workspace = Workspace(root)
        workspace.settle(project.format(team=self.chosen["team"]))
        forms = {"alert": ALERT, "slo": SLO, "view": VIEW}
        for kind in ("alert", "slo", "board", "view"):
            for number in range(3):
                if self.chosen[f"{kind}-{number}"] == "no":
                    continue
                values = self._values(f"{kind}-{number}", number)
                form = forms.get(kind, DASHBOARD)
                if kind == "board" and values["form"] == "file":
                    form = EXPORTED
                    export = EXPORT.format(number=number, text=values["text"])
                    workspace.write(f"exports/board-{number}.json", export)
                workspace.write(f"{kind}-{number}.yaml", form.format(**values))
        if self.chosen["policies"]:
            workspace.write("policies.yaml", POLICIES + self._policies())

    def _values(self, prefix: str, number: int) -> dict[str, str]:
        own = {
            key.removeprefix(f"{prefix}-"): value
            for key, value in self.chosen.items()
            if key.startswith(f"{prefix}-")
        }
        # An alert may name the dashboard of its number, whose id nobody knows beforehand.
        if prefix.startswith("alert") and self.chosen[f"board-{number}"] == "yes":
            own["said"] = f"look at ${{ref:Dashboard/board-{number}}}, {own['said']}"
        return {**own, "number": str(number), "uuid": alert_id(number)}

    def _policies(self) -> str:
        return "".join(
            POLICY.format(name=name, text="d", priority=self.chosen[f"priority-{name}"])
            for name in self.chosen["policies"]
        )
