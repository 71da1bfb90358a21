-- Every copy has other scores, so that they can be ordered; counts are the same.
INSERT INTO metric
SELECT copied.run_seq, metric.name,
       metric.value * CASE WHEN metric.value BETWEEN 0 AND 1 THEN 0.9 + 0.1 * (hash(copied.run_id) % 1000) / 1000 ELSE 1 END
FROM copied JOIN metric ON metric.run_seq = copied.source_seq
ORDER BY copied.run_seq
