-- Votes on a set, oldest first; of one session ('' for those outside of any), or of all.
SELECT session, rater, item_no, option_no, seconds, voted_at
FROM judgement_vote
WHERE set_id = $set_id AND ($session IS NULL OR session = $session)
ORDER BY voted_at, session, rater_key, item_no
