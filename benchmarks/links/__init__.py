"""Word links and what is made from them."""
