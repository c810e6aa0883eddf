"""What stages do, one file each: a function `run(work)`."""
