"""Features: each is one folder with all that belongs to it, and can be deleted.

`FEATURES` is the one table of them: feature, sort of row, key, and `module:name` in the feature's
folder. The core finds rows through `reconciler/runtime/rows.py` and imports no feature. To delete a
feature, delete its folder and its entry here. Imports nothing, as `--help` reads it.
"""

from __future__ import annotations

FEATURES: dict[str, dict[str, dict[str, str]]] = {
    "adopt": {
        "commands": {
            "adopt": "command:adopt Write live edits into the manifests, comments kept.",
        },
        "ci-proposals": {
            "adopt": "job_proposal:proposal",
        },
    },
    "against": {},
    "audit": {},
    "doctor": {},
    "explain": {},
    "fmt": {},
    "freeze": {},
    "graph": {},
    "history": {
        "subcommands": {
            "journal stats": "command:stats",
        },
    },
    "import_": {},
    "lint": {},
    "policy_samples": {},
    "rollback": {
        "commands": {
            "rollback": "command:rollback Put back what was declared before a run.",
        },
        "ways-back": {
            "rollback": "roll_back:before_of",
        },
    },
    "rules": {},
    "track_record": {},
    "watch": {
        "commands": {
            "watch": "command:watch Tell whether alerts are noisier since a run.",
        },
        "ci-steps": {
            "watch": "job_step:WATCH",
        },
        "ci-inputs": {
            "watch-for": "job_step:read_wait",
        },
    },
}
