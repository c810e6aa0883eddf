"""Classification of phrase movements: the tables and figures of NI11 §4.1 and AL14 §4.1 for any bitext."""
