"""How fast and how good the learners are, beside scikit-learn's and liblinear: `python -m benchmarks.learn --help`."""
