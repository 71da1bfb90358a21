"""Kinds of finding: all sentences, the tests behind them, how severe they are, and which view opens them.

``wording`` says how templates are written. An address has query parameters; one whose value is empty is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from blindspot.diagnostic import Picker
from blindspot.diagnostics.retrieval.grades import CONTRADICTED as AGAINST_GRADES
from blindspot.diagnostics.retrieval.grades import TURN as TURN_GRADES
from blindspot.diagnostics.retrieval.long_texts.definition import TEST
from blindspot.diagnostics.similarity.view import CONTRADICTED, TURN
from blindspot.numerics.statistics.pairs import ALLOWING
from blindspot.runs.findings.evidence import REVERSED_GRADES, REVERSED_SCORES, Evidence
from blindspot.runs.findings.rule import Rule

STORE = "store"  # in place of a diagnostic
Address = Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """What findings say about evidence of a kind.

    Attributes:
        rule: how the level of a finding follows from the tests.
        sentence: plain text, active voice, with number and interval; a template as all texts here.
        test: in words, or how a fact was counted.
        severity: from 0 to 1, comparable between diagnostics: the distance of the value from where it should be, as a
            share of the largest possible distance; what is beyond either end counts as that.
        address: query parameters that open the very view with the very items; ``{A}`` is the first model's reference.
        page: stem of the page that shows it; "" for the diagnostic's own.
        is_of_models: whether it is about models whatever the diagnostic.
    """

    rule: Rule
    sentence: str
    test: str
    severity: Callable[[Evidence], float]
    address: Address = field(default_factory=lambda: MappingProxyType({}))
    page: str = ""
    is_of_models: bool = False


def kind_of(diagnostic: str, name: str) -> Kind:
    """The kind of a diagnostic's evidence; raises ``KeyError`` if the table lacks it."""
    return KINDS.get(diagnostic, {}).get(name) or SHARED[name]


# --- severities


def value(evidence: Evidence) -> float:
    return evidence["value"]


def size(evidence: Evidence) -> float:
    return abs(evidence["value"])


def rest(evidence: Evidence) -> float:
    """The distance of a share from 1."""
    return 1 - evidence["value"]


def above_half(evidence: Evidence) -> float:
    """The distance of a share from a half, which is chance, as a share of the largest possible distance."""
    return 2 * evidence["value"] - 1


def to_the_best(evidence: Evidence) -> float:
    """The distance of a score from 1, as a share of the distance of chance from 1."""
    chance = evidence["chance"]
    return (1 - evidence["value"]) / (1 - chance) if chance != 1 else 0.0


def score_to_the_best(evidence: Evidence) -> float:
    """The distance of a score from 1, for evidence that has the difference from another score as its value."""
    return 1 - evidence["score"]


# --- kinds that diagnostics share

LOW_COVERAGE = Kind(
    Rule.FACT,
    "{is_own:?{A} has|Some model it was run with has} no vector for {lacking:,} of {texts:,} texts"
    "{unit:?, so that {left_out:,} of {n:,} {unit} are left out|}: the scores of {A} are those of {value:.0%} of the "
    "{unit:?{unit}|texts}.",
    "counted over {n:,} {unit:?{unit}|texts}",
    rest,
)


def than(rival: str) -> tuple[str, ...]:
    """Sentences that {A} is worse, better, and not significantly better than ``rival``, a name and what follows it."""
    return tuple(f"{{A}} is {how} than {rival}" for how in ("worse", "better", "not significantly better"))


def against_rival(
    rival: str, sentences: Sequence[str], test: str, address: Address, corrected: str = "", alike: str = ""
) -> dict[str, Kind]:
    """The kinds of ``baselines.outcomes``: worse, better, and not significantly better.

    Args:
        sentences: in this order, with both scores, and the difference with its interval.
        test: in words; ``corrected`` follows where the difference is a hypothesis.
        alike: name of the last kind, if not ``no-better-than-`` and the rival.
    """
    worse, better, as_good = sentences
    return {
        f"worse-than-{rival}": Kind(Rule.BLIND_SPOT, worse, f"{test}{corrected}", size, address),
        f"better-than-{rival}": Kind(
            Rule.STRENGTH, better, f"{test}{corrected}, and better than chance", size, address
        ),
        alike or f"no-better-than-{rival}": Kind(
            Rule.FACT, as_good, f"not significant: {test}, {{p:p}}", score_to_the_best, address
        ),
    }


