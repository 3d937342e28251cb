"""Baseline: complaints that a team accepted when it began. Source: docs/baseline.md."""
