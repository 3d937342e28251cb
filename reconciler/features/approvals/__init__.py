"""Approvals: signatures of people on exactly one plan, without which nothing is applied.

Whoever holds the key of the service can write to it without this program. Source:
docs/approvals.md.
"""
