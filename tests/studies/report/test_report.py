"""Reports: one file without anything from outside, texts escaped, tables in three formats, manifests compared."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot import cli
from blindspot.diagnostic import all_diagnostics
from blindspot.errors import InputError
from blindspot.runs.findings import Example, Finding, Level
from blindspot.runs.findings.rule import by_chance
from blindspot.studies.compare.rows import headline
from blindspot.studies.findings.collection import RunsOf, Selection
from blindspot.studies.report import html, manifest
from blindspot.studies.report.content import Report, gather, stars
from blindspot.studies.report.making import FORMATS, as_html, as_latex, as_markdown
from blindspot.studies.report.tables import Table, latex_text, to_html, to_latex, to_markdown
from blindspot.variants import Variant
from tests.support.pages import OpenApp
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.world import World

NASTY = "</script><img src=x onerror=alert(1)> & \u2028 <b>bold</b>"
A, B = Variant("trigrams", "none"), Variant("bigrams", "none")


@pytest.fixture(scope="module")
def filled(module_world: World) -> World:
    module_world.add(GramEncoder(), GramEncoder("bigrams", 2), SMALL_PAIRS)
    for variant in ("trigrams", "bigrams", "trigrams~center"):
        module_world.run("evalrank", variant, "small-pairs")
        module_world.run("geometry", variant, "small-pairs")
    return module_world


def nasty(runs: RunsOf, *_: object) -> list[Finding]:
    example = Example((("query", NASTY), ("match", "a dog")), NASTY, (((0, 9),), ()))
    run = runs.chosen[0]
    return [
        Finding(
            "kind", Level.BLIND_SPOT, f"{{A}} fails at {NASTY}.", runs.entry.id, run.plan.dataset, (run,), 0.1,
            "a test", 40, 0.5, "evalrank", against=by_chance(-0.4, 1e-5), examples=(example,),
        )
    ]  # fmt: skip


@pytest.fixture(scope="module")
def report(filled: World) -> Report:
    return gather(filled.repository, filled.settings, Selection((A, B)), nasty)


class Elements(HTMLParser):
    """Tags with their attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in {"script", "style"}:
            self.words.append(data)


def test_a_report_is_one_file_that_asks_for_nothing(report: Report) -> None:
    text = as_html(report)
    assert len(text.encode()) < 5_000_000
    found = Elements(text)
    assert not {"img", "link", "iframe", "object", "base"} & {tag for tag, _ in found.tags}
    for tag, attributes in found.tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert "url(" not in text.split("</style>")[0]
    assert "@import" not in text.split("</style>")[0]
    assert text.count('id="blindspot-plotly"') == 1


def test_texts_are_escaped_everywhere(report: Report) -> None:
    text = as_html(report)
    found = Elements(text)
    said = "".join(found.words)
    assert NASTY in said
    assert "<b>bold</b>" not in text
    assert json.loads(_json_of(text, "blindspot-figures"))
    assert [tag for tag, _ in found.tags].count("script") == 4


def _json_of(text: str, element: str) -> str:
    found = re.search(rf'id="{element}">(.*?)</script>', text, re.DOTALL)
    assert found
    return found[1]


def test_it_can_be_read_without_javascript(report: Report) -> None:
    words = "".join(Elements(as_html(report)).words)
    for run in report.every_run:
        assert run.run_id in words
        if run.plan.diagnostic == "evalrank":
            assert f"{run.metrics['mrr']:.3f}" in words
    for entry in report.entries:
        assert entry.citation in words
    assert "10^{-6}" not in words
    assert "10<sup>−6</sup>" in as_html(report)
    for command in report.commands:
        assert command in unescape(words)


