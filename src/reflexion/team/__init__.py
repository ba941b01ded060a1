"""What the code pipeline decides by plain code: what a reply holds, which candidate is best, what goes on disk."""
