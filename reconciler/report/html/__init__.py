"""Plans and drift as one HTML file that loads nothing else. Pure."""

from reconciler.report.html.page import ReportOccasion
from reconciler.report.html.report_pages import drift_html, plan_html

__all__ = ["ReportOccasion", "drift_html", "plan_html"]
