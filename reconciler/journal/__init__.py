"""The only memory: what was sent, and what became of it. Source: docs/journal.md."""
