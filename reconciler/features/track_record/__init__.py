"""Track records: what alerts did lately, next to a plan. Source: docs/track-record.md."""