def against_baseline(at: str, scores: str, test: str, address: Address) -> dict[str, Kind]:
    """The kinds of a model against {B}, the best model that knows no meaning.

    Args:
        at: what it is better or worse at: ``at ranking matches``.
        scores: ``{score}`` against ``{reached}``, and ``{value}``, the difference, with its interval.
    """
    sentences = than(f"{{B}}, which knows only spelling and words, {at}: {scores}.")
    return against_rival("baseline", sentences, test, address, ", corrected for the choice of the best such model")


def against_words(scores: str, test: str, address: Address) -> dict[str, Kind]:
    """The kinds of a model against ``{best}``, the best measure of shared words.

    Args:
        scores: ``{reached}``, the words' score, against ``{score}``; ``{value}``, the difference, with its interval.
    """
    sentences = (
        f"Shared words alone do better than {{A}}: {scores}.",
        f"Shared words alone do worse than {{A}}: {scores}.",
        f"{{A}} is not significantly different from shared words alone: {scores}.",
    )
    corrected = ", corrected for the choice of the best measure of words"
    return against_rival("words", sentences, test, address, corrected, alike="words-alone-as-good")


# --- EvalRank

FILTERED = {"ranks": "filtered"}
WORST = {"show": "worst for A", "a": "{A}", **FILTERED, "item": "{item}"}


def of_all_pairs(evidence: Evidence) -> float:
    """A share of the missed pairs, converted to a share of all pairs."""
    return evidence["missed_share"] * evidence["value"]


def outranked(sentence: str, test: str, address: Address = MappingProxyType(WORST)) -> Kind:
    return Kind(Rule.BLIND_SPOT, sentence, test, of_all_pairs, address)


EVALRANK: dict[str, Kind] = {
    "worst-by-{axis}": Kind(
        Rule.BLIND_SPOT,
        "{A} ranks the right match first for {weak:?only |}{value:.0%} of the {pairs}{value:ci .0%}, against "
        "{rest:.0%} of the other pairs.",
        "Fisher's exact test of this kind against the rest, {value:units}"
        "{choices:?, corrected for the choice of {choices} kinds|}",
        lambda evidence: evidence["rest"] - evidence["value"],
        {"view": "kinds of pair", "by": "{by}", "kinds_measure": "Hits@1", **FILTERED},
    ),
    "outranked-by-changed-meaning": outranked(
        "Where {A} misses the match, the {rewrite} most often comes first: in {value:.0%} of the {missed} missed pairs"
        "{value:ci .0%}, against {chance:.0%} if rewrites came first at random.",
        "exact binomial test over {value:units}, corrected for {rewrites} kinds of rewrite",
    ),
    "outranked-by-frequent-words": outranked(
        "Where {A} misses the match, the text that it ranks first is more frequent than the match in {value:.0%} of "
        "the {missed} pairs{value:ci .0%}.",
        "exact sign test against 50%, {value:units}",
    ),
    "outranked-by-shared-words": outranked(
        "Where {A} misses the match, the text that it ranks first shares more words with the query than the match does "
        "in {value:.0%} of the {missed} pairs{value:ci .0%}.",
        "exact sign test against 50%, {value:units}",
    ),
    "outranked-by-hubs": outranked(
        "In {value:.0%} of the {missed} pairs that {A} misses, {is_one:?one text takes the first place|the same "
        "{texts} texts take the first place; the most frequent of them in {most} unrelated pairs}.",
        "exact binomial test of the most frequent of {candidates} texts over {n} independent groups of missed pairs, "
        "corrected for their number",
        {**WORST, "hubs": "true"},
    ),
    **against_baseline(
        "at ranking the right match",
        "MRR {score:.3f} against {reached:.3f}, difference {value:+.3f}{value:ci +.3f}",
        "{value:test}, {value:units}",
        {"view": "A against B", str(Picker.BASELINE): "{B}"},
    ),
    "ties": Kind(
        Rule.FACT,
        "Ties decide part of the score of {A}: another text is exactly as similar as the match in {value:.0%} of the "
        "pairs, and MRR is {low:.3f} to {high:.3f}, depending on how ties are broken.",
        "counted over {n} pairs",
        lambda evidence: evidence["high"] - evidence["low"],
        {"show": "tied", "a": "{A}"},
    ),
    "raw-ranks-unfair": Kind(
        Rule.FACT,
        "Raw ranks count near-duplicates and further matches of a query as mistakes: without them the MRR of {A} is "
        "{filtered:.3f} instead of {raw:.3f}.",
        "counted over {n} pairs; of the model that it changes most",
        value,
        {"view": "trust"},
    ),
    "near-duplicates-missed": Kind(
        Rule.FACT,
        "In {value:.0%} of {missed} of {A}, the text ranked first is a near-duplicate of the query or the match: it "
        "may be as right an answer.",
        "counted over {n} missed pairs, raw ranks",
        of_all_pairs,
        {"show": "worst for A", "a": "{A}"},
    ),
    "same-own-column-{number}": Kind(
        Rule.FACT,
        "Texts of the same {column} count as mistakes of {A}: without them the MRR is {by_group:.3f} instead of "
        "{filtered:.3f}, filtered ranks.",
        "counted over {n} pairs",
        value,
        {"view": "trust", **FILTERED},
    ),
    "toolkit-differs": Kind(
        Rule.FACT,
        "Published EvalRank scores are not comparable with these: the published toolkit's arithmetic gives {A} an MRR "
        "of {toolkit:.3f}, the definition {defined:.3f}.",
        "counted over {n} pairs, the toolkit's {toolkit_pairs}",
        size,
        {"view": "trust"},
    ),
    "in-training-set-{set}": Kind(Rule.FACT, "{warning}", "counted over {n} pairs", value, {"view": "trust"}),
}

