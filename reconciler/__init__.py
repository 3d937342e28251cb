"""Alerts, SLOs, dashboards, log policies and saved views as code."""

__version__ = "0.1.0"
