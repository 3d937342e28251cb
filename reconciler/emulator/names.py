"""Names that another object has, where a profile does not let two have one."""

from reconciler.emulator.endpoint import Call
from reconciler.emulator.errors import ConflictError


def refuse_taken_name(call: Call, kind: str, name: str, query: str, own: object) -> None:
    """Raise ConflictError where `query`, asked with the name and its own id, finds a row."""
    if call.profile.duplicate_names == "conflict" and call.store.row(query, name, own):
        raise ConflictError(f"Already Exists: {kind} with name {name}")
