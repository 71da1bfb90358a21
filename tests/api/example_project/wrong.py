"""What a type checker must refuse: each comment is one that ``mypy --strict`` calls unused where it does not."""

from __future__ import annotations

import blindspot as bs

run = bs.evalrank("lsa", "demo-pairs")
run.id = "other"  # type: ignore[misc]
run.scores["mrr"].value = 1.0  # type: ignore[misc]
run.scores["mrr"] = bs.Score(1.0)  # type: ignore[index]
run.metrics["mrr"] = 1.0  # type: ignore[index]
run.params["metric"] = "l2"  # type: ignore[index]
run.manifest["encoder"] = {}  # type: ignore[index]
run.pairs("xml")  # type: ignore[call-overload]
bs.evalrank("lsa")  # type: ignore[call-arg]
bs.evalrank("lsa", "demo-pairs", metric=2)  # type: ignore[arg-type]
bs.gate("lsa", "demo-pairs", "lsa", max_drop="much")  # type: ignore[arg-type]
bs.evalrnk("lsa", "demo-pairs")  # type: ignore[attr-defined]
bs.compare(run, run).rows = ()  # type: ignore[misc]
bs.findings(run).found = ()  # type: ignore[misc]
length: str = run.scores["mrr"].value  # type: ignore[assignment]
