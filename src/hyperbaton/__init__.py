"""hyperbaton learns how words and phrases move between languages, and translates with what it learned."""
