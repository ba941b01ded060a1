"""Everything that talks to a model server: find it, ask it, guard what it answers."""
