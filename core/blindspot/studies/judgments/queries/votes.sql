-- Votes on a set, oldest first; of one session ('' for those outside of any), or of all. A rater who came back as
-- "anna" goes by the name first given.
SELECT session,
       first_value(rater) OVER (PARTITION BY session, rater_key ORDER BY voted_at, item_no) AS rater,
       item_no, option_no, seconds, voted_at
FROM judgment_vote
WHERE set_id = $set_id AND ($session IS NULL OR session = $session)
      AND NOT list_contains($without::VARCHAR[], session)
ORDER BY voted_at, session, rater_key, item_no
