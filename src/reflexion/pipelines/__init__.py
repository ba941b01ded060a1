"""One file per pipeline: state, nodes, router, build(); each reads top to bottom."""
