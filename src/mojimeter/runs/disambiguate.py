"""A run of benchmark B from its settings to its folder, or from files alone.

The ledger of calls is the truth: what is missing from it is asked, and the tables are made from it. Where nothing is
missing nothing is run. The join of ``systems``, ``tasks``, ``judges`` and ``metrics``; knows no command line.

    settings.toml   what was asked for         pairs.jsonl        the pairs
    calls.jsonl     every finished call        answers.jsonl      answers, verdicts, readings
    differences.jsonl  which answers differ    scores.json, signature.txt, logs/   as in every run
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mojimeter.datasets.pairs import (
    ANSWER_COLUMNS,
    CONDITIONS,
    DIFFERENCE_COLUMNS,
    NAME,
    PAIR_COLUMNS,
    balanced_subset,
    read_answers,
    read_differences,
    read_pairs,
)
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError, PartialError
from mojimeter.judges.verifier import EMBEDDED, LlmVerifier, Verified, Verifier, get_verifier, replay, verify_pair
from mojimeter.metrics.disambiguation import score_disambiguation
from mojimeter.models.calls import CallLedger, Request, well_formed
from mojimeter.models.prices import Budget, Price, price_of
from mojimeter.runs.folder import CALLS, RunFolder
from mojimeter.runs.kin import with_kin
from mojimeter.runs.scoring import ColumnMap
from mojimeter.systems.answerers import (
    BASELINES,
    NO_CONTEXT,
    TEMPERATURE,
    Answerer,
    GivenAnswers,
    LanguageAnswerer,
    get_answerer,
    prompt_digest,
)

if TYPE_CHECKING:
    from mojimeter.models.patience import Patience
    from mojimeter.tasks.evaluate import Failure

# What may differ when the same folder is used again: more of the same.
_MAY_GROW = ("systems", "limit", "pairs_file", "answers", "differences", "people", "version")
Known = Mapping[str, Mapping[str, "str | None"]]


@dataclass(frozen=True, slots=True)
class DisambiguateSettings:
    """What a run is asked to do; every field is in ``settings.toml``.

    Attributes:
        pairs: file of pairs, or ``pairs`` / ``pairs:en`` for the set that ships.
        systems: names, baselines included; none: only what ``answers`` holds is scored.
        verifier: ``embedded`` or a model; None: verdicts come from the files alone.
        answers, differences: files made elsewhere, by people or systems.
        people: files of people's verdicts on answers, against which the verifier is measured.
        temperature, seed: of the systems.
        limit: so many pairs, balanced over kinds, languages and readings; None: all.
        baselines: add the commoner reading, one of the two at random, and each model without context.
        only_accuracy: ask the verifier only what the two accuracies need.
        draws, bootstrap_seed: of the scoring.
    """

    pairs: str
    systems: tuple[str, ...] = ()
    verifier: str | None = None
    answers: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    temperature: float = TEMPERATURE
    seed: int | None = None
    limit: int | None = None
    baselines: bool = True
    only_accuracy: bool = False
    draws: int = 2000
    bootstrap_seed: int = 0
    mapping: Mapping[str, str] = field(default_factory=dict)


DEMO_SYSTEM = "local/smollm2-135m"
# English, because the local model reads little else and takes several times as long over other scripts; as many as
# it answers three times over within the demo's time.
DEMO_SOURCE = "pairs:en"
DEMO_PAIRS = 24


def demo_settings(settings: DisambiguateSettings) -> DisambiguateSettings:
    """Settings with what the demo needs in place of what was not said: a local model, a verifier, a part of the set."""
    return replace(
        settings,
        pairs=DEMO_SOURCE if settings.pairs == NAME else settings.pairs,
        systems=settings.systems or (DEMO_SYSTEM,),
        verifier=settings.verifier or EMBEDDED,
        limit=settings.limit or DEMO_PAIRS,
    )


class PairsRun:
    """Settings made concrete: pairs and files read, systems and verifier found.

    Raises:
        InputError: any setting is wrong; nothing has been asked or written by then.
    """

    def __init__(self, settings: DisambiguateSettings) -> None:
        self.settings = settings
        if not settings.systems and not settings.answers:
            raise InputError("nothing to score: give systems (--system), files of answers (--answers), or both")
        if settings.limit is not None and settings.limit < 1:
            raise InputError(f"limit is {settings.limit}; expected 1 or more")
        columns = ColumnMap(settings.mapping)
        whole = read_pairs(settings.pairs, columns.of(settings.pairs))
        self.frame = balanced_subset(whole, settings.limit) if settings.limit else whole
        self.pairs = self.frame.to_dicts()
        self.given = _all_files(read_answers, settings.answers, columns)
        self.given_differences = _all_files(read_differences, settings.differences, columns)
        self.people = _all_files(_read_people, settings.people, columns)
        columns.refuse_unused()
        self.given_left_out = 0
        if self.given is not None:
            inside = self.given.join(self.frame.select("id"), on="id", how="semi", maintain_order="left")
            self.given_left_out = self.given.height - inside.height
            if not inside.height:
                raise InputError(f"{settings.answers[0]}: no answer in it is to a pair of {settings.pairs}")
            self.given = inside
        self.verifier: Verifier | None = get_verifier(settings.verifier) if settings.verifier else None
        self.answerers = [self._answerer(name) for name in self._names()]
        self.answerers += self._people_and_others([who.name for who in self.answerers])
        self._known = self._known_verdicts()

    @property
    def asks(self) -> bool:
        """Whether any model may be asked."""
        return isinstance(self.verifier, LlmVerifier) or any(
            not isinstance(who, GivenAnswers) and who.name not in BASELINES for who in self.answerers
        )

    def known(self, system: str, pair_id: str) -> Known:
        """Verdicts and readings that a file gives, by condition."""
        return self._known.get((system, pair_id), {})

    def identity(self) -> dict[str, Any]:
        """What is written to ``settings.toml``."""
        from mojimeter import __version__

        settings = asdict(self.settings)
        mapping, pairs_file = settings.pop("mapping"), settings.pop("pairs")
        return {
            **settings,
            "systems": [who.name for who in self.answerers],
            "pairs_file": pairs_file,
            "prompt": prompt_digest(),
            "verifier_digest": self.verifier.digest if self.verifier else None,
            "version": __version__,
            **({"map": dict(mapping)} if mapping else {}),
        }

    def signature_prompt(self) -> str:
        """Prompt of the systems and digest of the verifier, for the signature."""
        return f"{prompt_digest()}+{self.verifier.digest if self.verifier else '-'}"

    def _names(self) -> list[str]:
        names = list(dict.fromkeys(self.settings.systems))
        if not names or not self.settings.baselines:
            return names
        models = [name for name in names if not name.startswith("baseline/")]
        return list(dict.fromkeys([*names, *BASELINES, *(NO_CONTEXT + model for model in models)]))

    def _answerer(self, name: str) -> Answerer:
        return get_answerer(name, temperature=self.settings.temperature, seed=self.settings.seed)

    def _people_and_others(self, taken: Sequence[str]) -> list[Answerer]:
        if self.given is None:
            return []
        found: list[Answerer] = []
        for name in self.given["system"].unique(maintain_order=True):
            if name in taken:
                raise InputError(f"{self.settings.answers[0]}: system {name!r} is also given as --system")
            own = self.given.filter(pl.col("system") == name)
            answers = {(i, k): a or "" for i, k, a in own.select("id", "condition", "answer").iter_rows()}
            found.append(GivenAnswers(name, answers))
        return found

    def _known_verdicts(self) -> dict[tuple[str, str], dict[str, dict[str, str | None]]]:
        known: dict[tuple[str, str], dict[str, dict[str, str | None]]] = {}
        if self.given is not None:
            for row in self.given.select(*ANSWER_COLUMNS).iter_rows(named=True):
                by_condition = known.setdefault((row["system"], row["id"]), {})
                by_condition[row["condition"]] = {"verdict": row["verdict"], "reading": row["reading"]}
        return known


@dataclass
class PairTables:
    """What the ledger knows of a run.

    Attributes:
        answers, differences: rows of the canonical tables.
        missing: (system, id) with an answer or a verdict still to come.
        pending: answerers with something missing.
        items: how many (system, id) there are.
    """

    answers: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    pending: list[Answerer] = field(default_factory=list)
    items: int = 0


@dataclass(frozen=True, slots=True)
class PairsOutcome:
    """What a run gave.

    Attributes:
        document: the JSON document of the command.
        folder: the run folder, where there is one.
        unfinished: what to raise once the document is written, where some of the work is not done.
    """

    document: dict[str, Any]
    folder: Path | None
    unfinished: PartialError | None = None


def run_disambiguate(
    settings: DisambiguateSettings,
    out: str | Path | None,
    *,
    patience: Patience | None = None,
    prices: Mapping[str, Price] | None = None,
    max_cost: float | None = None,
    allow_failures: bool = False,
    started: Callable[[int], None] = lambda items: None,
    done: Callable[[str], None] = lambda system: None,
    verifying: Callable[[int, int], None] = lambda done, total: None,
) -> PairsOutcome:
    """Run what is missing of a run, and write its folder.

    Args:
        settings: what is asked for.
        out: the run folder; one that holds the same run goes on from there, with another bootstrap if that is what is
            asked for: settings and scores are then written anew. None where no model is asked: nothing is written then.
        patience: how long calls are tried, how many at a time.
        prices: of models, by name.
        max_cost: US dollars over all attempts at this run; the call that could go over is not made.
        allow_failures: score what is there; an answer that failed counts as none given, which is wrong.
        started, done: for a progress bar: how many pairs are asked, and each system's name when one is finished.
        verifying: called with (systems done, systems) while a verifier of ours works.

    Raises:
        InputError: settings are wrong, or the folder holds another run.
    """
    run = PairsRun(settings)
    prices = prices or {}
    if run.asks and out is None:
        raise InputError("models are asked: a run folder is needed (--out DIR)")
    if max_cost is not None:
        _require_prices(run, prices)
    with ExitStack() as stack:
        folder = stack.enter_context(RunFolder(out)) if out is not None else None
        if folder is not None:
            folder.require_same_run(run.identity(), _MAY_GROW)
            folder.write_settings(run.identity())
            folder.write_table("pairs", run.frame.select(*PAIR_COLUMNS))
        ledger = CallLedger(folder.calls if folder else None)
        budget = Budget(max_cost, prices, sum(call.usd or 0.0 for call in ledger))
        failures: list[Failure] = []
        pending = tabulate(run, ledger, verify=isinstance(run.verifier, LlmVerifier)).pending
        if pending and folder is not None:
            failures = _evaluate(run, pending, ledger, budget, patience, folder, started, done)
        tables = tabulate(run, ledger, verify=True, verifying=verifying)
        ledger.close()
        return _outcome(run, folder, tables, failures, _calls(ledger, budget), allow_failures)


def tabulate(
    run: PairsRun,
    ledger: CallLedger,
    *,
    verify: bool,
    verifying: Callable[[int, int], None] = lambda done, total: None,
) -> PairTables:
    """The tables that settings and ledger determine; asks nobody.

    Args:
        run: the settings made concrete.
        ledger: finished calls.
        verify: also the verifier's part, replayed from the ledger or worked out by a verifier of ours.
        verifying: called with (systems done, systems).
    """
    tables = PairTables()
    for place, who in enumerate(run.answerers):
        known_before = len(tables.missing)
        asked = [(pair, _answers_of(who, pair, ledger)) for pair in run.pairs]
        prepare = getattr(run.verifier, "prepare", None)
        if verify and prepare is not None:
            prepare([text for pair, (answers, _) in asked for text in _to_compare(pair, answers)])
        for pair, (answers, whole) in asked:
            tables.items += 1
            whole &= _add_pair(run, tables, who, pair, answers, ledger, verify)
            if not whole:
                tables.missing.append((who.name, str(pair["id"])))
        if len(tables.missing) > known_before:
            tables.pending.append(who)
        verifying(place + 1, len(run.answerers))
    return tables


def _to_compare(pair: Mapping[str, Any], answers: Mapping[str, str | None]) -> list[str]:
    """Texts that a verifier will have to compare; none where all answers are expected ones word for word."""
    expected = [pair["answer_1"], pair["answer_2"]]
    said = [answer for answer in answers.values() if answer and answer not in expected]
    return [*said, *expected] if said else []


def _answers_of(who: Answerer, pair: Mapping[str, Any], ledger: CallLedger) -> tuple[dict[str, str | None], bool]:
    answers: dict[str, str | None] = {}
    whole = True
    for condition in CONDITIONS:
        said = who.answer(pair, condition)
        if isinstance(said, Request):
            call = ledger.get(said.key)
            whole &= call is not None
            said = well_formed(call.reply) if call else None
        answers[condition] = said
    return answers, whole


def _add_pair(
    run: PairsRun,
    tables: PairTables,
    who: Answerer,
    pair: Mapping[str, Any],
    answers: Mapping[str, str | None],
    ledger: CallLedger,
    verify: bool,
) -> bool:
    """Add the rows of one system and pair; whether nothing is missing."""
    where = {"id": str(pair["id"]), "system": who.name}
    known = run.known(who.name, str(pair["id"]))
    found: Verified | Request | None = None
    if verify and run.verifier is not None:
        asking = verify_pair(pair, answers, given=known, only_accuracy=run.settings.only_accuracy)
        found = replay(run.verifier, asking, lambda request: ledger.get(request.key))
    verified = found if isinstance(found, Verified) else None
    for condition, answer in answers.items():
        if answer is None and isinstance(who, GivenAnswers):
            continue  # not in the file: not asked, so not a failure
        row = (verified.answers if verified else known).get(condition, {})
        verdict, reading = row.get("verdict"), row.get("reading")
        tables.answers.append(
            {**where, "condition": condition, "answer": answer, "verdict": verdict, "reading": reading}
        )
    for (compared, order), differs in (verified.differences if verified else {}).items():
        tables.differences.append({**where, "pair": compared, "order": order, "differs": differs})
    return not isinstance(found, Request)


def _evaluate(
    run: PairsRun,
    pending: Sequence[Answerer],
    ledger: CallLedger,
    budget: Budget,
    patience: Patience | None,
    folder: RunFolder,
    started: Callable[[int], None],
    done: Callable[[str], None],
) -> list[Failure]:
    from mojimeter.models.client import Client
    from mojimeter.tasks.disambiguate import evaluate_pairs

    started(len(pending) * len(run.pairs))
    return evaluate_pairs(
        pending,
        run.verifier,
        run.pairs,
        Client(ledger, budget, patience),
        given=run.known,
        only_accuracy=run.settings.only_accuracy,
        logs=folder.logs,
        done=done,
    )


def _outcome(
    run: PairsRun,
    folder: RunFolder | None,
    tables: PairTables,
    failures: Sequence[Failure],
    calls: dict[str, Any],
    allow_failures: bool,
) -> PairsOutcome:
    answers = pl.DataFrame(tables.answers, schema=dict.fromkeys(ANSWER_COLUMNS, pl.String))
    differences = _differences(run, tables)
    if folder is not None:
        folder.write_table("answers", answers)
        folder.write_table("differences", differences)
    reasons: dict[str, int] = {}
    for failure in failures:
        reasons[failure.reason] = reasons.get(failure.reason, 0) + 1
    state: dict[str, Any] = {
        "calls": calls,
        "failed": {"items": len(tables.missing), "of": tables.items, "reasons": reasons},
        "run": str(folder.path) if folder else None,
    }
    path = folder.path if folder else None
    if tables.missing and not allow_failures:
        unfinished = PartialError(
            f"{len(tables.missing)} of {tables.items} pairs and systems failed or have no verdict yet; what is done is "
            f"in {path}, and the same command goes on from there"
        )
        return PairsOutcome({"schema": 1, "status": "partial", **state}, path, unfinished)
    document = {**score_run(run, answers, differences), **state}
    if folder is not None:
        folder.write_scores(document)
    return PairsOutcome(document, path)


def score_run(run: PairsRun, answers: pl.DataFrame, differences: pl.DataFrame) -> dict[str, Any]:
    """The scores of a run's tables."""
    document = score_disambiguation(
        run.frame,
        answers,
        differences if differences.height else None,
        run.people,
        draws=run.settings.draws,
        seed=run.settings.bootstrap_seed,
        verifier=run.verifier.name if run.verifier else None,
        verifier_facts=run.verifier.facts() if run.verifier else None,
        prompt=run.signature_prompt(),
    ).to_dict()
    if run.given_left_out:
        note = f"{run.given_left_out} answers in files are to pairs that are not among these; they are left out"
        document["warnings"] = [*document["warnings"], note]
    document = with_kin(document, [run.verifier.name] if run.verifier else [], role="verifier")
    return {**document, "given": [who.name for who in run.answerers if isinstance(who, GivenAnswers)]}


