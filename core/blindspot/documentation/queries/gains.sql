-- Pairs that minilm ranks first and minilm-static does not
SELECT a.item_no, 1 + a.greater AS rank_of_minilm, 1 + b.greater AS rank_of_static
FROM {evalrank} AS a
JOIN run AS run_a ON run_a.run_seq = a.run_seq AND run_a.encoder = 'minilm' AND run_a.transform = 'none'
JOIN run AS run_b
    ON run_b.encoder = 'minilm-static' AND run_b.transform = 'none'
    AND run_b.dataset_digest = run_a.dataset_digest AND run_b.params = run_a.params
JOIN {evalrank} AS b ON b.run_seq = run_b.run_seq AND b.item_no = a.item_no
WHERE a.greater = 0 AND b.greater > 0;