# --- HEROS

ORDERINGS = {"view": "orderings"}
HEROS: dict[str, Kind] = {
    "{changed}-nearer-than-{kept}": Kind(
        Rule.BLIND_SPOT,
        "{A} finds the {far} closer to the original than the {near} in {value:.0%} of the sentences{value:ci .0%}.",
        "exact sign test against 50%, {units}, ties excluded",
        value,
        {
            "view": "sentences",
            "a": "{A}",
            "sent_above": "{changed} above {kept}",
            "sent_order": "lead in A",
            "sent_direction": "high to low",
            "item": "{item}",
        },
    ),
    "meaning-kept-apart": Kind(
        Rule.STRENGTH,
        "{A} keeps the {near} closer to the original {orders:each {is_same:?|the {near} }than the {far} in "
        "{share:.0%}{is_same:? of the sentences|}{share:ci .0%}}.",
        "exact binomial test against 75%, {units}{choices:?, corrected for {choices} comparisons|}"
        "{rivals:?; in more than by words and spelling alone too|}",
        above_half,
        ORDERINGS,
    ),
    "paraphrase-below-guessing": Kind(
        Rule.BLIND_SPOT,
        "{A} finds the {right} among {rewrites} rewrites in {value:.0%} of the sentences{value:ci .0%}; guessing finds "
        "it in {chance:.0%}.",
        "exact binomial test against {chance:.0%}, {units}",
        rest,
        ORDERINGS,
    ),
    **against_baseline(
        "at telling rewrites that keep the meaning from rewrites that change it",
        "{score:.0%} of the comparisons right against {reached:.0%}, {value:+.0%}{value:ci +.0%}",
        f"sign flips of the paired difference, {ALLOWING}, {{units}}, {{orderings:count comparison}} each",
        ORDERINGS,
    ),
    **against_words(
        "{reached:.0%} of the {judged} right by {best} against {score:.0%}, {value:+.0%}{value:ci +.0%}",
        f"sign flips of {{unit}}, {ALLOWING}",
        {"view": "words alone"},
    ),
}

# --- Similarity

