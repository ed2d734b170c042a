"""Makes one model folder: tokenizer, random weights, and the files of its published format."""

import json
import pathlib

import numpy as np
import tokenizers

from . import (
    affine_format,
    configs,
    families,
    gguf_format,
    hf_configs,
    mlc_format,
    mlx_format,
    random_weights,
    safetensors_format,
)
from .chats import SMOL_TEMPLATE
from .dims import draw_dims
from .make_tokenizer import SMOL_SPECIAL, make_tokenizer

MAX_TOKENS = 640  # what the corpus has pairs for
MLC_MANIFESTS = {"phi3": "ndarray-cache.json", "qwen3": "ndarray-cache.json", "qwen35": "tensor-cache.json"}
Q3_MODULES = tuple(
    f"mlp.{part}.{matrix}_proj" for part in ("switch_mlp", "shared_expert") for matrix in ("gate", "up", "down")
)


def make_model(family: str, seed: int, folder: pathlib.Path, settings: dict) -> dict:
    """Returns the dimensions. The vocabulary is larger than the tokenizer, as in the real models, except in GGUF."""
    dims = draw_dims(family, seed, settings)
    folder.mkdir(parents=True, exist_ok=True)
    spare = 0 if family == "llama" else 7
    tokenizer = make_tokenizer(family, seed, min(dims["vocab"] - spare, MAX_TOKENS))
    if family == "llama":
        dims["vocab"] = tokenizer.get_vocab_size()
    ids = tokenizer.get_vocab()
    n_ordinary = (
        len(ids)
        if family.startswith("llama")
        else min(ids[token] for token in ("<|endoftext|>", "<|end|>", "<|im_end|>") if token in ids)
    )
    state = random_weights.random_state(family, seed, dims, random_weights.faint_tokens(seed, n_ordinary))
    tensors = families.to_disk(family, state, dims)
    if family == "llama":
        name = f"tiny-llama-{seed}.{dims['quant']}.gguf"
        gguf_format.write(folder / name, tensors, dims, _gguf_tokenizer(tokenizer), dims["quant"])
        return dims
    (folder / "tokenizer.json").write_text(hf_configs.tokenizer_json(family, tokenizer))
    _write_json(folder / "tokenizer_config.json", hf_configs.tokenizer_config(family, tokenizer))
    if family in MLC_MANIFESTS:
        _write_mlc(family, folder, tensors, dims, ids)
    elif family.startswith("qwen36"):
        _write_mlx(family, seed, folder, tensors, dims, ids)
    else:
        _write_hf(family, folder, tensors, dims, ids)
    return dims


def _write_json(path: pathlib.Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False))


def _gguf_tokenizer(tokenizer: tokenizers.Tokenizer) -> dict:
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    return {
        "tokens": tokens,
        "token_types": [3 if token in SMOL_SPECIAL else 1 for token in tokens],
        "merges": [" ".join(merge) for merge in model["merges"]],
        "pre": "smollm",
        "bos": 1,
        "eos": 2,
        "unknown": 0,
        "padding": 2,
        "chat_template": SMOL_TEMPLATE,
    }


def _write_mlc(family: str, folder: pathlib.Path, tensors: dict, dims: dict, ids: dict) -> None:
    def stored(name: str, values: np.ndarray) -> str:
        if name.endswith(("A_log", "dt_bias")):
            return "float32"
        return "float16" if values.ndim != 2 else "q4f16_1"

    largest = max(values.size for values in tensors.values())
    cap = dims.get("shard_cap", int(largest * 0.4))  # below the largest part, so that each rule for shards has its case
    listed = [(name, values, stored(name, values)) for name, values in tensors.items()]
    mlc_format.write(folder, listed, MLC_MANIFESTS[family], cap)
    _write_json(folder / "mlc-chat-config.json", configs.mlc_chat_config(family, dims, ids))


def module_bits(family: str, modules: list[str]) -> dict[str, int]:
    """The modules not of 4 bits: the router and the shared expert's gate have 8, in the q3 build the experts 3."""
    bits = {}
    for module in modules:
        if module.endswith(("mlp.gate", "mlp.shared_expert_gate")):
            bits[module] = 8
        elif family == "qwen36q3" and module.endswith(Q3_MODULES):
            bits[module] = 3
    return bits


def _write_mlx(family: str, seed: int, folder: pathlib.Path, tensors: dict, dims: dict, ids: dict) -> None:
    wide = tuple(part for part in dims["f32_params"].split(",") if part)
    bits = module_bits(family, list(tensors))
    listed = []
    for name, values in tensors.items():
        is_module = values.ndim >= 2 and not name.endswith(".weight")
        if bits.get(name) == 3:  # that build was made from the 4-bit one
            values = affine_format.requantized(values, 4, mlx_format.GROUP)
        stored = bits.get(name, 4) if is_module else "F32" if wide and name.endswith(wide) else "BF16"
        listed.append((name, values, stored))
    listed += mlx_format.vision_tensors(dims["hidden"])
    mlx_format.write(folder, listed, dims["shards"], seed)
    _write_json(folder / "config.json", hf_configs.mlx_config(dims, ids, bits))
    _write_json(folder / "generation_config.json", hf_configs.generation_config(family, ids))


def _write_hf(family: str, folder: pathlib.Path, tensors: dict, dims: dict, ids: dict) -> None:
    listed = [(name, *safetensors_format.as_bf16(values)) for name, values in tensors.items()]
    n_shards = dims.get("shards", 2)
    size = -(-len(listed) // n_shards)
    shards = [listed[start : start + size] for start in range(0, len(listed), size)]
    n_weights = sum(values.size for values in tensors.values())
    safetensors_format.write(folder, shards, None, {"format": "pt"}, n_weights)
    _write_json(folder / "config.json", hf_configs.plain_config(family, dims, ids))
    _write_json(folder / "generation_config.json", hf_configs.generation_config(family, ids))
