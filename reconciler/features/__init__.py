"""Features: each is one folder with all that belongs to it, and can be deleted.

`FEATURES` is the one table of them: feature, sort of row, key, and `module:name` in the feature's
folder. The core finds rows through `reconciler/runtime/rows.py` and imports no feature. To delete a
feature, delete its folder and its entry here. Imports nothing, as `--help` reads it.
"""

from __future__ import annotations

FEATURES: dict[str, dict[str, dict[str, str]]] = {
    "adopt": {},
    "against": {},
    "audit": {},
    "doctor": {},
    "explain": {},
    "fmt": {},
    "freeze": {
        "environment-settings": {
            "freeze": "freeze_settings:FREEZE",
        },
        "guards": {
            "freeze": "freeze_guard:with_freeze",
        },
    },
    "graph": {},
    "history": {},
    "import_": {},
    "lint": {
        "workspace-checks": {"manifests": "lint:practice_complaints"},
        "codes-off-by-default": {"L": "lint:off_by_default"},
    },
    "policy_samples": {
        "environment-settings": {
            "policySamples": "sample_settings:POLICY_SAMPLES",
        },
        "guards": {
            "policySamples": "failing_samples:with_failing",
        },
    },
    "rollback": {
        "guards": {
            "undoes-rollback": "undone_rollbacks:with_undone",
        },
    },
    "rules": {
        "project-settings": {
            "rules": "rule_settings:RULES",
        },
        "guards": {
            "rules": "rule_guards:with_rules",
        },
        "workspace-checks": {"rules": "rule_checks:rule_complaints"},
        "project-checks": {"rules": "rule_checks:early_flaws"},
    },
    "track_record": {
        "environment-settings": {
            "trackRecord": "track_record_settings:TRACK_RECORD",
        },
    },
    "watch": {
        "environment-settings": {
            "watch": "watch_settings:WATCH",
        },
    },
}
