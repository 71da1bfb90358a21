-- Every content that a dataset's name has referred to, and the other names of the same content.
WITH known AS (
    SELECT dataset, dataset_digest FROM run
    UNION SELECT dataset, dataset_digest FROM dataset
    UNION SELECT dataset, dataset_digest FROM dataset_alias
)
SELECT mine.dataset_digest,
       list(other.dataset ORDER BY other.dataset) FILTER (other.dataset IS NOT NULL)
FROM known AS mine
LEFT JOIN known AS other ON other.dataset_digest = mine.dataset_digest AND other.dataset <> mine.dataset
WHERE mine.dataset = $dataset
GROUP BY mine.dataset_digest
ORDER BY mine.dataset_digest
