"""``reflexion doctor``: looks at everything that a run needs, and shows all of it, whatever is wrong with one part."""
