"""Drawings of a change: grids, orders, objectives."""