def count_calls(run: PairsRun, out: str | Path | None) -> dict[str, Any]:
    """The document of ``--dry-run``: calls still to be made; asks nobody and writes nothing.

    What the verifier will be asked depends on its replies: given as the fewest and the most.
    """
    calls = Path(out) / CALLS if out is not None else None
    ledger = CallLedger(calls, read_only=True) if calls is not None and calls.exists() else CallLedger()
    answers: dict[str, set[str]] = {}
    least = most = 0
    for who in run.answerers:
        for pair in run.pairs:
            said: dict[str, str | None] = {}
            for condition in CONDITIONS:
                reply = who.answer(pair, condition)
                if isinstance(reply, Request):
                    call = ledger.get(reply.key)
                    if call is None:
                        answers.setdefault(reply.model, set()).add(reply.key)
                    # a stand-in that no two conditions share, unless they are the same call
                    reply = call.reply if call else f"answer {reply.key}"
                said[condition] = reply
            if isinstance(run.verifier, LlmVerifier):
                counts = [_questions(run, who, pair, said, ledger, reply) for reply in ("right", "wrong")]
                least, most = least + min(counts), most + max(counts)
    return {
        "schema": 1,
        "dry_run": True,
        "pairs": len(run.pairs),
        "systems": [who.name for who in run.answerers],
        "verifier": run.verifier.name if run.verifier else None,
        "calls": {
            "made": 0,
            "answer": {name: len(keys) for name, keys in answers.items()},
            "verify": {"least": least, "most": most},
            "known": len(ledger),
        },
    }


