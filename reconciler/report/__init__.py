"""Plans, outcomes and complaints as text, markdown and JSON. Pure."""