SCORES = {"view": "scores"}
PAIRS = {"view": "pairs", "a": "{A}"}
TOO_ALIKE = {**PAIRS, "sim_rows": "too alike for A", "item": "{item}"}
OF_SCORES = against_baseline(
    "at predicting human scores",
    "Spearman's ρ {score:.3f} against {reached:.3f}, difference {value:+.3f}{value:ci +.3f}",
    "t test of the paired difference, {value:units}",
    SCORES,
)
SIMILARITY: dict[str, Kind] = {
    REVERSED_SCORES: Kind(
        Rule.FACT,
        f"{{models}}, {CONTRADICTED}: Spearman's ρ is {{value:.3f}} or lower over {{pairs:count pair}}. {TURN} If it "
        "does not, this is a blind spot.",
        "the 95% interval of each ρ is below 0",
        size,
        SCORES,
    ),
    "order-of-people": Kind(
        Rule.GRADED,
        "{A} {weak:?hardly agrees|agrees} with human scores: Spearman's ρ is {value:.3f}{value:ci .3f} over "
        "{pairs:count pair}.",
        "t test of Fisher's z against a correlation of {asked}, {value:units}",
        rest,
        {
            "view": "{weak:?pairs|scores}",
            "a": "{weak:?{A}|}",
            "sim_rows": "{weak:?A misjudges most|}",
            "item": "{item}",
        },
    ),
    "unrelated-above-equivalent": Kind(
        Rule.LESS,
        "Of two pairs, one that people call unrelated and one that they call equivalent, {A} finds the unrelated one "
        "more similar in {value:.0%} of the cases{value:ci .0%}.",
        "t test against {asked:.0%}, halfway between none and chance, {value:units}",
        lambda evidence: 2 * evidence["value"],
        TOO_ALIKE,
    ),
    "unrelated-rated-high": Kind(
        Rule.FACT,
        "{A} rates pairs that people call unrelated at a cosine of {value:.2f} on average{value:ci .2f}, and those "
        "that they call equivalent at {equivalent:.2f}: a high cosine alone says little.",
        "t test against a cosine of {null}, {value:units}",
        value,
        TOO_ALIKE,
    ),
    "narrow-range": Kind(
        Rule.FACT,
        "{A} gives nine of ten pairs a cosine between {low:.2f} and {high:.2f}, whatever people say: take no threshold "
        "from another model.",
        "counted over {pairs:count pair}",
        lambda evidence: 1 - evidence["value"] / evidence["narrow"],
        PAIRS,
    ),
    "band-off-the-line": Kind(
        Rule.FACT,
        "{A} finds pairs that people score {lowest:.3g} to {highest:.3g} {is_above:?more|less} similar than its other "
        "scores suggest: a cosine of {mean:.2f} on average, {value:+.2f} from the straight line{value:ci +.2f}.",
        "t test against {off} standard deviations, p times {tried} for as many fifths of the scale, {value:units}",
        size,
        {**TOO_ALIKE, "sim_rows": "too {is_above:?alike|different} for A"},
    ),
    "negation-too-similar": Kind(
        Rule.BLIND_SPOT,
        "Where one text of a pair is negated, {A} finds the two more similar than other pairs that people score alike: "
        "{value:+.3f} in {metric} similarity{value:ci +.3f} in {pairs:count pair}.",
        "t test of the difference given people's scores, {value:units}",
        lambda evidence: evidence["value"] / (4 * evidence["spread"]),  # the scale is about four standard deviations
        TOO_ALIKE,
    ),
    **OF_SCORES,
    "worse-than-baseline": replace(
        OF_SCORES["worse-than-baseline"],
        address={**PAIRS, "sim_rows": "A misjudges most", "item": "{item}", "b": "{B}"},
    ),
    **against_words(
        "ρ {reached:.3f} by {best} against {score:.3f}, {value:+.3f}{value:ci +.3f}",
        "test of dependent correlations",
        SCORES,
    ),
}

# --- Words

COVERAGE = replace(LOW_COVERAGE, address={"view": "coverage"})
QUESTIONS = {"view": "analogies", "analogies_of": "{dataset}", "analogies_by": "{A}"}
OF_RELATION = {**QUESTIONS, "analogy_section": "{section}"}
CLUSTERS = {"view": "categories", "categories_of": "{dataset}", "categories_by": "{A}"}


def words_against_baseline(at: str, test: str, address: Address) -> dict[str, Kind]:
    scores = "{score:.0%} right against {reached:.0%}, {value:+.0%}{value:ci +.0%}"
    return against_baseline(at, scores, test, address)


