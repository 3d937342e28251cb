"""`reconciler explain`: explain a field or a code, or show a manifest with all that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style
from reconciler.errors import InvalidInput, UsageError
from reconciler.operations.open_project import Options
from reconciler.report.explanations.pages import Explanation, code_lines, explanation, spelled
from reconciler.report.safe import safe

if TYPE_CHECKING:
    from reconciler.features.explain.field_reference import Field, Several


@click.command
@click.argument("words", nargs=-1, required=True, metavar="FIELD|CODE")
@options.connected
@click.option(
    "--recursive",
    is_flag=True,
    help="List the fields of all levels below, not only those of the next level.",
)
@click.option(
    "--expanded",
    is_flag=True,
    help="Show the manifest of a Kind/name with overrides, variables and files put in.",
)
@options.formats("text", "json")
def explain(
    words: tuple[str, ...], *, options: Options, recursive: bool, expanded: bool, form: str
) -> int:
    """Explain a field or a code, with an example, or show a manifest with all that it uses.

    A field is written as SLO.grouping.labels, metadata.ids or reconciler.yaml environments.guards.
    The end of a path is enough if no other path ends with it. A value that fields may have is
    accepted too. A code is that of a complaint (M303), of a rule of the project file (R/owner), of
    a guard (too-many-changes) or of how a command ended (exit-11).

    With --expanded, the argument is a Kind/name. Its manifest is shown with overrides, items,
    variables and files filled in. Secrets and references stay expressions.
    """
    if expanded:
        return _print_expanded(words, options, is_plain=not recursive and form == "text")
    code = explanation(spelled().get(words[0].casefold(), "")) if len(words) == 1 else None
    if code is not None and form == "text" and _is_plain(options):
        return data(
            "".join(f"{line}\n" for line in code_lines(code, stdout_style(verbose=options.verbose)))
        )
    from reconciler.features.explain.explain_formats import (  # noqa: PLC0415 - models are read when they are shown
        explained_json,
        explained_text,
    )

    subject = _subject(words, options)
    if form == "json":
        return data(explained_json(subject, recursive=recursive))
    return data(explained_text(subject, stdout_style(verbose=options.verbose), recursive=recursive))


def _subject(words: tuple[str, ...], options: Options) -> Field | Explanation | Several:
    """Return what the words name. Raises UsageError where they name nothing."""
    head, slash, _ = words[0].partition("/")
    if len(words) == 1 and slash:
        from reconciler.operations.added_by_features import EXPLANATIONS  # noqa: PLC0415 - rare

        if (prefix := f"{head}{slash}") in EXPLANATIONS:
            return EXPLANATIONS.load(prefix)(words[0], options)
    if not _is_plain(options):
        raise UsageError(
            "-e and --project are for --expanded: fields and codes are the same everywhere"
        )
    from reconciler.features.explain.field_reference import look_up  # noqa: PLC0415 - as above

    return look_up(".".join(words))


def _is_plain(options: Options) -> bool:
    return options.environment is None and options.project is None


def _print_expanded(words: tuple[str, ...], options: Options, *, is_plain: bool) -> int:
    from reconciler.features.explain.field_reference import expanded  # noqa: PLC0415 - manifests are read for this alone
    from reconciler.workspace.compose import UnwritableError  # noqa: PLC0415 - as below

    if len(words) > 1 or not is_plain:
        raise UsageError("--expanded takes one Kind/name, and is YAML without another option")
    try:
        text = expanded(options, words[0])
    except UnwritableError as error:
        raise InvalidInput(f"{safe(words[0])} cannot be written out: {safe(error.why)}") from None
    return data(text)
