"""What the pages say to raters, in English; the table ``[words]`` of study.toml says it in the study's language.

Knows nothing else. Braces are places that the page fills: a translation keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from types import MappingProxyType
from typing import Final

#: Emoji of the check on the start page: a face, a hand with a skin tone (two code points), a heart (with VS16).
CHECK_EMOJI: Final = ("😀", "👍🏽", "❤️")

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # start
        "start_lead": "Thank you for helping. First a look at whether emoji are right on your device.",
        "start_private": "This link is yours alone. Please do not pass it on.",
        "start_button": "Begin",
        "start_again": "You can stop at any time and go on later: just open this link again, on any device.",
        "check_title": "Emoji on your device",
        "check_shown": "You should see a smiling face, a hand and a heart, all in colour:",
        "check_colour": "Emoji are shown in colour. All is well.",
        "check_plain": "Emoji seem to have no colour here. You may go on; a newer browser may show them better.",
        "check_boxes": "Some emoji seem to be empty boxes here. You may go on; a newer browser may show them better.",
        "check_unknown": "We could not check how emoji look here. If you see the three in colour, all is well.",
        # consent
        "consent_title": "Before you begin",
        "consent_stored_title": "What is stored",
        "consent_stored": "Your answers, when you gave them and how long each took, when you agreed, and whether "
        "emoji are shown in colour on your device. No name, no e-mail address, no network address.",
        "consent_external": "Your participant number ({parameter}) is stored as well, so that your work is counted.",
        "consent_withdraw": "You can withdraw at any time, without giving a reason, with “Withdraw” at the foot of the "
        "page. Your answers are then left out of all results.",
        "consent_contact": "Questions? Write to {contact}",
        "consent_button": "I agree and take part",
        "consent_decline": "I do not agree",
        "consent_given": "You agreed to this before.",
        # instructions
        "instructions_title": "How it works",
        "instructions_practice": "You start with practice items ({n}). They show what was expected and do not count.",
        "instructions_number": "Then there are {n} items. Each is saved as soon as you answer it.",
        "instructions_keys_title": "With the keyboard",
        "instructions_button": "Start",
        "instructions_resume": "Go on",
        # keys
        "key_scale": "choose a point of the scale",
        "key_yes": "choose yes",
        "key_no": "choose no",
        "key_right": "choose right",
        "key_wrong": "choose wrong",
        "key_enter": "save and go on",
        "key_new_line": "new line in your answer",
        "key_back": "go back one item",
        "key_help": "show this help",
        "keys_use": "Use these keys",
        "keys_off": "Without them, use Tab, the arrow keys and Enter as on any page.",
        # rate
        "practice_of": "Practice {n} of {total}",
        "item_of": "Item {n} of {total}",
        "answered_of": "{done} of {total} answered",
        "label_post": "Post",
        "label_output": "Post with emoji",
        "label_original": "Original",
        "label_changed": "Second text",
        "label_context": "Situation",
        "label_text": "Message",
        "label_question": "Question",
        "label_reference": "Reference answer",
        "label_answer": "Answer to judge",
        "expected": "Expected here: {value}.",
        "label_feedback": "About this practice item",
        "yes": "Yes",
        "no": "No",
        "right": "Right",
        "wrong": "Wrong",
        "answer_hint": "A few words are enough.",
        "save": "Save and go on",
        "previous": "Previous",
        "next": "Next",
        "help": "Keys",
        "close": "Close",
        "pause": "Pause",
        "choose_first": "Please choose an answer first.",
        "write_first": "Please write an answer first.",
        "state_stored": "All your answers are saved.",
        "state_saving": "Saving …",
        "state_saved": "Saved.",
        "state_unsaved": "Not saved yet ({n}): kept on this device, trying again …",
        "state_offline": "No connection. Not saved yet ({n}): kept on this device. You can go on for now.",
        "state_wait": "No connection, and the next item is not here yet. Please wait, or keep this page open.",
        "state_session": "Not saved yet ({n}): kept on this device. You were signed out: please open your link again.",
        "state_refused": "Not saved ({n}): the study did not accept it. It is kept on this device. Please tell the "
        "people who run the study.",
        "state_no_storage": "This browser keeps nothing for later, so please keep the page open until it says “Saved”.",
        "changed_elsewhere": "This answer was sent before with another value. Please look at it and save once more.",
        # pause, done, withdrawn
        "paused_title": "Paused",
        "paused": "Your answers are saved and you are signed out. To go on, open your link again, on any device.",
        "paused_unsent": "Some answers are not saved yet. Please keep this page open until they are, then pause.",
        "done_title": "All done. Thank you!",
        "done": "All your answers are saved.",
        "done_code": "Your completion code",
        "done_code_hint": "Copy this code where you were asked for it.",
        "done_review": "Look at your answers again",
        "done_leave": "Sign out",
        "declined_title": "That is all right",
        "declined": "You did not agree, so no answers are collected. Thank you for your time. You can close this page.",
        "withdraw": "Withdraw",
        "withdraw_title": "Withdraw from the study?",
        "withdraw_text": "Your answers will be left out of all results, and you cannot take part again with this link. "
        "You need not give a reason.",
        "withdraw_button": "Withdraw",
        "withdraw_back": "Go back",
        "withdrawn_title": "You have withdrawn",
        "withdrawn": "Your answers are left out of all results. Thank you for the time you gave.",
        "contact": "Contact: {contact}",
        "how_it_works": "How it works",
        # errors
        "error_title": "Something is not right",
        "error_link": "This link is not known. Please check that you copied all of it.",
        "error_expired": "This link has expired. Please ask the people who run the study for a new one.",
        "error_revoked": "This link is no longer valid. Please ask the people who run the study.",
        "error_session": "You are not signed in any more. Please open your link again; your answers are kept.",
        "error_not_found": "There is no such page.",
        "error_form": "This page was too old or did not come from here. Please go back, load it again and repeat.",
        "error_value": "That answer could not be read. Please go back and choose again.",
        "error_consent": "Please read and agree first.",
        "error_withdrawn": "You have withdrawn from this study.",
        "error_closed": "The study no longer takes answers.",
        "error_too_large": "That is too long to be stored. Please shorten it.",
        "error_too_many": "That was a lot at once. Please wait {seconds} seconds and try again.",
        "error_unavailable": "This was not saved: the study can store nothing just now. Please try again in a moment.",
        "error_method": "That does not work here.",
        "error_server": "Something went wrong on our side. Please try again in a moment; saved answers are safe.",
        "error_home": "To the study",
    }
)

#: Those that the script shows.
SCRIPT_WORDS: Final = (
    "choose_first",
    "write_first",
    "state_stored",
    "state_saving",
    "state_saved",
    "state_unsaved",
    "state_offline",
    "state_wait",
    "state_session",
    "state_refused",
    "state_no_storage",
    "paused_unsent",
    "check_colour",
    "check_plain",
    "check_boxes",
    "check_unknown",
)


def places(text: str) -> set[str]:
    """The names in braces that a string leaves for the page to fill.

    Raises:
        ValueError: unbalanced braces.
    """
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def problem_with(name: str, text: str) -> str | None:
    """What is wrong with a translation of one string, as part of a sentence; None if nothing."""
    if name not in WORDS:
        return f"there is no string {name!r}"
    try:
        found = places(text)
    except ValueError:
        return f"{name}: a brace without its pair"
    expected = places(WORDS[name])
    if found - expected:
        return f"{name}: {{{min(found - expected)}}} is not filled here; expected {_list(expected)}"
    return None


def _list(names: set[str]) -> str:
    return " and ".join(f"{{{name}}}" for name in sorted(names)) or "no braces"


def words_of(translated: Mapping[str, str]) -> dict[str, str]:
    """All strings of the pages: the study's own where it has them, else the English ones."""
    return dict(WORDS) | {name: text for name, text in translated.items() if name in WORDS}
