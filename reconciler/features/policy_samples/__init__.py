"""Samples of logs that log policies are checked with. Source: docs/policy-impact.md."""
