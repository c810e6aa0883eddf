"""Experiments: from an experiment file to results, in stages that are done once, side by side, and never by half.

    plan = make_plan(read_experiment(Path("experiment.toml")))        hyperbaton.run.experiment, hyperbaton.run.plan
    execute(plan, Path("folder"))                                     hyperbaton.run.execute
    finish(plan, Path("folder"))                                      hyperbaton.run.finish

Nothing is imported here: every stage is a process of its own, which loads no more than it needs.
"""
