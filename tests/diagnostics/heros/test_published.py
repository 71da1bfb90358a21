"""The published HEROS profiles are those of the paper: counts, ranges, and rows copied from its figures once more."""

from __future__ import annotations

from collections import Counter

from blindspot.datasets.published.minimal_pairs import SUBSETS
from blindspot.diagnostics.heros.published import GROUPS, blocks, heros_profiles
from blindspot.diagnostics.heros.published import SUBSETS as PUBLISHED_SUBSETS
from tests.support.tables import each

PROFILES = {profile.model: profile for profile in heros_profiles()}

# figure, model, table 3's parameters and dimension, then the six columns as they are printed.
COPIED = [
    (1, "DistilBERT base (QA)", 66e6, 768, (0.923, 0.884, 0.965, 0.976, 0.860, 0.873)),
    (1, "GTR xl (QA)", 1.24e9, 768, (0.903, 0.822, 0.916, 0.919, 0.803, 0.889)),
    (1, "GTR xxl (QA)", 4.8e9, 768, (0.903, 0.812, 0.910, 0.911, 0.794, 0.900)),
    (1, "MiniLM L3 (para)", 17e6, 384, (0.894, 0.829, 0.901, 0.918, 0.855, 0.806)),
    (1, "Multilingual MiniLM L12 (para)", 33e6, 384, (0.938, 0.784, 0.780, 0.821, 0.837, 0.889)),
    (1, "Multilingual mpnet base (para)", 110e6, 768, (0.950, 0.748, 0.734, 0.772, 0.821, 0.897)),
    (1, "TinyBERT L6 (para)", 14.5e6, 768, (0.911, 0.713, 0.689, 0.735, 0.800, 0.823)),
    (1, "ST5 xl (QA+NLI)", 1.24e9, 768, (0.937, 0.669, 0.669, 0.685, 0.771, 0.936)),
    (1, "MiniLM L6 v1 (all)", 22e6, 384, (0.902, 0.866, 0.958, 0.968, 0.846, 0.817)),
    (1, "MiniLM L6 v2 (all)", 22e6, 384, (0.901, 0.860, 0.955, 0.966, 0.845, 0.825)),
    (1, "mpnet base v1 (all)", 110e6, 768, (0.922, 0.849, 0.914, 0.935, 0.825, 0.833)),
    (1, "mpnet base v2 (all)", 110e6, 768, (0.923, 0.831, 0.897, 0.917, 0.819, 0.850)),
    (1, "RoBERTa large (all)", 355e6, 1024, (0.928, 0.834, 0.884, 0.909, 0.812, 0.878)),
    (1, "DistilUSE multilingual v2 (all)", 134e6, 512, (0.955, 0.914, 0.941, 0.957, 0.873, 0.933)),
    (2, "GloVe", 120e6, 300, (0.861, 0.831, 0.988, 0.992, 0.833, 0.842)),
    (2, "SimCSE roberta-large (sup)", 335e6, None, (0.953, 0.703, 0.705, 0.718, 0.802, 0.907)),
    (2, "PromptBERT bert-base (unsup)", 110e6, None, (0.940, 0.897, 0.907, 0.939, 0.886, 0.849)),
    (2, "SNCSE bert-large (unsup*)", 335e6, None, (0.901, 0.806, 0.795, 0.837, 0.801, 0.736)),
    (2, "RankEncoder SNCSE (unsup)", None, None, (0.938, 0.877, 0.874, 0.904, 0.878, 0.848)),
    (2, "AudioCSE bert-base (sup)", 110e6, None, (0.940, 0.767, 0.760, 0.794, 0.836, 0.867)),
]


@each(("figure", "model", "parameters", "dimension", "means"), COPIED)
def test_rows_are_those_of_the_figures(
    figure: int, model: str, parameters: float | None, dimension: int | None, means: tuple[float, ...]
) -> None:
    profile = PROFILES[model]
    assert (profile.figure, profile.parameters, profile.dimension) == (figure, parameters, dimension)
    assert tuple(profile.means.values()) == means


