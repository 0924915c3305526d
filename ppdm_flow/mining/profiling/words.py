"""Words that columns of a kind are named by, in several languages, without accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[\W_]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)")

ANYWHERE: Mapping[str, str] = {
    "name": "first name|last name|full name|given name|family name|middle name|maiden name|firstname|lastname|surname"
    "|fullname|forename|customer name|patient name|client name|person name|employee name|member name|contact name"
    "|vorname|nachname|familienname|rufname|kundenname|patientenname|prenom|nom famille|nom complet|nombre completo"
    "|apellido|apellidos|cognome|nome completo|sobrenome|voornaam|achternaam|imie|nazwisko|fornamn|efternamn|fornavn"
    "|etternavn|etunimi|sukunimi|姓名|名前|氏名",
    "email": "email|e mail|mail|mailadresse|courriel|correo|correo electronico|posta elettronica|adres email|邮箱",
    "phone": "phone|telephone|tel|mobile|cellphone|fax|telefon|telefonnummer|handy|mobil|handynummer|telefono"
    "|telefone|celular|movil|cellulare|telefoon|telefoonnummer|puhelin|电话|手机|電話",
    "address": "address|street|street address|addr|house number|adresse|anschrift|strasse|hausnummer|rue|direccion"
    "|calle|domicilio|indirizzo|adres|straat|ulica|endereco|rua|adress|gata|osoite|地址|住所",
    "national_id": "ssn|social security|social security number|national id|nationalid|national insurance|nino|tax id"
    "|nhs number|steuer id|steuernummer|steuerid|sozialversicherungsnummer|versichertennummer|rentennummer|nir"
    "|numero securite sociale|dni|nie|nif|codice fiscale|bsn|burgerservicenummer|pesel|personnummer|cpr|henkilotunnus"
    "|fodselsnummer|cpf|curp|aadhaar|ahv|avs|rijksregisternummer|身份证",
    "document": "passport|passport number|driving licence|driver license|drivers license|licence number"
    "|license number|reisepass|passnummer|fuhrerschein|ausweis|ausweisnummer|passeport|pasaporte|passaporto",
    "iban": "iban|bank account|account number|kontonummer|bankverbindung|compte bancaire|cuenta bancaria",
    "card": "credit card|card number|creditcard|kreditkarte|kreditkartennummer|carte bancaire|tarjeta credito",
    "account": "username|user name|login|screen name|nickname|benutzername|nutzername|identifiant|usuario|handle",
    "person_id": "customer id|customer number|customer no|client id|client number|patient id|patient number|patient no"
    "|person id|person number|user id|member id|member number|employee id|employee number|student id|student number"
    "|subject id|respondent id|case id|record id|record number|medical record|mrn|policy number|insurance number"
    "|kundennummer|kunden nr|kundennr|patientennummer|patienten id|patientenid|personalnummer|mitgliedsnummer"
    "|matrikelnummer|fallnummer|aktenzeichen|numero client|numero patient|id cliente|id paciente|id paziente"
    "|klantnummer|identifier",
    "network": "ip|ip address|ipaddress|mac address|imei|imsi|device id|cookie id|advertising id",
    "url": "url|website|homepage|profile link",
    "vehicle": "license plate|licence plate|number plate|vin|kennzeichen|nummernschild|plaque immatriculation",
    "free_text": "comment|comments|notes|free text|freetext|remarks|bemerkung|bemerkungen|kommentar|notiz|anmerkung"
    "|commentaire|observaciones|note mediche|opmerking",
    "coordinates": "latitude|longitude|lat|lon|lng|gps|geo|breitengrad|langengrad",
    "birth": "birth|birthday|birthdate|date birth|dob|born|year birth|geburtsdatum|geburtstag|geburtsjahr|geb"
    "|naissance|date naissance|nacimiento|fecha nacimiento|nascita|data nascita|geboortedatum|urodzenia|nascimento"
    "|fodelsedatum|fodselsdato|syntymaaika|出生日期|生年月日",
    "age": "age|alter|edad|eta|leeftijd|wiek|idade|alder|年龄|年齢",
    "sex": "sex|gender|geschlecht|sexe|sexo|sesso|genere|geslacht|plec|kon|kjonn|sukupuoli|性别|性別",
    "postal_code": "zip|zipcode|zip code|postal|postal code|postcode|post code|plz|postleitzahl|code postal"
    "|codigo postal|cap|kod pocztowy|cep|postnummer|postinumero|邮编",
    "place": "city|town|county|region|district|municipality|province|country|stadt|ort|wohnort|gemeinde|kreis"
    "|bundesland|land|ville|pays|departement|ciudad|pais|provincia|citta|comune|stad|woonplaats|miasto|cidade"
    "|城市|州",
    "origin": "race|ethnicity|ethnic|nationality|citizenship|native country|birthplace|herkunft|nationalitat"
    "|staatsangehorigkeit|nationalite|nacionalidad|nazionalita|nationaliteit|民族",
    "family": "marital|marital status|relationship|household|children|spouse|familienstand|kinder|haushalt"
    "|etat civil|situation familiale|estado civil|stato civile|burgerlijke staat",
    "education": "education|degree|school|schooling|bildung|bildungsabschluss|schulabschluss|diplome|educacion"
    "|istruzione|opleiding|wyksztalcenie|escolaridade",
    "work": "occupation|job|profession|employer|company|industry|workclass|beruf|arbeitgeber|branche|metier|emploi"
    "|ocupacion|empleo|professione|beroep|zawod|profissao",
    "date": "date|datum|fecha|timestamp|admission|discharge|aufnahme|entlassung",
    "health": "disease|diagnosis|diagnoses|diagnose|illness|icd|medication|drug|treatment|therapy|symptom|hiv|blood"
    "|pregnancy|pregnant|disability|genetic|mental|psychiatric|krankheit|erkrankung|diagnosen|medikament|behandlung"
    "|schwangerschaft|behinderung|maladie|diagnostic|traitement|handicap|enfermedad|diagnostico|tratamiento"
    "|malattia|diagnosi|terapia|ziekte|choroba|doenca|疾病|病名",
    "money": "income|salary|wage|wages|earnings|debt|credit|bankruptcy|wealth|pension|einkommen|gehalt|lohn"
    "|schulden|vermogen|salaire|revenu|dette|ingresos|salario|sueldo|deuda|reddito|stipendio|inkomen|dochod|renda"
    "|收入|工资",
    "belief": "religion|religious|confession|faith|political|party|union|union member|konfession|glaube|partei"
    "|gewerkschaft|parti|syndicat|partido|sindicato|religione|partito",
    "intimate": "sexual orientation|orientation|sexuelle orientierung|orientation sexuelle|orientacion sexual",
    "justice": "crime|offence|offense|conviction|arrest|criminal|criminal record|straftat|vorstrafe|delikt|infraction"
    "|delito|reato",
}
"""Phrases of whole words, wherever they stand in a name."""

WHOLE: Mapping[str, str] = {
    "name": "name|names|nom|nombre|nome|naam|namn|navn|nimi",
    "person_id": "id|pid|uid|person|patient|customer|client|kunde|patientin|rowid|row id|index|key",
    "place": "state|place|bundesland",
    "target": "class|target|label|outcome|klasse|ziel|zielvariable|classe|clase",
    "account": "user|account|konto",
    "address": "home",
}
"""Phrases that a whole name must be: within longer names they mean other things."""


_PEOPLE = (
    "patient|pat|person|customer|client|member|subject|participant|respondent|employee|student|user|insured"
    "|beneficiary|citizen|resident|voter|donor|applicant|borrower|taxpayer|kunde|kunden|mitglied|versicherter|klient"
    "|teilnehmer|proband|paciente|paziente|cliente|patienten"
)
_IDS = "id|ids|nbr|nr|no|num|number|nummer|numero|key|uid|guid|uuid|pid|idx"
"""Words that a name of ids ends with."""


def of_ids(name: str) -> bool:
    """Whether a name ends as names of ids do: `encounter_id`, `case nbr`, `orderNo`."""
    words = tokens(name)
    return len(words) > 1 and words[-1] in _IDS.split("|")


def tokens(name: str) -> tuple[str, ...]:
    """Split a column's name into words: lower case, without accents; `birthDate`, `birth_date` are two words."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return tuple(part.lower() for word in _CAMEL.split(bare) for part in _SPLIT.split(word) if part)


def named(name: str) -> str | None:
    """Return the kind of a column by its name; of several the one with the longest phrase, direct identifiers first."""
    words = tokens(name)
    if not words:
        return None
    whole = " ".join(words)
    found = [(len(phrase), kind) for kind, phrases in WHOLE.items() for phrase in phrases.split("|") if phrase == whole]
    text = f" {whole} "
    found += [
        (len(phrase), kind)
        for kind, phrases in ANYWHERE.items()
        for phrase in phrases.split("|")
        if f" {phrase} " in text or (not phrase.isascii() and phrase in whole)
    ]
    if words[0] in _PEOPLE.split("|") and words[-1] in _IDS.split("|") and len(words) > 1:
        found.append((len(whole), "person_id"))
    return max(found, key=lambda each: each[0])[1] if found else None
