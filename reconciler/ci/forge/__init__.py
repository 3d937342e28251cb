"""The forge that hosts the repository: its events, pull requests and comments.

Only `ci` uses it. Source: docs/ci.md.
"""
