-- Changes whenever a finished run, a judgment's set or a vote comes, goes or is another one, and when a session's
-- results are revealed or hidden.
SELECT (SELECT count(*) FROM run WHERE status = 'done'),
       (SELECT coalesce(bit_xor(hash(run_id, dataset_digest, finished_at)), 0) FROM run WHERE status = 'done'),
       (SELECT coalesce(bit_xor(hash(set_id)), 0) FROM judgment_set),
       (SELECT count(*) FROM judgment_vote),
       (SELECT coalesce(bit_xor(hash(set_id, session, rater_key, item_no, option_no, voted_at)), 0)
        FROM judgment_vote),
       (SELECT coalesce(bit_xor(hash(name, revealed)), 0) FROM judgment_session)
