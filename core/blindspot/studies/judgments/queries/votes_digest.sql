-- Changes whenever a vote comes, goes or is another one; of one session ('' for those outside of any), or of all.
SELECT count(*), coalesce(bit_xor(hash(session, rater_key, rater, item_no, option_no, voted_at)), 0)
FROM judgment_vote
WHERE set_id = $set_id AND ($session IS NULL OR session = $session)
      AND NOT list_contains($without::VARCHAR[], session)
