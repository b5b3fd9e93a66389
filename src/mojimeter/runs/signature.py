"""The signature: everything a score depends on, in one short string that is printed with it.

The idea is sacreBLEU's (Post 2018, "A call for clarity in reporting BLEU scores"). Two scores may be
compared only where their signatures agree. Knows settings and a table of posts, not what was scored.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import polars as pl

UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a score depends on.

    Attributes:
        data: hash of the posts (ids, original texts), whatever their order.
        n: number of posts.
        judge: who labelled.
        votes: of the judge, ``-`` where a file does not say.
        prompt: hash of the prompts, ``-`` where a file does not say.
        equality: when two emoji are the same.
        append: what was appended to the post before it was judged, ``emoji`` or the ``raw`` reply.
        seed, draws: of the bootstrap.
        version: of mojimeter.
    """

    data: str
    n: int
    judge: str
    votes: str
    prompt: str
    equality: str
    append: str
    seed: int
    draws: int
    version: str

    def __str__(self) -> str:
        return "|".join(f"{name}:{_plain(value)}" for name, value in asdict(self).items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a printed signature back.

        Raises:
            ValueError: it is not one.
        """
        parts = dict(part.split(":", 1) for part in text.split("|") if ":" in part)
        try:
            return cls(
                data=parts["data"],
                n=int(parts["n"]),
                judge=parts["judge"],
                votes=parts["votes"],
                prompt=parts["prompt"],
                equality=parts["equality"],
                append=parts["append"],
                seed=int(parts["seed"]),
                draws=int(parts["draws"]),
                version=parts["version"],
            )
        except KeyError as missing:
            raise ValueError(f"not a signature, {missing} is missing: {text!r}") from None

    def differences(self, other: Signature) -> dict[str, tuple[str, str]]:
        """The parts in which two signatures differ: name -> (ours, theirs)."""
        ours, theirs = asdict(self), asdict(other)
        return {name: (str(ours[name]), str(theirs[name])) for name in ours if ours[name] != theirs[name]}


def data_hash(posts: pl.DataFrame) -> str:
    """First 8 hex digits of the SHA-256 of the posts' ids and original texts, in order of id."""
    digest = hashlib.sha256()
    for piece in posts.select("id", "original").sort("id").iter_slices(50_000):
        digest.update(piece.write_csv(include_header=False).encode())
    return digest.hexdigest()[:8]


def _plain(value: object) -> str:
    """No separator of ours inside a part."""
    return str(value).replace("|", "/")
