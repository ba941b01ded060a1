"""The command ``reflexion check``: documents against their sources, without any model."""
