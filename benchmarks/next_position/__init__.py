"""How fast and how good the models of jumps are (GO13)."""
