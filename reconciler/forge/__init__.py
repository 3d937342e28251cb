"""The forge that keeps the repository: its events, pull requests and comments.

Only `ci` uses it. Source: pr-experience.md.
"""