def cases(does: str, at: str, view: str) -> dict[str, Kind]:
    """The kinds for cases that are right or wrong one by one; ``does``: what {A} does in ``{value}`` of ``{cases}``."""
    address = {"view": view, f"{view}_of": "{dataset}", f"{view}_by": "{A}"}
    return {
        "low-coverage": COVERAGE,
        "cases": Kind(
            Rule.GRADED,
            f"{{A}} {does}{{value:ci .0%}}; guessing reaches {{chance:.0%}}.",
            "score test against {least:.0%}, a tenth of the way from guessing to all right, {value:units}",
            to_the_best,
            address,
        ),
        **words_against_baseline(at, "{value:test}, {value:units}", address),
    }


ANALOGY: dict[str, Kind] = {
    "low-coverage": COVERAGE,
    "analogies": Kind(
        Rule.GRADED,
        "{A} answers {weak:?only |}{value:.0%} of {questions:count analogy/analogies} right{value:ci .0%}.",
        "score test against {asked:.0%}, {pairs_of_words}",
        rest,
        QUESTIONS,
    ),
    "relation-unknown-{section}": Kind(
        Rule.LESS,
        "{A} barely knows the relation '{section}': it answers {value:?only {value:.0%}|none} of "
        "{questions:count question} right{value:ci .0%}.",
        "{is_tested:?score test against "
        "{asked:.0%}, {pairs_of_words}|counted; {n:count pair of words/pairs of words} are too few for a test}",
        rest,
        OF_RELATION,
    ),
    "weakest-relation": Kind(
        Rule.FACT,
        "{A} is weakest at the relation '{section}': {right:.0%} right, {value:.0pp} points below its other relations"
        "{value:ci .0pp}.",
        "t test of the difference, p times {tried} relations, {pairs_of_words}",
        value,
        OF_RELATION,
    ),
    **words_against_baseline("at analogies", "t test of the paired difference, {pairs_of_words}", QUESTIONS),
}

CATEGORIZATION: dict[str, Kind] = {
    "low-coverage": COVERAGE,
    "purity": Kind(
        Rule.GRADED,
        "{A} {weak:?hardly sorts|sorts} words by kind: its clusters are {value:.0%} pure{value:ci .0%}, against "
        "{chance:.0%} for shuffled classes.",
        "score test against {least:.0%}, a tenth of the way from chance to pure, {value:units}",
        to_the_best,
        CLUSTERS,
    ),
    "categories-lost": Kind(
        Rule.FACT,
        "{A} forms no cluster for {lost} of {n:count category/categories}: {named}{more:? and {more} more|}.",
        "counted over {n:count category/categories}",
        value,
        CLUSTERS,
    ),
    **words_against_baseline("at sorting words by kind", "{value:test}, {value:units}", CLUSTERS),
}

OUTLIERS = cases(
    "finds {weak:?only |}{value:.0%} of {cases:count outlier}", "at finding the word that does not belong", "outliers"
)
THEMATIC_FIT = cases(
    "puts the typical patient nearer in {weak:?only |}{value:.0%} of {cases:count event}",
    "at telling typical from atypical patients",
    "events",
)

CHUNKS = {"view": "chunks", "chunks_of": "{dataset}", "chunks_by": "{A}"}

CHUNKING: dict[str, Kind] = {
    "unknown-tokens": Kind(
        Rule.FACT,
        "{is_own:?{A} has|Some model it was run with has} no vector for {unknown:.0%} of the {n} tested tokens: their "
        "tags must be told by the words beside them.",
        "counted over {n} tokens",
        rest,
        CHUNKS,
    ),
    "noun-phrases": Kind(
        Rule.FACT,
        "Vectors of {A} tell noun phrases badly: F1 {value:.3f} in {n} sentences.",
        "counted over {n} sentences",
        rest,
        CHUNKS,
    ),
    **against_baseline(
        "at finding phrases",
        "F1 {score:.3f} against {reached:.3f}, difference {value:+.3f}{value:ci +.3f}",
        "approximate randomization, {value:units}",
        CHUNKS,
    ),
}

# --- Geometry

