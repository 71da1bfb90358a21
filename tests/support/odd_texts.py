"""Texts that are hard for a tokenizer."""

from __future__ import annotations

ODD_TEXTS = (
    "",
    " ",
    "\n\t",
    "a",
    "word " * 400,
    "Sentence number one is about rain. " * 90,
    "x" * 5_000,
    "Zażółć gęślą jaźń — «naïve café» …",
    "日本語の文章です。",
    "Привет, мир",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "e\u0301 is not \u00e9 but NFC says so",
    "\u202eright to left\u202c and a zero\u200bwidth space",
    "null \0 byte",
    "[CLS] [SEP] [PAD] [MASK]",
    "Same.",
    "Same.",
)
