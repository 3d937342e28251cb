"""Insights: what the platform's own records say about declared resources, before and after.

Source: docs/evidence.md.
"""