GEOMETRY: dict[str, Kind] = {
    "common-direction": Kind(
        Rule.FACT,
        "{A} crowds all texts into one direction: two random texts have a cosine of {value:.2f} on average.",
        "computed over all pairs of {n:count text}",
        value,
    ),
    "hubs": Kind(
        Rule.FACT,
        "{A} has hubs: a few texts are among the {neighbors} nearest of very many others "
        "(skewness {value:.1f}; 0 means no hubs).",
        "counted over {n:count text}",
        lambda evidence: 1 - 1 / evidence["value"],
        {"view": "hubs", "hubs_of": "{A}"},
        page="frequency",
    ),
    "zero-vectors": Kind(
        Rule.FACT,
        "{A} gives {zeros:,} of {n:count text} a vector of zeros, which is similar to nothing.",
        "counted over {n:count text}",
        value,
    ),
    "matches-nearer": Kind(
        Rule.GRADED,
        "{A} puts matches {weak:?hardly closer together than random texts: {value:.0%} closer on average|"
        "{value:.0%} closer together than random texts}{value:ci .0%}, by squared distance.",
        "t test against {asked:.0%}, {value:units}",
        rest,
    ),
    "matches-far-apart": Kind(
        Rule.LESS,
        "{A} puts {value:.0%} of the matches as far apart as two random texts, or farther{value:ci .0%}.",
        "score test against {asked:.0%}, {value:units}",
        value,
    ),
}

# --- Frequency


def read_frequency(rule: Rule, tells: str) -> Kind:
    return Kind(
        rule,
        f"A linear classifier {tells} frequent words from rare ones by {{A}}'s vectors alone: {{value:.0%}} right on "
        "average over {thresholds:?{thresholds:count threshold}|the thresholds}{value:ci .0%}, where 50% is chance.",
        "score test against {null:.0%} over the {n:,} held-out words of one draw; the mean is surer",
        above_half,
        {"view": "classifier"},
    )


def follows_frequency(sentence: str, address: Address) -> Kind:
    return Kind(
        Rule.FACT, sentence, "Fisher's z of the rank correlation against {least} over {n:,} words", size, address
    )


FREQUENCY: dict[str, Kind] = {
    "frequency-dominates": read_frequency(Rule.BLIND_SPOT, "easily tells"),
    "frequency-readable": read_frequency(Rule.FACT, "tells"),
    "neighbors-by-frequency": Kind(
        Rule.FACT,
        "{A} puts {is_up:?frequent|rare} words nearest, whatever the query: the mean corpus rank of the k-th neighbor "
        "{is_up:?grows|falls} as k to the power {value:.3f} (R² {fit:.2f}; {null:.2f} for random neighbors).",
        "fitted to the neighbors of {n:,} words",
        size,
        {"view": "neighbors"},
    ),
    "length-by-frequency": follows_frequency(
        "{A} gives {is_up:?frequent|rare} words longer vectors: Spearman's ρ with frequency is {value:.3f}"
        "{value:ci .3f}. Dot products and averages of vectors favor {is_up:?frequent|rare} words.",
        {"view": "norms"},
    ),
    "hubs-by-frequency": follows_frequency(
        "{A} has hubs that tend to be {is_up:?frequent|rare} words: Spearman's ρ with frequency is {value:.3f}"
        "{value:ci .3f}. A hub is among the {neighbors} nearest neighbors of many words.",
        {"view": "hubs", "hubs_of": "{A}"},
    ),
}

# --- Transfer and Probing

TASKS = {"view": "tasks"}
MISTAKES = {"view": "items", "a": "{A}", "transfer_order": "surest mistake"}

CLASSIFICATION: dict[str, Kind] = {
    "learned": Kind(
        Rule.GRADED,
        "{what} can {weak:?hardly |}be {verb} from {A}: {value:.1%} of the examples are right{value:ci .1%}, against "
        "{chance:.1%} for always guessing the most frequent class.",
        "score test against {least:.1%}, {is_half:?half|a tenth} of the way from the most frequent class to 100%, "
        "{n:count example}",
        to_the_best,
        TASKS,
    ),
    "lifted-by-overlap": Kind(
        Rule.FACT,
        "{overlap} of {n:count test example} {in_training:?are in the training part too|repeat}: without them {A} gets "
        "{without:.1%} right, not {accuracy:.1%}.",
        "counted over {n:count example}",
        value,
        {**TASKS, "overlap": "without"},
    ),
    "class-missed-{label}": Kind(
        Rule.LESS,
        "A classifier on {A} {never:?never predicts|hardly recognizes} the class '{label}': {value:.0%} of "
        "{examples:count example} right{value:ci .0%}, where guessing gives {share:.0%}.",
        "score test against {share:.0%}, the share of the class, {value:units}",
        rest,
        {**MISTAKES, "gold": "{label}"},
    ),
    **against_baseline(
        "at {of_negation:?detecting negation|the task}",
        "a classifier gets {score:.1%} of the examples right against {reached:.1%}, {value:+.1%}{value:ci +.1%}",
        "{value:test}, {value:units}",
        {**MISTAKES, "b": "{B}", "outcome": "won-by-b"},
    ),
}

