"""What stages do, one file each: a function `run(work)`, and a VERSION to raise when its results change."""
