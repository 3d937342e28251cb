"""`reconciler explain`: what a field of a manifest or a code means."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from reconciler.commands import options
from reconciler.console import data, stdout_style
from reconciler.errors import UsageError

MOST_OFFERED = 200


def _offered(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer fields one step at a time, and codes whole."""
    del ctx, param
    from reconciler.explaining.looking_up import addresses  # noqa: PLC0415 - for a shell alone

    depth = incomplete.count(".")
    begun = incomplete.casefold()
    found = (one for one in addresses() if one.count(".") == depth)
    near = [one for one in found if one.casefold().startswith(begun)]
    return [CompletionItem(one) for one in near[:MOST_OFFERED]]


@click.command
@click.argument("words", nargs=-1, required=True, metavar="FIELD|CODE", shell_complete=_offered)
@click.option("--recursive", is_flag=True, help="List every field below, not only the next ones.")
@options.formats("text", "json")
@options.verbose
@options.quiet
def explain(
    words: tuple[str, ...], *, recursive: bool, form: str, verbose: bool, quiet: bool
) -> int:
    """Say what a field or a code means, with an example.

    A field is SLO.grouping.labels, metadata.ids, reconciler.yaml environments.guards, or the end
    of one that nothing else ends with. A code is that of a complaint (M303), of a guard
    (too-many-changes) or of how a command ended (exit-11).
    """
    del quiet
    from reconciler.explaining.looking_up import Nothing, look_up  # noqa: PLC0415 - as below
    from reconciler.report.explained import (  # noqa: PLC0415 - models are read when they are shown
        explained_json,
        explained_text,
    )

    subject = look_up(".".join(words))
    if isinstance(subject, Nothing):
        hint = f": did you mean `{subject.near}`?" if subject.near else ""
        where = "" if subject.near else "; `reconciler explain SLO --recursive` lists fields"
        raise UsageError(f"there is no field or code `{subject.typed}`{hint}{where}")
    if form == "json":
        return data(explained_json(subject, recursive=recursive))
    return data(explained_text(subject, stdout_style(verbose=verbose), recursive=recursive))