LEARNING_CURVE: dict[str, Kind] = {
    "curves-cross": Kind(
        Rule.FACT,
        "Which model is better depends on the number of training examples: {A} is ahead of {B} by {before:.1pp} points "
        "of accuracy with {early:,}, and behind by {value:.1pp} points{value:ci .1pp} with {late:,}.",
        "t-tests of both differences over examples and {draws} draws, the less certain one, corrected for {sizes} "
        "sizes",
        size,
        {"view": "scarce"},
    ),
}

# --- Retrieval

OF_QUERIES = "{value:test}, {value:units}"
NDCG = "nDCG@10 is {score:.3f} against {reached:.3f}"
QUERIES = {"view": "queries", "a": "{A}"}

RETRIEVAL: dict[str, Kind] = {
    REVERSED_GRADES: Kind(
        Rule.FACT,
        f"By {{models}} {AGAINST_GRADES}: {{queries:count query/queries}}. {TURN_GRADES} If it is not, this is a blind "
        "spot.",
        "the 95% interval of each mean agreement with the grades is below 0",
        size,
        {"view": "scores"},
    ),
    **against_rival(
        "bm25",
        than(
            f"keyword search (BM25) at finding relevant documents: {NDCG} over {{queries:count query/queries}}, a "
            "difference of {value:+.3f}{value:ci +.3f}."
        ),
        OF_QUERIES,
        {"view": "queries", "with": "bm25", "b": "{A}", "item": "{item}"},
    ),
    **against_baseline(
        "at finding relevant documents",
        f"{NDCG}, a difference of {{value:+.3f}}{{value:ci +.3f}}",
        OF_QUERIES,
        {**QUERIES, "b": "{B}"},
    ),
    "unranked": Kind(
        Rule.FACT,
        "{A} ranks no document for {unranked} of {n:count query/queries}: they score 0.",
        "counted over {n:count query/queries}",
        value,
        QUERIES,
    ),
    "unjudged": Kind(
        Rule.FACT,
        "Nobody judged {value:.0%} of the documents in {A}'s top ten, against {of_bm25:.0%} of BM25's: "
        "{is_condensed:?they are left out of its scores, which may be too high|unjudged documents count as irrelevant, "
        "so its scores may be too low}.",
        "counted over the top ten of {n:count query/queries}",
        lambda evidence: evidence["value"] - evidence["of_bm25"],
        QUERIES,
    ),
}

LONG = {"view": "long"}
LONG_TEXTS: dict[str, Kind] = {
    "place-of-answer": Kind(
        Rule.FACT,
        "{A} finds a passage {is_lower:?less|more} similar to its query when the sentence that answers is last than "
        "when it is first: cosine {last:.3f} against {first:.3f}, a difference of {value:+.3f}{value:ci +.3f}; "
        "MRR {mrr_last:.3f} against {mrr_first:.3f}.",
        f"{TEST}, {{value:units}}",
        size,
        LONG,
        page="retrieval",
    ),
    "unrelated-by-length": Kind(
        Rule.FACT,
        "{A} finds unrelated passages {is_higher:?more|less} alike the longer they are: mean cosine {longer:.3f} for "
        "their first {sentences} sentences against {single:.3f} for the first alone, a difference of "
        "{value:+.3f}{value:ci +.3f}.",
        "t test of the difference over the same pairs, {value:units}",
        size,
        LONG,
        page="retrieval",
    ),
    "passages-cut": Kind(
        Rule.FACT,
        "{A} does not read the end of {cut:,} of {n:count passage}: it reads at most {most:,} tokens, and an answer "
        "behind them is not seen. They are left out of what is said of position and length.",
        "counted by the model's own tokenizer",
        value,
        LONG,
        page="retrieval",
    ),
}

