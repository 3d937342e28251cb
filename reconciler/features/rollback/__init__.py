"""Rollback: what was declared before a run, as a plan. Source: docs/rollback.md."""
