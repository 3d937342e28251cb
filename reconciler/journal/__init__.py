"""The only memory: what was sent, and what became of it. Source: failure-cases.md, part 2."""
