"""Which environments the matrix of a CI system has jobs for. Nothing is asked of anybody."""

from __future__ import annotations

from reconciler.errors import InvalidInput, UsageError
from reconciler.operations.open_project import Options, open_project
from reconciler.project import MOST_SHARDS, SHARD, Environment, choose_environment


def environments_of(asked: Options, count: int) -> list[str]:
    """Give the environments that `count` shards can each be applied to, in their order by name.

    Without one that was asked for these are all, but those with an emulator in the process: they
    live on one machine. Raises UsageError for more jobs than a matrix has, or none, and
    InvalidInput where the journal of an environment is not one for each shard.
    """
    project = open_project(asked)
    found = {
        name: environment
        for name, environment in project.settings.environments.items()
        if environment.emulator is None
    }
    if asked.environment is not None:
        found = dict([choose_environment(project, asked.environment)])
    if not found:
        raise UsageError("the project file has no environment with a service: name one with `-e`")
    if (jobs := len(found) * count) > MOST_SHARDS:
        raise UsageError(f"{jobs} jobs are more than the {MOST_SHARDS} that a matrix may have")
    wrong = [
        said
        for name, environment in sorted(found.items())
        if (said := _wrong(name, environment, count))
    ]
    if wrong:
        raise InvalidInput("\n".join(wrong))
    return sorted(found)


def _wrong(name: str, environment: Environment, count: int) -> str:
    """Say why the journal of an environment does not go with so many shards, "" where it does."""
    journal = environment.journal or ""
    if count > 1 and SHARD not in journal:
        return (
            f"environment `{name}` has one journal, whose lock lets one shard work at a time: "
            f"write {SHARD} into its `journal:`, as s3://BUCKET/{name}-{SHARD}"
        )
    if count == 1 and SHARD in journal:
        return (
            f"environment `{name}` has a journal for each shard, and `--shards 1` selects none: "
            f"take {SHARD} out of its `journal:`, or say how many shards there are"
        )
    return ""
