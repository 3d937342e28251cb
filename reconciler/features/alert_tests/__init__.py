"""Tests of alerts: the log lines on which an alert must fire, and those on which it must not.

Source: docs/alert-tests.md; the readings of the service are in docs/assumptions.md.
"""
