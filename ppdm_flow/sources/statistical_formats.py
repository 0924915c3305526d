"""Display formats of SPSS, Stata and SAS: which of them make a number a date, a moment or a time of day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ppdm_flow.tables.numeric.epochs import DAYS_FROM_1960, SAS, SPSS, STATA, Epoch

_SPSS_DATES = frozenset({"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"})
_SPSS_MOMENTS = frozenset({"DATETIME", "YMDHMS"})
_SPSS_TIMES = frozenset({"TIME", "DTIME", "MTIME"})

_SAS_DATES = (
    "DATE DAY DDMMYY DDMMYYB DDMMYYC DDMMYYD DDMMYYN DDMMYYP DDMMYYS DOWNAME JULDAY JULIAN MMDDYY MMDDYYB MMDDYYC"
    " MMDDYYD MMDDYYN MMDDYYP MMDDYYS MMYY MMYYC MMYYD MMYYN MMYYP MMYYS MONNAME MONTH MONYY NENGO QTR QTRR WEEKDATE"
    " WEEKDATX WEEKDAY WEEKU WEEKV WEEKW WORDDATE WORDDATX YEAR YYMM YYMMC YYMMD YYMMN YYMMP YYMMS YYMMDD YYMMDDB"
    " YYMMDDC YYMMDDD YYMMDDN YYMMDDP YYMMDDS YYMON YYQ YYQC YYQD YYQN YYQP YYQR YYQS E8601DA B8601DA IS8601DA NLDATE"
)
_SAS_MOMENTS = (
    "DATETIME DATEAMPM DTDATE DTMONYY DTWKDATX DTYEAR DTYYQC MDYAMPM E8601DT B8601DT E8601DN B8601DN IS8601DT IS8601DN"
    " NLDATM"
)
_SAS_TIMES = "TIME TIMEAMPM TOD HHMM HOUR MMSS E8601TM B8601TM IS8601TM NLTIME"
_SAS = {
    **dict.fromkeys(_SAS_DATES.split(), "date"),
    **dict.fromkeys(_SAS_MOMENTS.split(), "moment"),
    **dict.fromkeys(_SAS_TIMES.split(), "time"),
}


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What the numbers of a column are: with ``epoch`` they are dates or moments; ``time`` are seconds."""

    what: Literal["number", "date", "moment", "time"] = "number"
    epoch: Epoch | None = None


NUMBER = NumberReading()


def of_spss(display: str) -> NumberReading:
    """Return what a format such as ``DATETIME20`` says."""
    name = _named(display)
    if name in _SPSS_DATES:
        return NumberReading("date", SPSS)
    if name in _SPSS_MOMENTS:
        return NumberReading("moment", SPSS)
    return NumberReading("time") if name in _SPSS_TIMES else NUMBER


def of_stata(display: str) -> NumberReading | None:
    """Return what a format such as ``%tdD_m_Y`` says; None where moments are counted with leap seconds."""
    name = display.replace("-", "", 1)
    if name.startswith("%tC"):
        return None
    if name.startswith(("%td", "%d")):
        return NumberReading("date", DAYS_FROM_1960)
    return NumberReading("moment", STATA) if name.startswith("%tc") else NUMBER


def of_sas(display: str) -> NumberReading:
    """Return what a format such as ``YYMMDD10.`` says."""
    match _SAS.get(_named(display)):
        case "date":
            return NumberReading("date", DAYS_FROM_1960)
        case "moment":
            return NumberReading("moment", SAS)
        case "time":
            return NumberReading("time")
        case _:
            return NUMBER


def _named(display: str) -> str:
    return display.upper().rstrip("0123456789.")
