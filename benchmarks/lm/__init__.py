"""Language models: time and memory of estimating, reading and asking them, KenLM beside ours where it is installed."""
