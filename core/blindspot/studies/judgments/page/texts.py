"""Texts of the pages Intruder and Compare votes that a rater reads first."""

from __future__ import annotations

from blindspot.studies.judgments.types import Task

TITLES = {Task.INTRUDER: "Intruder", Task.COMPARATIVE: "Votes"}
PAGE_QUESTIONS = {
    Task.INTRUDER: "Do a model's nearest neighbors belong together? People try to spot the one that does not.",
    Task.COMPARATIVE: "Which model's neighbors do people find most similar? A blind vote.",
}
ANSWER = {  # headings of the views
    Task.INTRUDER: "Find the intruder, one question at a time",
    Task.COMPARATIVE: "Pick the most similar text, one question at a time",
}
RESULTS = {
    Task.INTRUDER: "Whose neighbors belong together, so that people find the intruder?",
    Task.COMPARATIVE: "Which model do people prefer?",
}
SESSIONS = "Invite others by a link"
ITEMS = "The questions, and how to make others"

# Before the first question.
TO_DO = {
    Task.INTRUDER: "**You see four texts. Pick the one that does not belong.** In three of them a model sees the same "
    "meaning: a text and its two nearest neighbors. The fourth, the intruder, is far from them for that model.",
    Task.COMPARATIVE: "**You see a text and, below it, one neighbor from each model. Pick the most similar one.** You "
    "are not told which model a neighbor comes from. Where models have the same neighbor, it is shown once and a vote "
    "counts for all of them. If two seem equally similar, pick either.",
}
EXAMPLES = {
    Task.INTRUDER: "For example: in *apple*, *pear*, *engine*, *plum*, the intruder is *engine*.",
    Task.COMPARATIVE: "For example: of *ship*, *harbor* and *coat*, the most similar to *boat* is *ship*.",
}
PRIVACY = (
    "Any name will do: no account, no password. Your answers are saved under it; enter the same name to continue later."
)
KEPT = "Stop whenever you like: every answer is saved at once."

# With each question.
QUESTIONS = {
    Task.INTRUDER: "Which one does not belong with the others?",
    Task.COMPARATIVE: "Which of these is most similar to it?",
}
DONT_KNOW = "I don't know these words"

# Above the form that makes questions.
ABOUT = {
    Task.INTRUDER: "People see four cards: a word, its two nearest neighbors in one model, and an intruder from far "
    "down the same list that is about as frequent. Where they find the intruder, the neighbors belong together.",
    Task.COMPARATIVE: "People see a word and each model's first, fifth or fiftieth neighbor, and choose the most "
    "similar. They are not told which model it comes from. Neighbors that models share are shown once and count for "
    "all of them. The more votes a model's neighbors win, the better it agrees with these people.",
}
