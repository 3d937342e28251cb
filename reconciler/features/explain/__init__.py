"""Explanations of every field and every code."""
