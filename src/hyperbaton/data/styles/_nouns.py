"""Rules for noun phrases that several styles share: they differ in weights and in the particle of possession."""

from __future__ import annotations

from hyperbaton.data.grammar import Move, Rule


def described(kind: str, *, adjective: float, compound: float) -> list[Rule]:
    """A noun of one kind alone, with an adjective, or with an adjective and another noun, by their weights."""
    np, nn = f"NP-{kind}", f"NN-{kind}"
    return [
        Rule(np, nn, Move(f"a {nn}", chance=0.3), f"the {nn}", weight=6),
        Rule(np, nn, f"the {nn}/plural", weight=1.5, adds="plural"),
        Rule(np, f"(ADJP JJ) {nn}", Move(f"a JJ {nn}", chance=0.4), f"the JJ {nn}", weight=adjective),
        Rule(np, f"(ADJP JJ) NN-THING.2 {nn}", f"the JJ NN-THING.2 {nn}", weight=compound),
    ]


def owned(kind: str, particle: str, *, weight: float) -> Rule:
    """A noun after its owner: "owner 's noun", "the noun of owner" or a compound."""
    head = f"NP-{kind}-HEAD"
    return Rule(
        f"NP-{kind}",
        f"(DNP NP-OWNER DEG:{particle}) {head}*",
        Move(f"the NP-OWNER {head}", when=f"{head}:compounding, NP-OWNER:bare"),
        Move(f"the {head} of+DEG the NP-OWNER", when="NP-OWNER:bare"),
        Move(f"the {head} of+DEG NP-OWNER", when=f"{head}:relational"),
        Move(
            f"NP-OWNER 's+DEG {head}",
            when="NP-OWNER:person, NP-OWNER:!long, NP-OWNER:!plural, NP-OWNER:!clause",
            chance=0.95,
        ),
        f"the {head} of+DEG NP-OWNER",
        weight=weight,
    )


def heads(kind: str, *, adjective: float, compound: float) -> list[Rule]:
    """Nouns that follow an owner, a determiner or a clause: alone, with an adjective, or with another noun."""
    head, nn = f"NP-{kind}-HEAD", f"NN-{kind}"
    return [
        Rule(head, nn, nn, weight=4),
        Rule(head, f"(ADJP JJ) {nn}", f"JJ {nn}", weight=adjective),
        Rule(head, f"NN-THING.2 {nn}", f"NN-THING.2 {nn}", weight=compound),
    ]