# --- over all diagnostics

LANGUAGES = {"lang_set": "{set}", "lang_enc": "{encoder}", "lang_pool_on": "true"}

SHARED: dict[str, Kind] = {
    "low-coverage": LOW_COVERAGE,
    "not-told-apart": Kind(
        Rule.FACT,
        "{label}: no significant difference between {A} ({best:.3f}){is_tie:? and|, the best, and} "
        "{scores:models .3f}; {A} less {B} is {value:+.3f}{value:ci +.3f}.",
        "{basis}{corrected:?, {corrected:p} after correction for several scores|}",
        lambda evidence: evidence["share"],
    ),
    "order-turned-by-{chain}": Kind(
        Rule.FACT,
        "{chain} {alone:?of {alone} alone |}reverses the order of {A} and {B}: {label} {a_before:.3f} and "
        "{b_before:.3f} without it, {a_after:.3f} and {b_after:.3f} with it.",
        "{basis}, both before and after{choices:?, corrected for {choices} pairs of models|}",
        lambda evidence: evidence["apart"] / 2,
    ),
    "other-items": Kind(
        Rule.FACT,
        "{models} {is_one:?was|were} tested on different texts than the other {others:count model}, so the {title} "
        "scores cannot be compared.",
        "counted: models tested on different texts",
        lambda evidence: evidence["value"] / evidence["n"],
    ),
    "older-version": Kind(
        Rule.FACT,
        "{title} of {models} was computed by an older version and is left out: {n:count run} to compute again.",
        "counted: finished runs of a version before {version}",
        lambda _: 0.5,
        page="run",
    ),
    "fitted-on-what-is-tested": Kind(
        Rule.FACT,
        "The post-processing of {models} was fitted on the texts it is tested on, in {n:count run}: scores on new "
        "texts may be lower.",
        "counted: runs without a separate dataset for fitting",
        lambda evidence: evidence["fitted"],
        page="lab",
        is_of_models=True,
    ),
    "texts-cut-off": Kind(
        Rule.FACT,
        "{A} truncates "
        "{in_passages:?{value:.1%} of its passages and queries|{truncated} of {n:count text} ({value:.1%})}: it reads "
        "at most {most} tokens.",
        "counted by the model's own tokenizer",
        value,
        is_of_models=True,
    ),
    "own-language-first": Kind(
        Rule.IF_SURE,
        "In a pool of {pooled:count language}, {A} puts another {language} sentence nearest for {value:.1%} of "
        "{language} queries{value:ci .1%}, rather than a translation{other:?; the least in "
        "{other}, {least:.1%}{least:ci .1%}|}.",
        "exact binomial test over {n:count mistake}, the smallest p of {tested:count language}, corrected for their "
        "number",
        value,
        LANGUAGES,
        page="languages",
    ),
    "own-language-first-{code}": Kind(
        Rule.IF_SURE,
        "{A} puts another {language} sentence nearest for {value:.1%} of {language} queries{value:ci .1%}, rather than "
        "a translation: {of_mistakes:.0%} of its mistakes, where {expected:.0%} of the wrong candidates are in that "
        "language.",
        "exact binomial test over {n} mistakes among {queries} queries, in a pool of {pooled:count language} and "
        "English",
        value,
        LANGUAGES,
        page="languages",
    ),
}

KINDS: Mapping[str, Mapping[str, Kind]] = MappingProxyType(
    {
        "evalrank": EVALRANK,
        "heros": HEROS,
        "similarity": SIMILARITY,
        "analogy": ANALOGY,
        "categorization": CATEGORIZATION,
        "outliers": OUTLIERS,
        "thematic_fit": THEMATIC_FIT,
        "chunking": CHUNKING,
        "geometry": GEOMETRY,
        "frequency": FREQUENCY,
        "transfer": CLASSIFICATION,
        "learning_curve": LEARNING_CURVE,
        "probing": CLASSIFICATION,
        "retrieval": RETRIEVAL,
        "long_texts": LONG_TEXTS,
    }
)
