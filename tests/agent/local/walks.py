"""Random texts that a grammar accepts, drawn byte by byte by LLGuidance itself."""

from __future__ import annotations

import random

from llguidance import LLMatcher, LLTokenizer

TOKENIZER = LLTokenizer("byte")
_CLOSING = set(b'"}],')


def error_of(grammar: str) -> str:
    """Why the engine would not take it; ``""`` if it would."""
    return str(LLMatcher(TOKENIZER, grammar).get_error())


def walk(grammar: str, rng: random.Random, longest: int = 400) -> str | None:
    """A text that the grammar accepts, ``None`` if it became too long."""
    matcher = LLMatcher(TOKENIZER, grammar)
    assert not matcher.is_error(), matcher.get_error()
    written = b""
    while not matcher.is_stopped() and len(written) < longest:
        mask = matcher.compute_bitmask()
        allowed = [t for t in range(TOKENIZER.vocab_size) if mask[t // 8] >> t % 8 & 1]
        # Ends are taken when they can be: else texts would go on for ever.
        closing = [t for t in allowed if t in _CLOSING]
        token = rng.choice(closing if closing and rng.random() < 0.5 else allowed)
        if token == TOKENIZER.eos_token:
            break
        assert matcher.consume_token(token)
        written += bytes([token])
    if not matcher.is_accepting():
        return None
    try:
        return written.decode()
    except UnicodeDecodeError:
        return None
