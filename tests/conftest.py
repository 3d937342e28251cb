"""How many random examples a run tries: `--hypothesis-profile=long` tries many."""

from hypothesis import settings

# A loaded machine is no fault of the code, so no example has a deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("long", deadline=None, max_examples=4_000)
settings.load_profile("short")