def _questions(
    run: PairsRun,
    who: Answerer,
    pair: Mapping[str, Any],
    said: Mapping[str, str | None],
    ledger: CallLedger,
    reply: str,
) -> int:
    """Calls to a model verifier about one pair, were its unknown replies all the same."""
    assert isinstance(run.verifier, LlmVerifier)
    known = run.known(who.name, str(pair["id"]))
    asking = verify_pair(pair, said, given=known, only_accuracy=run.settings.only_accuracy)
    asked: set[str] = set()
    try:
        question = next(asking)
        while True:
            request = run.verifier.request(question)
            call = ledger.get(request.key)
            if call is None:
                asked.add(request.key)
            question = asking.send(call.reply if call else reply)
    except StopIteration:
        return len(asked)


def _differences(run: PairsRun, tables: PairTables) -> pl.DataFrame:
    """The verifier's, but for systems whose differences a file gives."""
    schema = {**dict.fromkeys(DIFFERENCE_COLUMNS, pl.String), "differs": pl.Boolean}
    own = pl.DataFrame(tables.differences, schema=schema)
    if run.given_differences is None:
        return own
    theirs = run.given_differences.join(run.frame.select("id"), on="id", how="semi", maintain_order="left")
    kept = own.join(theirs.select("system").unique(), on="system", how="anti", maintain_order="left")
    return pl.concat([kept, theirs.select(DIFFERENCE_COLUMNS)])


