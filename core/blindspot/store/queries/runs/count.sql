-- How many runs there are per diagnostic, dataset and status.
SELECT diagnostic, dataset, status, count(*)
FROM run
GROUP BY diagnostic, dataset, status
ORDER BY diagnostic, dataset, status
