"""What is true, by code alone: facts of a source, claims of a document, and the rules between them."""
