"""The journal, the only memory: what was sent, and the outcomes. Source: docs/journal.md."""
