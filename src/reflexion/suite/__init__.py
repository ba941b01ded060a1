"""A pytest suite and a candidate: whether the suite is sound, and whether the candidate passes it. No model decides."""
