SELECT item_no, query, part_of_speech, concreteness, category, band, k, options, own
FROM judgment_item
WHERE set_id = $set_id
ORDER BY item_no
