"""Examples of a document: run apart, and what they do compared with what the document says that they do."""
