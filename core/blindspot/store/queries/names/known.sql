-- Models and datasets of the store, in order of first appearance, and the names that users gave them.
WITH known AS (
    SELECT 'model' AS kind, encoder AS reference, min(run_seq) AS place FROM run WHERE status = 'done' GROUP BY encoder
    UNION ALL
    SELECT 'model', reference, NULL FROM encoder_reference
    UNION ALL
    SELECT 'dataset', dataset, min(run_seq) FROM run WHERE status = 'done' GROUP BY dataset
    UNION ALL
    SELECT 'dataset', dataset, NULL FROM dataset_alias
    UNION ALL
    SELECT kind, reference, NULL FROM display_name
)
SELECT known.kind, known.reference, any_value(display_name.name)
FROM known LEFT JOIN display_name USING (kind, reference)
GROUP BY known.kind, known.reference
ORDER BY min(place) NULLS LAST, known.kind, known.reference
