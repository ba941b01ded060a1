"""Development scripts: generated pages and what the tests install."""
