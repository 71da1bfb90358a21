"""Result packs: finished runs as files, computed without a store, by any number of machines.

Whoever distributes work (``blindspot sweep --shard``, Ray, Slurm) needs three things:

1. ``groups.of_requests(requests, settings, workers)`` gives ``Group`` objects, each with the requests of one model. A
   group is what a worker should get at once: its model is loaded once, and each text is encoded once.
   ``groups.shard(groups, i, n)`` picks those of one of ``n`` workers. No store is asked: every machine finds the same.
2. ``runs.computing.compute(requests, settings, results.PackResults(folder))`` computes requests (of a group, say)
   without opening any DuckDB file and writes a pack per run into ``folder`` (``folders.folder_at(address)``: a path,
   ``memory://``, ``s3://``). It yields a ``Done`` or a ``Failed`` per request; what the folder has already is not
   computed again. ``RunRequest``, ``Group`` and ``Settings`` can be pickled.
3. ``importing.import_packs(folder, repository)`` takes packs into a store, each exactly once;
   ``importing.import_pack(folder, repository, run_id)`` takes one.
"""
