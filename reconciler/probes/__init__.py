"""Probes: requests that find out how a service behaves, and never change it."""
