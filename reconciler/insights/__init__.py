"""What the platform's own records say of what is declared: before a change, and after it.

Source: docs/evidence.md.
"""
