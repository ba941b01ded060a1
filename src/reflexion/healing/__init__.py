"""``reflexion code --fix``: a module that is there, healed against its user's own tests."""
