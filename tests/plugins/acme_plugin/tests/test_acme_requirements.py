"""The author's own tests of the two requirements: the kit of ppdm-flow."""

from acme_requirements.p_sensitive.spec import SPEC as P_SENSITIVE
from acme_requirements.rare_words.spec import SPEC as RARE_WORDS

from ppdm_flow.plugins import BadEntry, RequirementCase, RequirementConformance, Role, Table, cells, tables


class TestPSensitive(RequirementConformance):
    def case(self):
        return RequirementCase(
            P_SENSITIVE,
            clauses=({"p": 2, "k": 2}, {"p": 2, "k": 3}, {"p": 3, "k": 3}, {"p": 2, "k": 2, "attributes": ["age"]}),
            attributes={"disease": {"domain": ["1", "2", "10"]}},
            bad=(
                BadEntry({"p": 1, "k": 2}, "p"),
                BadEntry({"p": 4, "k": 4}, "disease"),
                BadEntry({"p": 3, "k": 2}, "k"),
                BadEntry({"p": 2, "k": 2, "sensitive": ["disase"]}, "disase"),
            ),
        )


WORDS = ["pain", "no pain", "Smith", "pain in  the knee", " "]


def without_names(original):
    """Suppress the cells that name somebody."""
    texts = ["⊥" if text == "Smith" else text for text in original["note"].texts()]
    return Table.of({"note": texts})


class TestRareWords(RequirementConformance):
    release = None

    def case(self):
        return RequirementCase(
            RARE_WORDS,
            clauses=({"max": 0.2}, {"max": 0.5}, {"max": 0.2, "min_count": 2}, {"max": 0.0, "min_count": 4}),
            name="note",
            originals=tables({"note": cells(WORDS, missing=True)}, max_rows=10),
            roles={"note": Role.INSENSITIVE},
            release=type(self).release,
            bad=(BadEntry({"max": 1.5}, "max"), BadEntry({"max": 1}, "max")),
        )


class TestRareWordsOfAnotherTable(TestRareWords):
    release = staticmethod(without_names)
