"""What of a change is drawn: grids, orders, objectives."""
