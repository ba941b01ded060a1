"""How a Python source becomes Facts: syntax alone, nothing of the user's is ever imported or run."""
