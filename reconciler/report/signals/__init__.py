"""What the platform and the forge say beside a plan: one file a subject."""
