"""SmolLM2's kind of tokenizer out of a GGUF file's metadata, as a tokenizers.Tokenizer."""

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

CONTROL = 3  # llama.cpp's token type of special tokens


def tokenizer_of_gguf(fields: dict) -> tokenizers.Tokenizer:
    """Digits one by one, then GPT-2's regex ("pre" smollm); control tokens are found before either."""
    tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    vocab = {token: index for index, token in enumerate(tokens)}
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = smollm_pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [tokenizers.AddedToken(token, normalized=False) for token, kind in zip(tokens, types) if kind == CONTROL]
    )
    return tokenizer


def smollm_pre_tokenizer() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
