"""Every table and figure of the paper as an artefact, with a verdict on each of its claims.

An artefact is a folder here with three files; adding one touches no other file.

    spec.toml  name, title, the scenario and what is varied in it. A family (one artefact per data
               set) lists its members under [artefacts.NAME]; `like = "NAME"` inherits another spec.
    jobs.py    jobs(spec): independent computations; numbers(spec, results): what is kept of them;
               show(numbers): tables and drawings, our values beside the published ones.
    claims.py  claims(numbers): what the paper says, and whether our numbers support it.

The engine finds the folders (`artefact`), runs the jobs that have no result yet (`sweep`), writes
numbers and pictures (`run_artefact`) and one page on all artefacts (`page`). Claims are judged with
`verdicts`; the learning artefacts share `method_grid`, those on one round share `single_round`.
"""
