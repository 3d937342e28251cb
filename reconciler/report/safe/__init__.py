"""The one place that makes foreign text harmless, one file for each sink (S8).

Foreign is all that a manifest, the service, the network or a file name said. No
other module escapes by itself. Secrets are another matter: `api.secret.Redaction`
covers them at the last sink. Pure.
"""

from reconciler.report.safe.file_name import for_file_name
from reconciler.report.safe.html import for_html
from reconciler.report.safe.terminal import ELLIPSIS, columns, cut, safe, safe_json
from reconciler.report.safe.workflow import for_workflow_data, for_workflow_property

__all__ = [
    "ELLIPSIS",
    "columns",
    "cut",
    "for_file_name",
    "for_html",
    "for_workflow_data",
    "for_workflow_property",
    "safe",
    "safe_json",
]
