"""Lint: checks of practice, which warn of what works but misleads. Source: docs/practice.md."""
