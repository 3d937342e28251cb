"""A team's own rules, in CEL: judged in a separate process, which receives only JSON.

Source: docs/rules.md.
"""
