"""A loopback server that speaks Ollama's protocol over llama.cpp, for machines without Ollama."""
