"""Complaints about what changed since a revision. Source: docs/commands.md."""