def _read_people(paths: Sequence[str], mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """People's verdicts: ``id``, ``system``, ``condition``, ``verdict``; answers need not be repeated."""
    frames = []
    for path in paths:
        frame = read_table(path, required=("id", "system", "condition", "verdict"), mapping=mapping)
        frames.append(frame.select(pl.col("id", "system", "condition", "verdict").cast(pl.String)))
    return pl.concat(frames)


def _all_files(read: Callable[..., pl.DataFrame], paths: Sequence[str], columns: ColumnMap) -> pl.DataFrame | None:
    if not paths:
        return None
    if not columns.mapping:
        return read(list(paths))
    return pl.concat([read([path], columns.of(path)) for path in paths], how="diagonal_relaxed")


def _calls(ledger: CallLedger, budget: Budget) -> dict[str, Any]:
    made = sum(ledger.tally.made.values())
    unpriced = any(call.usd is None for call in ledger)
    return {
        "made": made,
        "saved": sum(ledger.tally.known.values()),
        "known": len(ledger) - made,
        "made_by_purpose": dict(sorted(ledger.tally.made.items())),
        "usd": None if unpriced else round(budget.spent, 6),
    }


def _require_prices(run: PairsRun, prices: Mapping[str, Price]) -> None:
    names = [who.name for who in run.answerers if isinstance(who, LanguageAnswerer)]
    if isinstance(run.verifier, LlmVerifier):
        names.append(run.verifier.name)
    for name in names:
        if price_of(name, prices) is None:
            raise InputError(f"--max-cost needs the price of {name}: give --prices FILE with [{name!r}] in it")
