"""``reflexion models``: what is installed against what the configuration needs, and getting what is missing."""
