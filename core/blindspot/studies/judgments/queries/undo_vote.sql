-- Take back the rater's last answer to one of some items; $among of NULL is all.
DELETE FROM judgment_vote
WHERE set_id = $set_id AND session = $session AND rater_key = $rater_key
      AND item_no = (
          SELECT item_no FROM judgment_vote
          WHERE set_id = $set_id AND session = $session AND rater_key = $rater_key
                AND ($among IS NULL OR list_contains($among::INTEGER[], item_no))
          ORDER BY voted_at DESC, item_no DESC
          LIMIT 1
      )
RETURNING item_no
