"""Applying a plan: batches, journal, stop rules. It never plans."""