def test_it_begins_with_the_comparison_and_unfolds_findings_beyond_the_first(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = as_html(report)
    (found,) = report.comparisons
    said = escape(headline(found, found.a.label, found.b.label))
    assert text.index(said) < text.index("blind spot"), "the first line of all"
    assert text.index('id="comparison"') < text.index('id="findings"') < text.index('id="scores"')
    assert "<details>" not in text
    cards = text.count('<article class="finding')
    assert cards > 1
    monkeypatch.setattr(html, "CARDS", 1)
    folded = as_html(report)
    assert folded.count('<article class="finding') == cards
    assert f"<summary>{cards - 1} more</summary>" in folded
    first, rest = folded.split("<details>")
    assert first.count('<article class="finding') == 1
    assert rest.split("</details>")[0].count('<article class="finding') == cards - 1


def test_the_comparison_is_that_of_the_study(report: Report) -> None:
    (found,) = report.comparisons
    assert (found.a, found.b) == (A, B)
    (table,) = report.comparison_tables
    assert len(table.rows) == len(found.rows) == 2
    row = next(row for row in found.rows if row.a.plan.diagnostic == "evalrank")
    cells = next(cells for cells in table.rows if cells[0] == "EvalRank")
    assert cells[3:5] == (f"{row.a.metrics['mrr']:.3f}", f"{row.b.metrics['mrr']:.3f}")


def test_stars() -> None:
    assert [stars(p) for p in (None, 0.05, 0.049, 0.009, 0.0009)] == ["", "", "*", "**", "***"]


def test_commands_compute_the_same_runs_anew(report: Report, filled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.setenv("BLINDSPOT_CACHE", str(filled.cache))
    before = {run.run_id for run in filled.repository.runs()}
    for command in report.commands[:-1]:
        words = shlex.split(command)
        assert words[0] == "blindspot"
        assert cli.main(words[1:]) == 0
    assert {run.run_id for run in filled.repository.runs()} == before
    assert report.commands[-1].startswith("blindspot report --variant")


def test_a_manifest_is_read_back_and_is_like_itself(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(as_html(report), "utf-8")
    read = manifest.read(path)
    assert read == report.manifest
    assert {run["run_id"] for run in read["runs"]} == {run.run_id for run in report.every_run}
    found = manifest.compare(read, read)
    assert (found.only_first, found.only_second, found.unlike, found.both) == ((), (), (), 4)


def test_what_differs_between_two_reports_is_named(report: Report) -> None:
    other = json.loads(json.dumps(report.manifest))
    other["runs"][0]["manifest"]["encoder"]["revision"] = "2"
    other["runs"][0]["manifest"]["finished"] = "later"
    gone = other["runs"].pop()
    found = manifest.compare(report.manifest, other)
    assert [(one.fact, one.second) for one in found.unlike] == [("encoder revision", "2")]
    assert len(found.only_first) == 1
    assert gone["encoder"] in found.only_first[0]
    assert found.only_second == ()


@pytest.mark.parametrize("content", ["", "<html></html>", '<script type="application/json" id="blindspot-manifest">{'])
def test_what_is_no_report_is_one_line(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"no manifest|has no"):
        manifest.read(path)


@each(
    ("value", "expected"),
    [
        ("file:/home/me/a b/pairs.csv", "file:pairs.csv"),
        ("file:/home/me/pairs.csv?query=x", "file:pairs.csv?query=x"),
        ("dir:/models/mine", "dir:mine"),
        ("/data/x.tsv", "x.tsv"),
        ("hf:org/name@abc", "hf:org/name@abc"),
        ("minilm~center", "minilm~center"),
        ("10 items of file:/a", "10 items of file:/a"),
        ({"/a/b": ["/c/d", 1, None]}, {"b": ["d", 1, None]}),
    ],
)
def test_folders_of_this_machine_stay_here(value: object, expected: object) -> None:
    assert manifest.portable(value) == expected


TABLE = Table("My table", ("model", "a|b"), (("x_1 & y", "50%"), ("<b>", "–")), "50% of $a$ # {x}")


def test_a_table_by_hand() -> None:
    assert to_markdown(TABLE).splitlines()[:3] == [r"| model | a\|b |", "| :-- | --: |", r"| x\_1 & y | 50% |"]
    latex = to_latex(TABLE)
    assert r"x\_1 \& y & 50\% \\" in latex
    assert r"\caption{50\% of \$a\$ \# \{x\}}" in latex
    assert all(rule in latex for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lr}"))
    assert "<td>&lt;b&gt;</td>" in to_html(TABLE)


@given(st.text(max_size=30))
def test_no_text_leaves_its_cell(text: str) -> None:
    table = Table("t", ("a", "b"), ((text, text),), text)
    assert len(Elements(to_html(table)).tags) == len(Elements(to_html(Table("t", ("a", "b"), (("", ""),), ""))).tags)
    row = to_markdown(table).splitlines()[2]
    assert len(re.findall(r"(?<!\\)\|", row.replace(r"\\", ""))) == 3
    assert not re.search(r"(?<!\\)[&%$#_]", latex_text(text).replace(r"$\leq$", "").replace("$-$", ""))


def test_every_formula_of_a_method_is_written_out() -> None:
    for entry in all_diagnostics().values():
        made = html._markdown(entry.explained)
        left = [sign for sign in ("\\", "^", "$", "\ue000") if sign in "".join(Elements(made).words)]
        assert not left, (entry.id, left)


def test_the_other_formats_have_every_table(report: Report) -> None:
    tables = report.every_table
    assert sum(line.startswith("| :--") for line in as_markdown(report).splitlines()) == len(tables)
    assert as_latex(report).count(r"\begin{table}") == len(tables)
    assert set(FORMATS) == {".html", ".md", ".tex"}


def test_the_command(
    filled: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("BLINDSPOT_CACHE", str(filled.cache))
    out = tmp_path / "report.html"
    variants = ["--variant", "trigrams", "--variant", "bigrams"]
    assert cli.main(["report", *variants, "--dataset", "small-pairs", "--out", str(out)]) == 0
    assert manifest.read(out)["runs"]
    assert cli.main(["report", "--compare", str(out), str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["runs_of_both"] == 4
    assert cli.main(["report", *variants, "--out", str(tmp_path / "t.tex")]) == 0
    assert r"\toprule" in (tmp_path / "t.tex").read_text("utf-8")


@each(
    ("arguments", "code", "said"),
    [
        ([], 2, "--out"),
        (["--out", "report.pdf"], 2, ".html"),
        (["--out", "{tmp}/no/report.html"], 2, "no folder"),
        (["--out", "{tmp}/folder.html"], 2, "folder"),
        (["--variant", "lsa", "--out", "{tmp}/r.html"], 2, "--encoder lsa"),
        (["--dataset", "demo-pairs", "--out", "{tmp}/r.html"], 2, "demo-pairs"),
        (["--metric", "l2", "--variant", "bigrams", "--dataset", "small-pairs", "--out", "{tmp}/r.html"], 0, ""),
        (["--out", "/proc/report.html"], 1, "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    filled: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(filled.cache))
    (tmp_path / "folder.html").mkdir()
    assert cli.main(["report", *(word.format(tmp=tmp_path) for word in arguments)]) == code
    error = capsys.readouterr().err
    assert said in error
    if code:
        assert len(error.strip().splitlines()) == 1
        assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_a_report_of_nothing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "empty"))
    assert cli.main(["report", "--out", str(tmp_path / "r.html")]) == 2
    assert "no runs yet" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_the_page_offers_it(open_app: OpenApp, filled: World) -> None:
    app = open_app(filled.cache, "findings")
    keys = [element.proto.id for element in app.get("download_button")]
    assert all(any(f"report{ending}" in key for key in keys) for ending in FORMATS)
