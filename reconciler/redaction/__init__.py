"""Redacted live documents, and templates that are resolved just before sending."""
