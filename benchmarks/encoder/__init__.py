"""Training of `encoder` on a machine that has only NumPy and PyTorch, and the contribution of each part of the model.

    python -m benchmarks.encoder pack SRC TGT LINKS -o FOLDER --source-tags TAGS --held-out NAME=SRC,TGT,LINKS,TAGS
    PYTHONPATH=src:. python -m benchmarks.encoder.gpu FOLDER OUT --jobs '420000 all' '200000 remaining' --keep '420000 all'
    python -m benchmarks.encoder unpack OUT SRC TGT LINKS --source-tags TAGS --job 420000-all -o MODEL

`pack` writes the input of training. `gpu.py` trains one network for each job, several at a time, prints a line of figures
for each, and writes the arrays of those named by --keep. `unpack` builds a model from these arrays.
"""
