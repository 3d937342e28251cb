"""Rules of a team's own, in CEL: judged in a process apart, which is given nothing but JSON.

Source: docs/rules.md.
"""
