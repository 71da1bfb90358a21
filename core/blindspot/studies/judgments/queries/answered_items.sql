SELECT item_no FROM judgment_vote WHERE set_id = $set_id AND session = $session AND rater_key = $rater_key
