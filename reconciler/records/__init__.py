"""What the platform says: alert events, cases, incidents, data usage. Reads, and one close."""
