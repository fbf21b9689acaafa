"""Measures of texts, counted by hand."""

from __future__ import annotations

import pytest

from analyzer.sources.samples.measures import foreign_share, measure

ROUND = "go round again now "


def test_a_loop_at_the_end() -> None:
    # 22 words, the last of which may be cut off: 21, so 18 grams. The third to the sixth gram are
    # new, the other twelve stand four words before: a block of 12 + 3 words, a loop of 4 more.
    found = measure("start here " + ROUND * 5)
    assert found.distinct_ngrams == round(6 / 18, 4)
    assert found.repetition == round(15 / 21, 4)
    assert found.loop_share == round(19 / 21, 4)
    assert found.loops


def test_a_loop_that_is_cut_within_a_word() -> None:
    assert measure("start here " + ROUND * 5 + "go rou").loop_share == round(21 / 23, 4)


def test_a_loop_that_was_left_again_is_a_block_and_no_loop() -> None:
    found = measure("start here " + ROUND * 5 + "and then it came to a good end at last")
    assert found.loop_share == 0
    assert found.repetition == round(16 / 31, 4)


def test_two_rounds_are_no_loop() -> None:
    assert measure("a b c d e f g h i j k l a b c d e f g h i j k l x").loop_share == 0


def test_a_phrase_said_twice_is_no_block() -> None:
    # Seven words again: below eight.
    assert measure("let us see what we have got now let us see what we have got x").repetition == 0
    found = measure("let us see what we have got now let us see what we have got now x")
    assert found.repetition == round(8 / 16, 4)


def test_a_loop_with_a_counter_in_it() -> None:
    # Rounds of 11 words: 656 grams. The numbers are in 4 each, the first in 2; 7 stay the same.
    found = measure(" ".join(f"step {i} we check the sum again and it is right" for i in range(60)))
    assert (found.loop_share, found.distinct_ngrams) == (0, round(245 / 656, 4))
    assert not found.loops
    # Rounds of 14 words: 836 grams, of which 10 stay the same.
    text = " ".join(f"so {i} is not it and we try the next one of them all" for i in range(60))
    found = measure(text)
    assert (found.loop_share, found.distinct_ngrams) == (0, round(248 / 836, 4))
    assert found.loops


def test_scripts_without_spaces_are_measured_by_characters() -> None:
    # Forty characters, a round of eight: 37 grams, 8 of them different, 29 repeated.
    found = measure("甲乙丙丁戊己庚辛" * 5)
    assert found.distinct_ngrams == round(8 / 37, 4)
    assert found.repetition == round(32 / 40, 4)
    assert found.loop_share == 1


def test_plain_words() -> None:
    found = measure("one two three four five six seven eight nine ten.")
    assert (found.distinct_ngrams, found.repetition, found.loop_share) == (1, 0, 0)
    assert not found.loops
    assert found.chars == 49


@pytest.mark.parametrize("text", ["", "yes", "a b c d"])
def test_texts_too_short_for_a_gram(text: str) -> None:
    found = measure(text)
    assert (found.distinct_ngrams, found.repetition, found.loop_share) == (None, 0, 0)
    assert not found.loops


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("It is 4.<|im_end|>", True),
        ("It is 4.<|eot_id|>\n", True),
        ("It is 4.</s>", True),
        ("It is 4.<end_of_turn>", True),
        ("答案是4。<｜end▁of▁sentence｜>", True),
        ("<|im_end|> and on it goes", False),
        ("It is 4.</p>", False),
        ("It is 4.", False),
    ],
)
def test_an_end_of_turn_is_known_by_its_mark(text: str, ended: bool) -> None:
    assert measure(text).ended is ended


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("and so we", True),
        ("and so we<|im_end|>", True),
        ("thus 3 +", True),
        ("first, ", True),
        ("It is so.", False),
        ("It is so.\n\n", False),
        ("He said “no”", False),
        ("\\boxed{4}", False),
        ("x = 42", False),
        ("好的。", False),
        ("", False),
    ],
)
def test_a_sentence_without_an_end(text: str, stops: bool) -> None:
    assert measure(text).mid_sentence is stops


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("", True),
        ("   \n", True),
        ("<think></think>", True),
        ("<think>\n\n</think>\n<answer></answer><|im_end|>", True),
        ("...!", True),
        ("B", False),
        ("<answer>7</answer>", False),
        ("是", False),
        (" " * 100 + "x", False),
    ],
)
def test_a_response_without_a_word(text: str, empty: bool) -> None:
    assert measure(text).empty is empty


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("so \\boxed{4}", True),
        ("<answer>4</answer>", True),
        ("The Answer is 4", True),
        ("#### 4", True),
        ("答案：4", True),
        ("so it is 4", False),
    ],
)
def test_an_answer_is_announced(text: str, has: bool) -> None:
    assert measure(text).has_answer is has


@pytest.mark.parametrize(
    ("prompt", "completion", "share"),
    [
        ("Add.", "plain", 0),
        ("Add.", "abc 你好", 0.4),
        ("Add.", "abcд", 0.25),
        ("Add.", "α β π", 0),
        ("Add.", "é “quoted” … ∑ → 4", 0),
        ("Ünder", "abc 你", 0.25),
        ("你好", "abc 你好", None),
        ("Add.", "", 0),
    ],
)
def test_letters_of_another_script(prompt: str, completion: str, share: float | None) -> None:
    assert foreign_share(prompt, completion) == share


def test_text_that_is_no_valid_unicode() -> None:
    assert measure("half \ud83d of a pair, and more of it").chars == 32
    assert foreign_share("Add.", "x\ud83d") == 0
