-- Every event of some runs over one set of events: a row per run and event. {table} is the diagnostic's own table.
SELECT run.run_id, result.* EXCLUDE (run_seq),
       agent.text AS agent, verb.text AS verb, typical.text AS typical, atypical.text AS atypical
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_event AS event ON event.dataset_seq = dataset.dataset_seq AND event.item_no = result.item_no
JOIN dataset_text AS agent ON agent.dataset_seq = dataset.dataset_seq AND agent.text_no = event.agent_no
JOIN dataset_text AS verb ON verb.dataset_seq = dataset.dataset_seq AND verb.text_no = event.verb_no
JOIN dataset_text AS typical ON typical.dataset_seq = dataset.dataset_seq AND typical.text_no = event.typical_no
JOIN dataset_text AS atypical ON atypical.dataset_seq = dataset.dataset_seq AND atypical.text_no = event.atypical_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
