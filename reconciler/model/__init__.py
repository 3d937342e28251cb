"""Domain types: declared resources, observations of live, changes. Pure.

All public names of five files are used from here. Each file is loaded when one of its names is
first used: a hundred classes take a tenth of a short run, and a run that only reads manifests needs
five of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.model.guards import *  # noqa: F403 - a second list of the names would differ
    from reconciler.model.manifest import *  # noqa: F403 - as above
    from reconciler.model.observation import *  # noqa: F403 - as above
    from reconciler.model.plan import *  # noqa: F403 - as above
    from reconciler.model.reason import *  # noqa: F403 - as above

_FILES = ("manifest", "observation", "guards", "reason", "plan")
"""The files that are searched for a name; a file comes after the files that it needs."""


def __getattr__(name: str) -> object:
    """Load the file that defines a name. Raises AttributeError for an unknown name."""
    for file in _FILES if not name.startswith("_") else ():
        found = getattr(import_module(f"{__name__}.{file}"), name, None)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
