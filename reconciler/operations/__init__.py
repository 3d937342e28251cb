"""Use cases: open a project, check it, plan, apply, look for drift. No click, no printing."""
