"""The experiments of four papers, repeated by the papers' protocols: one folder for each paper.

    python -m papers ni11 --quick -o ni11                   from the root of the checkout
    python -m papers ni11 --data corpora -o ni11

A protocol is a list of cells. A cell is the smallest piece of work with a separate result: for example one model trained
on one part of a text, or one group of systems tuned and compared. Its result is a small JSON file, written when it is
done, so the same command continues an interrupted run. The page is made from the available results.
"""
