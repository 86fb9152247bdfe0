"""Words of users lead to the defects that they may mean, in English and in Chinese; each defect can be found so."""

from __future__ import annotations

import pytest

from model_check.defects.catalogue import catalogue
from model_check.defects.lookup import look_up_all, plain, symptoms, symptoms_called
from model_check.errors import ModelCheckError

TWICE = "A11 A13 A15 A16 A39 B01 B02 B03 B04 B05 B06 B16 B47 B53"
ASKED = {
    "delivered twice": TWICE,
    "duplicate": TWICE,
    "Duplicates": TWICE,
    "重复消费": TWICE,
    "重复": TWICE,
    "lost": "A01 A31 B13 B14 B21 B51 B55",
    "丢消息": "A01 A31 B13 B14 B21 B51 B55",
    "checked forever": "A02 A04 A08 A11 B18",
    "forever": "A02 A04 A08 A11 B18",
    "一直回查": "A02 A04 A08 A11 B18",
    "不回查": "A07 A40 A42 B07 B28 B29",
    "stuck": "A06 A07 B07 B17",
    "TRANS_CHECK_MAX_TIME_TOPIC": "A09 A10 A14 B19 B31 B45 B52",
    "丢弃": "A09 A31 B19 B52",
    "CPU": "A17 A18 B08",
    "CPU 100%": "A17 A18 B08",
    "cpu飙高": "A17 A18 B08",
    "queueIds=null": "A17",
    "disk": "A04 A08 A09 B16",
    "磁盘写满": "A04 A08 A09 B16",
    "dledger": "A41 B42",
    "主从切换": "A41 B42",
    "slave": "A44 A45 B20 B21 B24 B54",
    "回滚": "A12 B10",
    "重启": "A29 A43 B02 B03 B52 B53",
    "升级": "B18",
}


@pytest.mark.parametrize("words", ASKED)
def test_a_symptom_leads_to_the_defects_that_show_it(words: str) -> None:
    found = {defect.identifier for answer in look_up_all(words.split()) for defect in answer.defects}
    assert set(ASKED[words].split()) <= found
    assert len(found) < len(catalogue()) / 2, "what names half of the catalogue helps nobody"


def test_every_defect_is_below_a_symptom_and_every_id_there_is_one() -> None:
    named = [identifier for symptom in symptoms() for identifier in symptom.defects]
    assert set(named) == set(catalogue())
    for symptom in symptoms():
        assert list(symptom.defects) == sorted(set(symptom.defects)), symptom.name
        assert symptom.english, symptom.name


def test_every_word_leads_to_its_symptom() -> None:
    for symptom in symptoms():
        for word in (symptom.name, *symptom.english, *symptom.chinese):
            assert symptom in symptoms_called(word), word
            assert symptom in symptoms_called(f"  {word.upper()} "), word


def test_a_sentence_is_looked_up_by_the_words_in_it() -> None:
    assert [symptom.name for symptom in symptoms_called("why is my message delivered twice after a restart")] == [
        "delivered twice",
        "after a restart or a stop",
    ]
    assert [symptom.name for symptom in symptoms_called("消息重复消费了怎么办")] == ["delivered twice"]
    assert symptoms_called("in") == symptoms_called("") == ()
    assert plain("CPU 100%") == "cpu 100%"


def test_what_no_symptom_names_is_looked_for_in_the_descriptions_and_the_reports() -> None:
    for words, ids in (("opMsgMap", {"B49"}), ("#1544", {"A02", "A03", "A04", "A05"}), ("1518", {"A02"})):
        (answer,) = look_up_all([words])
        assert {defect.identifier for defect in answer.defects} == ids
    with pytest.raises(ModelCheckError, match="symptoms such as 'delivered twice'"):
        look_up_all(["xyzzy"])


def test_a_release_leaves_of_a_symptom_what_it_has() -> None:
    (answer,) = look_up_all(["CPU"])
    assert "A17" in {defect.identifier for defect in answer.defects}
    ids = {defect.identifier for defect in answer.of_release("5.3.3").defects}
    assert ids == {"A18", "A19", "B07", "B08", "B42"}
