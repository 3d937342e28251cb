"""The nouns: what is declared, what is known of the live side, what would be done. Pure."""

from reconciler.resource.change import Action, Change, Evidence
from reconciler.resource.declared import Manifest, Source
from reconciler.resource.drift import Drift
from reconciler.resource.naming import Ref, RemoteId
from reconciler.resource.observation import Absent, Observation, Remembered, Seen, Unknown
from reconciler.resource.outcome import (
    InDoubt,
    Outcome,
    Overtaken,
    Refused,
    Skipped,
    Unchanged,
    Written,
)
from reconciler.resource.plan import Objection, Orphan, Plan, UnsettledCreate

__all__ = [
    "Absent",
    "Action",
    "Change",
    "Drift",
    "Evidence",
    "InDoubt",
    "Manifest",
    "Objection",
    "Observation",
    "Orphan",
    "Outcome",
    "Overtaken",
    "Plan",
    "Ref",
    "Refused",
    "Remembered",
    "RemoteId",
    "Seen",
    "Skipped",
    "Source",
    "Unchanged",
    "Unknown",
    "UnsettledCreate",
    "Written",
]
