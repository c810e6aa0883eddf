"""A translation service over HTTP: systems loaded once, requests batched, in dialects that existing clients speak."""
