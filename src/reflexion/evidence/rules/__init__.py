"""Rules: Claims against Facts, yielding Findings."""
