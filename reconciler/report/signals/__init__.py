"""Signals of the platform and the forge about a plan, one file for each subject."""
