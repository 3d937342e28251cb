"""Audit: declared resources compared with recorded events. Source: docs/audit.md."""
