"""Environments that the matrix of a CI system has jobs for. No requests are sent."""

from __future__ import annotations

from reconciler.errors import InvalidInput, UsageError
from reconciler.operations.open_project import Options, open_project
from reconciler.project import MOST_SHARDS, SHARD, Environment, choose_environment


def environments_of(options: Options, count: int) -> list[str]:
    """Return the environments that `count` shards can be applied to, sorted by name.

    Unless the options name one, these are all environments without an embedded emulator, which
    lives on one machine. Raises UsageError for more jobs than a matrix allows, or none. Raises
    InvalidInput where an environment does not have a journal for each shard.
    """
    project = open_project(options)
    found = {
        name: environment
        for name, environment in project.settings.environments.items()
        if environment.emulator is None
    }
    if options.environment is not None:
        found = dict([choose_environment(project, options.environment)])
    if not found:
        raise UsageError("the project file has no environment with a service: name one with `-e`")
    if (jobs := len(found) * count) > MOST_SHARDS:
        raise UsageError(f"{jobs} jobs are more than the {MOST_SHARDS} that a matrix may have")
    wrong = [
        message
        for name, environment in sorted(found.items())
        if (message := _wrong(name, environment, count))
    ]
    if wrong:
        raise InvalidInput("\n".join(wrong))
    return sorted(found)


def _wrong(name: str, environment: Environment, count: int) -> str:
    """Return why the journal of an environment does not fit the number of shards, "" if it does."""
    journal = environment.journal or ""
    if count > 1 and SHARD not in journal:
        return (
            f"environment `{name}` has one journal, and its lock lets one shard work at a time: "
            f"write {SHARD} into its `journal:`, as s3://BUCKET/{name}-{SHARD}"
        )
    if count == 1 and SHARD in journal:
        return (
            f"environment `{name}` has a journal for each shard, and `--shards 1` selects none: "
            f"take {SHARD} out of its `journal:`, or say how many shards there are"
        )
    return ""
