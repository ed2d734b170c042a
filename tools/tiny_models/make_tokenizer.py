"""Trains a tiny BPE tokenizer of a family's kind on corpus.txt, the same for the same seed."""

import json
import os
import pathlib
import random

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers  # noqa: E402  (after the line that makes it deterministic)
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

from .gguf_tokenizer import smollm_pre_tokenizer  # noqa: E402

QWEN3_REGEX = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN35_REGEX = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
QWEN_PLAIN = [
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
]
PHI_MARKERS = [
    "<|endoftext|>",
    "<|assistant|>",
    "<|placeholder1|>",
    "<|placeholder2|>",
    "<|placeholder3|>",
    "<|placeholder4|>",
    "<|system|>",
    "<|end|>",
    "<|placeholder5|>",
    "<|placeholder6|>",
    "<|user|>",
]
SMOL_SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<repo_name>",
    "<reponame>",
    "<file_sep>",
    "<filename>",
    "<gh_stars>",
    "<issue_start>",
    "<issue_comment>",
    "<issue_closed>",
    "<jupyter_start>",
    "<jupyter_text>",
    "<jupyter_code>",
    "<jupyter_output>",
    "<jupyter_script>",
    "<empty_output>",
]


def _corpus(seed: int) -> list[str]:
    """The corpus with its lines in another order, some of them twice: other merges for each seed."""
    lines = (pathlib.Path(__file__).parent / "corpus.txt").read_text().splitlines(keepends=True)
    draw = random.Random(f"{seed} corpus")
    lines += draw.sample(lines, len(lines) // 2)
    draw.shuffle(lines)
    return lines


def _trained(
    seed: int, pre_tokenizer, n_tokens: int, alphabet: list[str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    trainee = tokenizers.Tokenizer(models.BPE())
    trainee.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=n_tokens, min_frequency=2, initial_alphabet=alphabet, show_progress=False)
    trainee.train_from_iterator(_corpus(seed), trainer)
    model = json.loads(trainee.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def make_qwen(seed: int, n_ordinary: int, regex: str) -> tokenizers.Tokenizer:
    split = pre_tokenizers.Split(Regex(regex), behavior="isolated", invert=False)
    pre = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)]
    )
    vocab, merges = _trained(seed, pre, n_ordinary, sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab=vocab, merges=merges, continuing_subword_prefix="", end_of_word_suffix="")
    )
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokenizer.add_special_tokens(
        [tokenizers.AddedToken(token, normalized=False, special=True) for token in QWEN_SPECIAL]
    )
    tokenizer.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in QWEN_PLAIN])
    return tokenizer


def make_phi(seed: int, n_ordinary: int) -> tokenizers.Tokenizer:
    """Ids as in the Llama 2 lineage: three markers, 256 bytes, merged tokens, then single characters by frequency."""
    learned, merges = _trained(seed, pre_tokenizers.Metaspace(prepend_scheme="first", split=True), n_ordinary - 259, [])
    text = "".join(_corpus(seed)).replace(" ", "\u2581")
    merged = ["".join(merge) for merge in merges]
    characters = sorted(set(learned) - set(merged), key=lambda character: (-text.count(character), character))
    # The newline is left to byte fallback, as in the real vocabulary; so are the merges that need it.
    merges = [merge for merge in merges if "\n" not in "".join(merge)]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += [token for token in dict.fromkeys("".join(merge) for merge in merges)]
    tokens += [character for character in characters if character != "\n"]
    vocab = {token: index for index, token in enumerate(tokens)}
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(
        [tokenizers.AddedToken(token, normalized=False, special=True) for token in ("<unk>", "<s>")]
    )
    tokenizer.add_tokens([tokenizers.AddedToken("</s>", normalized=False, rstrip=True)])
    tokenizer.add_special_tokens(
        [
            tokenizers.AddedToken(token, normalized=False, special=True, rstrip=token != "<|endoftext|>")
            for token in PHI_MARKERS
        ]
    )
    return tokenizer


def make_smol(seed: int, n_tokens: int) -> tokenizers.Tokenizer:
    """SmolLM2's kind: the special tokens have the first ids."""
    vocab, merges = _trained(
        seed, smollm_pre_tokenizer(), n_tokens - len(SMOL_SPECIAL), sorted(pre_tokenizers.ByteLevel.alphabet())
    )
    ordered = [*SMOL_SPECIAL, *sorted(vocab, key=vocab.get)]
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab={token: index for index, token in enumerate(ordered)}, merges=merges)
    )
    tokenizer.pre_tokenizer = smollm_pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [tokenizers.AddedToken(token, normalized=False, special=True) for token in SMOL_SPECIAL]
    )
    return tokenizer


def make_tokenizer(family: str, seed: int, n_tokens: int) -> tokenizers.Tokenizer:
    """A tokenizer of at most n_tokens ids, added tokens included: the corpus may not have so many pairs."""
    if family == "phi3":
        return make_phi(seed, n_tokens - len(PHI_MARKERS))
    if family.startswith("llama"):
        return make_smol(seed, n_tokens)
    regex = QWEN3_REGEX if family in ("qwen3", "qwen3-hf") else QWEN35_REGEX
    return make_qwen(seed, n_tokens - len(QWEN_SPECIAL) - len(QWEN_PLAIN), regex)
