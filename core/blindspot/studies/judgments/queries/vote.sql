-- An answer to an item that exists; nothing where the rater has answered it, or the item or option is not there.
INSERT INTO judgment_vote (set_id, session, rater_key, rater, item_no, option_no, seconds, voted_at)
SELECT set_id, $session, $rater_key, $rater, item_no, $option_no, $seconds, $voted_at
FROM judgment_item
WHERE set_id = $set_id AND item_no = $item_no
      AND ($option_no IS NULL OR $option_no BETWEEN 0 AND len(options) - 1)
ON CONFLICT DO NOTHING
RETURNING item_no
