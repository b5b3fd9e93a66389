"""Options that take several values after one flag: ``--outputs a.csv b.csv``, as a shell expands ``--outputs *.csv``.

Click wants the flag repeated for each value; this repeats it. Values are taken only once all required
arguments have been seen, so ``score --outputs a.csv POSTS`` means what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperOption


class ManyValues(TyperCommand):
    """A command whose repeatable options also take their values in a row."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeat_flags(self.params, args))


def repeat_flags(params: Sequence[Any], args: Sequence[str]) -> list[str]:
    """``--outputs a b`` -> ``--outputs a --outputs b``, for the options among ``params`` that may be repeated."""
    options = {name: p for p in params if isinstance(p, TyperOption) for name in (*p.opts, *p.secondary_opts)}
    required = sum(p.nargs for p in params if isinstance(p, TyperArgument) and p.required and p.nargs > 0)
    out: list[str] = []
    seen, position = 0, 0
    while position < len(args):
        token = args[position]
        position += 1
        out.append(token)
        if token == "--":
            return [*out, *args[position:]]
        option = options.get(token)
        if option is None:
            seen += not token.startswith("-") or token == "-"
            continue
        if option.is_flag or option.count or position >= len(args):
            continue
        out.append(args[position])
        position += 1
        while option.multiple and seen >= required and position < len(args) and args[position][:1] != "-":
            out += [token, args[position]]
            position += 1
    return out
