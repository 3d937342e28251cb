"""The alerts that watch what changes, on the card of the change. Pure."""

from __future__ import annotations

from reconciler.model import Change, Plan
from reconciler.report.html.element import NOTHING, Markup, element, of_class
from reconciler.report.watcher_formats import names_of
from reconciler.report.words import plural

MOST_NAMED = 50


def watchers_card(plan: Plan, change: Change) -> Markup:
    """Return the watchers of a resource for the card of its change; nothing without any."""
    watchers = plan.watchers.get(change.ref)
    if watchers is None:
        return NOTHING
    names = names_of(watchers)
    items = [element("li", None, element("code", None, name)) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        items.append(element("li", None, f"and {len(names) - MOST_NAMED:,} more"))
    head = element("p", None, f"Watched by {plural(len(names), 'alert')}:")
    return of_class("div", "watched", head, element("ul", None, *items))