def test_there_are_sixty_of_their_own_names() -> None:
    assert len(PROFILES) == len(heros_profiles()) == 60
    assert Counter(p.figure for p in heros_profiles()) == {1: 30, 2: 30}
    assert {name: len(profiles) for name, profiles in blocks().items()} == {
        **{"QA": 3, "GTR": 4, "paraphrase": 9, "QA+NLI": 4, "all": 10},
        **{"GloVe": 1, "SimCSE": 8, "DiffCSE": 2, "PromptBERT": 4},
        **{"SNCSE": 4, "RankEncoder": 3, "VisualCSE": 4, "AudioCSE": 4},
    }
    assert [p for profiles in blocks().values() for p in profiles] == list(heros_profiles()), "as in the figures"
    assert len({tuple(p.means.values()) for p in heros_profiles()}) == 60, "no row was copied twice"


def test_values_are_three_digits_in_the_figures_range() -> None:
    for profile in heros_profiles():
        assert tuple(profile.means) == PUBLISHED_SUBSETS == SUBSETS
        for value in profile.means.values():
            assert 0.6 < value < 1.0, profile.model
            assert round(value, 3) == value
    # Section 3.2: almost all rate the negation of the main verb to be less similar.
    assert sum(p.means["negation_main"] <= p.means["negation_antonym"] for p in heros_profiles()) >= 55


def test_every_model_has_a_group_a_family_and_its_training_data() -> None:
    assert Counter(p.group for p in heros_profiles()) == {
        **{"QA": 7, "paraphrase/NLI": 9, "QA+NLI": 4, "all": 10},
        **{"unsupervised": 21, "unsupervised then NLI": 8, "word vectors": 1},
    }
    assert set(GROUPS) == {p.group for p in heros_profiles()}
    assert all(p.family and p.training_data for p in heros_profiles())
    assert {p.family for p in heros_profiles() if "MiniLM" in p.model} == {"MiniLM"}
    assert {p.family for p in heros_profiles() if "DistilRoBERT" in p.model} == {"DistilRoBERTa"}
    for profile in heros_profiles():
        if profile.figure == 2 and profile.block != "GloVe":
            assert (profile.group == "unsupervised then NLI") == profile.model.endswith("(sup)")


def test_sizes_say_where_they_are_rough_or_not_known() -> None:
    approximate = [p for p in heros_profiles() if p.is_approximate]
    assert len(approximate) == 26, "figure 2 without GloVe and the three RankEncoders"
    for profile in approximate:
        assert profile.parameters == (335_000_000 if "large" in profile.model else 110_000_000)
        assert profile.dimension is None
    unknown = [p.model for p in heros_profiles() if p.parameters is None]
    assert unknown == [f"RankEncoder {base} (unsup)" for base in ("SimCSE", "PromptBERT", "SNCSE")]
    assert PROFILES["MiniLM L6 v2 (all)"].size == "22M parameters, 384 dimensions"
    assert PROFILES["TinyBERT L6 (para)"].size == "14.5M parameters, 768 dimensions"
    assert PROFILES["GTR xl (QA)"].size == "1.24B parameters, 768 dimensions"
    assert PROFILES["SNCSE bert-large (unsup*)"].size == "about 335M parameters, dimension not stated"
    assert PROFILES[unknown[0]].size == "parameters not stated, dimension not stated"


def test_names_that_are_printed_twice_are_renamed() -> None:
    renamed = {p.model: p.printed for p in heros_profiles() if p.printed}
    assert renamed == {
        "Multilingual mpnet base (para)": "Multilingual MiniLM L12 (para)",
        "MiniLM L6 v1 (all)": "MiniLM L6 (all)",
        "MiniLM L6 v2 (all)": "MiniLM L6 (all)",
        "mpnet base v1 (all)": "mpnet base (all)",
        "mpnet base v2 (all)": "mpnet base (all)",
        "GloVe": "Word embedding GloVe",
    }
    assert all("table 3" in PROFILES[model].note for model in renamed if model != "GloVe")
