"""Language models: time and memory of estimation, reading and scoring, compared with KenLM if it is installed."""
