"""Speed and accuracy of the jump models (GO13)."""
