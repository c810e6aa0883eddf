"""The aligner `neural`: error rates against hand-made links, training on another machine, and speed.

    python -m benchmarks.align.neural pack DATA -o packed --pairs 100000
    PYTHONPATH=src:. python -m benchmarks.align.neural.gpu packed/ja-en.npz -o trained --hidden 32 64 --device cuda
    python -m benchmarks.align.neural score DATA packed trained

`pack` trains the hidden Markov model and writes it, with the sentences and posteriors that the networks learn from.
`gpu.py` needs only NumPy and PyTorch. `score` prints error rates and the speed of linking.
"""
