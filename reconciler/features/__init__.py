"""Features: each is one folder with all that belongs to it, and can be deleted."""
