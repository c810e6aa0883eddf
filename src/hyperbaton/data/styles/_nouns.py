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


def objects(conjunction: str, *, joined: float) -> list[Rule]:
    """Objects of verbs: nouns, two or three of them joined, or a pronoun."""
    both = f"CC:{conjunction}"
    return [
        Rule("NP-OBJ", "NP-THING", "NP-THING", weight=6),
        Rule("NP-OBJ", "NP-PERSON", "NP-PERSON", weight=2),
        Rule("NP-OBJ", "NP-PLACE", "NP-PLACE", weight=0.5),
        Rule("NP-OBJ", f"NP-THING {both} NP-OBJ", "NP-THING and+CC NP-OBJ", weight=joined),
        Rule(
            "NP-OBJ",
            f"NP-THING.1 PU:、 NP-THING.2 {both} NP-THING",
            "NP-THING.1 ,+PU NP-THING.2 and+CC NP-THING",
            weight=joined,
        ),
        Rule("NP-OBJ", "PN-OBJ", "PN-OBJ", weight=0.5),
        Rule("NP-TO", "PN-OBJ", "PN-OBJ", weight=1),
        Rule("NP-TO", "NP-PERSON", "NP-PERSON", weight=2),
    ]


def predicates(particle: str, *, adjective: float, compound: float) -> list[Rule]:
    """What a person is: the noun of an owner, and nouns alone, with an adjective, or with another noun."""
    return [
        Rule(
            "NP-PRED",
            f"(DNP NP-OWNER DEG:{particle}) NP-PERSON-PRED*",
            Move("the NP-PERSON-PRED of+DEG the NP-OWNER", when="NP-OWNER:bare"),
            "the NP-PERSON-PRED of+DEG NP-OWNER",
        ),
        Rule("NP-PERSON-PRED", "NN-PERSON", "NN-PERSON/num", weight=4),
        Rule("NP-PERSON-PRED", "(ADJP JJ) NN-PERSON", "JJ NN-PERSON/num", weight=adjective),
        Rule("NP-PERSON-PRED", "NN-THING.2 NN-PERSON", "NN-THING.2 NN-PERSON/num", weight=compound),
    ]


def owners(*, person: float) -> list[Rule]:
    """Owners of nouns."""
    return [
        Rule("NP-OWNER", "NP-PERSON", "NP-PERSON", weight=person),
        Rule("NP-OWNER", "NN-THING", "NN-THING", weight=1.5, adds="bare"),
        Rule("NP-OWNER", "NP-THING", "NP-THING", weight=1.5),
        Rule("NP-OWNER", "NP-PLACE", "NP-PLACE", weight=1.5),
        Rule("NP-OWNER", "NR", "NR", weight=1.5),
    ]
