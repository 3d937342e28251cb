"""What the platform's own records say of a plan, for people and programs: one file a subject."""
