"""How fast and how good the jump models are (GO13)."""
