"""Doing what a plan says: batches, journal, stop rules. Never plans."""
