"""The process of a run: its git calls, key, cache, streams, progress and fail points."""
