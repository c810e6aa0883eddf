"""Speed and accuracy of the learners, compared with scikit-learn's and liblinear: `python -m benchmarks.learn --help`."""
