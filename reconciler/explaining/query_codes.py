"""L9: queries that cannot be parsed."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import HEAD, diagnostic, manifest


def _board(query: str) -> str:
    return f"""\
{HEAD}kind: Dashboard
metadata: {{name: shop}}
spec:
  dashboard:
    name: Shop
    layout:
      sections:
        - rows:
            - appearance: {{height: 10}}
              widgets:
                - title: Errors
                  definition:
                    gauge: {{query: {query}}}
"""


def _metrics(query: str) -> str:
    return _board(f"{{metrics: {{promqlQuery: {{value: '{query}'}}}}}}")


def _logs(query: str) -> str:
    return _board(f"{{logs: {{luceneQuery: {{value: '{query}'}}}}}}")


QUERY_CODES: Final = (
    diagnostic(
        "L901",
        "A PromQL query cannot be parsed; the complaint stands at the character where the reader "
        "stopped. It is a warning, as a service may know more than PromQL has.",
        "The service may take the write, and an alert or a widget that asks nothing stays silent.",
        manifest(_metrics("sum(rate(http_errors_total[5m])")),
        manifest(_metrics("sum(rate(http_errors_total[5m]))")),
        page="graph",
    ),
    diagnostic(
        "L902",
        "A Lucene query cannot be parsed; the complaint stands at the character where the reader "
        "stopped. It is a warning, as services differ in what they take.",
        "The service may take the write, and find no logs, or other logs than were meant.",
        manifest(_logs("level:error AND (app:shop")),
        manifest(_logs("level:error AND (app:shop)")),
        page="graph",
    ),
)
