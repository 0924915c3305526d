"""What no tool can say, chapter by chapter: questions that a person answers, in the words of the texts that ask them.

Sources: 45 CFR 164.514(b)(1); ISO/IEC 27559:2022, clauses 6 to 9; Desai, Ritchie, Welpton, Five Safes: designing data
access for research, UWE Bristol, 2016.
"""

from __future__ import annotations

TITLES = {
    "determination": ("The determination", "45 CFR 164.514(b)(1)"),
    "projects": ("Safe projects", "Five Safes; ISO/IEC 27559, 6.3 (transparency and impact assessment)"),
    "people": ("Safe people", "Five Safes; ISO/IEC 27559, 6.2.3 (motives and capacity to re-identify)"),
    "settings": ("Safe settings", "Five Safes; ISO/IEC 27559, 6.2.2 (security and privacy practices)"),
    "data": ("Safe data", "Five Safes; 45 CFR 164.514(b)(1)(i); ISO/IEC 27559, 7.2 and 8.2 (data, identifiability)"),
    "attacks": ("Attacks and risk, measured", "ISO/IEC 27559, 7.3 and 8.2.3 (attack modelling, adversarial testing)"),
    "outputs": ("Safe outputs", "Five Safes; ISO/IEC 27559, 8.3 (mitigation)"),
    "governance": ("Methods, records and governance", "45 CFR 164.514(b)(1)(ii); ISO/IEC 27559, 9 (governance)"),
}
INTROS = {
    "determination": "What an expert determines is the expert's own: this only lays out what the run measured.",
    "projects": "Whether the use is appropriate.",
    "people": "Whether whoever gets the data can be trusted to use it appropriately.",
    "settings": "Whether the place where the data is used limits what can be done with it.",
    "data": "What the released data tells, and which bounds were measured on the released files themselves.",
    "attacks": "Figures of attacks and of what is left to learn. A figure bounds nothing by itself.",
    "outputs": "Whether what leaves, or is published from it, tells of anybody.",
    "governance": "What was done, by which means, and what keeps it so.",
}
QUESTIONS = {
    "determination": (
        (
            "Who determines it, with what knowledge of and experience with generally accepted statistical and"
            " scientific principles and methods for rendering information not individually identifiable?"
        ),
        (
            "Is the risk very small that the information could be used, alone or in combination with other reasonably"
            " available information, by an anticipated recipient to identify an individual who is a subject of it?"
        ),
        "Which risk counts as very small here, and why?",
        "Until when does the determination hold, and what would end it earlier?",
    ),
    "projects": (
        "What is the data to be used for, and is that lawful, ethical and in the interest of those whom it is about?",
        "Has the impact on people been assessed, and have those concerned been told or asked?",
        "Which agreement or licence binds the use, and does it forbid to identify anybody?",
    ),
    "people": (
        "Who are the anticipated recipients, and who else may come to see the data?",
        "What could move them to identify somebody, and what are they able to do?",
        "What else do they hold or can they reasonably get that could be combined with the data?",
        "Are they trained, and what do they answer for if they break the agreement?",
    ),
    "settings": (
        "Where will the data be held, and who controls access there, physically and technically?",
        "Can the data be copied, linked with other data, or taken out of the place?",
        "Are accesses recorded and looked at, and what happens after an incident?",
        "When is the data deleted, and who sees to it?",
    ),
    "data": (
        (
            "Are the roles right that the policy gives to the attributes? What others may know of a person has to be a"
            " quasi-identifier, or nothing counts it."
        ),
        "Which information outside of the data was looked for that could be linked with it, and what came of it?",
        "Has somebody read the values that are released as text? No tool finds every name or place in them.",
        "Does anybody have actual knowledge by which somebody could be identified?",
        "Are the bounds that the policy asks for right for these people and these recipients?",
    ),
    "attacks": (
        "Which attacks are plausible here, and are those that were measured among them?",
        "Is the maximum or the average risk the one that matters, in the sample or in the population?",
        "Has somebody tried to identify people in the release who did not make it?",
    ),
    "outputs": (
        "Will what recipients publish be checked for disclosure before, by whom and by which rules?",
        "Which other releases of the same people are there, of this tool or not, and can they be joined with this one?",
    ),
    "governance": (
        "Who is responsible for the release, and who approved it?",
        "Who watches whether new data, methods or releases make identification easier, and when is that reviewed?",
        "What happens if somebody is identified after all?",
        "Where are this document, the policy and the report kept, and for how long?",
    ),
}
