"""`reconciler graph`: references between resources, and users of metrics, labels and log fields."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.console import data, stderr_style, stdout_style, words
from reconciler.errors import InvalidInput, UsageError
from reconciler.features.graph.graph import (
    Graph,
    graph_dot,
    graph_json,
    graph_mermaid,
    graph_text,
    read_graph,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Ref, Selected
from reconciler.operations.open_project import Options
from reconciler.report.complaints.document import complaints_text
from reconciler.report.counts import describe_selection
from reconciler.report.safe import safe
from reconciler.syntax.suggestions import nearest


@click.command
@options.reading
@options.selecting
@options.formats("text", "dot", "mermaid", "json")
@click.option(
    "--metric",
    metavar="NAME",
    help="Only resources with a query of this metric; `*` and `?` match any "
    "characters and one character.",
)
@click.option(
    "--uses",
    metavar="NAME",
    help="Only resources that use this metric, label or log field, or that refer "
    "to this Kind/name.",
)
def graph(*, options: Options, form: str, metric: str | None, uses: str | None) -> int:
    """Show what refers to what, and which metrics, labels and log fields queries use.

    Without -e, it is that of all environments. No service, key or secret is needed.
    """
    if metric is not None and uses is not None:
        raise UsageError("--metric and --uses exclude each other: --uses finds metrics too")
    whole, checked = read_graph(options)
    if checked.workspace.errors:
        words(complaints_text(checked.workspace.errors, stderr_style(verbose=options.verbose)))
    shown = whole
    if metric is not None:
        shown = whole.with_metric(metric)
        _tell(metric, whole.metrics, shown, options)
    elif uses is not None:
        shown = whole.with_name(uses)
        _check_is_declared(uses, whole, shown)
        _tell(uses, whole.names, shown, options)
    if checked.selected is not None and not options.quiet:
        words(safe(describe_selection(checked.selected)))
    text = _rendered(shown, form, options, checked.selected)
    return data(text, ending=InvalidInput.exit_code if checked.workspace.errors else 0)


def _check_is_declared(name: str, whole: Graph, shown: Graph) -> None:
    """Raise UsageError for a typo; otherwise "nothing uses it" would be the answer."""
    ref = Ref.parse(name)
    declared = [str(manifest.ref) for manifest in whole.manifests]
    is_glob = any(wildcard in name for wildcard in "*?[")
    if ref is None or shown.manifests or is_glob or name in declared:
        return
    if ref.kind in BY_NAME or nearest(ref.kind, BY_NAME):
        near = nearest(name, declared)
        hint = f": did you mean `{safe(near)}`?" if near else ""
        raise UsageError(f"nothing declares `{safe(name)}`{hint}")


def _tell(name: str, known: list[str], shown: Graph, options: Options) -> None:
    """Report that nothing was found, and suggest a similar name."""
    if shown.manifests or options.quiet:
        return
    near = nearest(name, known)
    hint = f": did you mean `{safe(near)}`?" if near else ""
    words(f"nothing uses `{safe(name)}`{hint}")


def _rendered(shown: Graph, form: str, options: Options, selected: Selected | None) -> str:
    match form:
        case "dot":
            return graph_dot(shown)
        case "mermaid":
            return graph_mermaid(shown)
        case "json":
            return graph_json(shown, selected)
        case _:
            return graph_text(shown, stdout_style(verbose=options.verbose))
