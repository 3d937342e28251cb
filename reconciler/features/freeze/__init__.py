"""Freezes: times and incidents during which an apply writes nothing. Source: docs/freeze.md."""
