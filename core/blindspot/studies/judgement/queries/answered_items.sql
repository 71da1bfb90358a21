SELECT item_no FROM judgement_vote WHERE set_id = $set_id AND session = $session AND rater_key = $rater_key
