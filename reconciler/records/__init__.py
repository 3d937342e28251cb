"""Records of the platform: alert events, cases, incidents, data usage. Reads, and one close."""
