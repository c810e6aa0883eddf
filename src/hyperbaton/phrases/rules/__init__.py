"""Hierarchical rules: the rule table, its extraction, and Moses' files of rules and of the glue grammar.

Import from here; the modules inside import each other and the rest of `phrases`. `decode/derivations.py` and
`evaluate/explain_rules.py` use rules in later folders.
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.phrases.rules.extraction import RuleWork as RuleWork
    from hyperbaton.phrases.rules.extraction import extract_rules as extract_rules
    from hyperbaton.phrases.rules.moses import GLUE as GLUE
    from hyperbaton.phrases.rules.moses import GLUE_FILE as GLUE_FILE
    from hyperbaton.phrases.rules.moses import RULE_FILE as RULE_FILE
    from hyperbaton.phrases.rules.moses import glue_pieces as glue_pieces
    from hyperbaton.phrases.rules.moses import read_glue as read_glue
    from hyperbaton.phrases.rules.moses import read_rules as read_rules
    from hyperbaton.phrases.rules.moses import rule_table_pieces as rule_table_pieces
    from hyperbaton.phrases.rules.moses import write_rules as write_rules
    from hyperbaton.phrases.rules.table import DECODED_SPAN as DECODED_SPAN
    from hyperbaton.phrases.rules.table import KIND as KIND
    from hyperbaton.phrases.rules.table import SOURCE_GAPS as SOURCE_GAPS
    from hyperbaton.phrases.rules.table import STORED as STORED
    from hyperbaton.phrases.rules.table import TARGET_GAPS as TARGET_GAPS
    from hyperbaton.phrases.rules.table import RuleLimits as RuleLimits
    from hyperbaton.phrases.rules.table import RuleTable as RuleTable

LazyNames(globals())
