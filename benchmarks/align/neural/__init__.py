"""A neural aligner, trained on the bitext and on the posteriors of the hidden Markov model: an experiment.

    python -m benchmarks.align.neural pack DATA -o packed --pairs 100000
    python benchmarks/align/neural/train.py packed/ja-en.npz -o trained --network teacher
    python -m benchmarks.align.neural score packed trained

`pack` trains the built-in aligner on the gold sentences and the training text of each gold set, as
benchmarks.align.published does, and writes words and posteriors. `train.py` needs only NumPy and PyTorch, so that a machine
with only these can train. `score` prints error rates of the hidden Markov model, of the network, and of both mixed.
"""
