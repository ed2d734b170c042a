"""GGUF files of the llama family: which matrix gets which type, the permuted q and k, and the metadata."""

import pathlib

import gguf
import numpy as np

from . import kquants
from .disk_tensor import DiskTensor

# scheme -> type of a plain matrix, type of the embedding (and of an untied head), llama.cpp's file type.
SCHEMES = {
    "F16": ("F16", "F16", 1),
    "BF16": ("BF16", "BF16", 32),
    "Q4_0": ("Q4_0", "Q8_0", 2),
    "Q4_1": ("Q4_1", "Q8_0", 3),
    "Q5_0": ("Q5_0", "Q8_0", 8),
    "Q5_1": ("Q5_1", "Q8_0", 9),
    "Q8_0": ("Q8_0", "Q8_0", 7),
    "Q4_K_S": ("Q4_K", "Q6_K", 14),
    "Q4_K_M": ("Q4_K", "Q6_K", 15),
    "Q5_K_S": ("Q5_K", "Q6_K", 16),
    "Q5_K_M": ("Q5_K", "Q6_K", 17),
    "Q6_K": ("Q6_K", "Q6_K", 18),
}


def permuted(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """Rotate-half order -> the pair order in which the converter stores q and k."""
    return rows.reshape(n_heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def unpermuted(rows: np.ndarray, n_heads: int) -> np.ndarray:
    return rows.reshape(n_heads, -1, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def _has_more_bits(layer: int, n_layers: int) -> bool:
    """llama.cpp's choice of the layers whose attn_v and ffn_down get a wider type in the _M mixes."""
    eighth = n_layers // 8
    return layer < eighth or layer >= 7 * n_layers // 8 or (layer - eighth) % 3 == 2


def type_of(name: str, scheme: str, n_layers: int) -> str:
    matrix, embedding, _ = SCHEMES[scheme]
    if name.endswith("norm.weight"):
        return "F32"
    if name in ("token_embd.weight", "output.weight"):
        return embedding
    if (
        scheme.endswith("_M")
        and ("attn_v" in name or "ffn_down" in name)
        and _has_more_bits(int(name.split(".")[1]), n_layers)
    ):
        return "Q6_K"
    return matrix


def encoded(values: np.ndarray, kind: str) -> np.ndarray:
    if kind in kquants.QUANTIZERS:
        return kquants.quantize(values, kind)
    return gguf.quants.quantize(values, gguf.GGMLQuantizationType[kind])


def write(path: pathlib.Path, tensors: dict[str, np.ndarray], dims: dict, tokenizer: dict, scheme: str) -> dict:
    """tokenizer: tokens, token_types, merges, pre, bos, eos, unknown, padding (ids), chat_template."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("model")
    writer.add_name("Tiny llama-family fixture")
    writer.add_size_label("tiny")
    writer.add_block_count(dims["layers"])
    writer.add_context_length(4096)
    writer.add_embedding_length(dims["hidden"])
    writer.add_feed_forward_length(dims["inter"])
    writer.add_head_count(dims["heads"])
    writer.add_head_count_kv(dims["kv_heads"])
    writer.add_rope_freq_base(dims["rope_theta"])
    writer.add_layer_norm_rms_eps(dims["rms_eps"])
    writer.add_file_type(SCHEMES[scheme][2])
    writer.add_vocab_size(dims["vocab"])
    writer.add_rope_dimension_count(dims["head_dim"])
    if dims["head_dim"] * dims["heads"] != dims["hidden"]:
        writer.add_key_length(dims["head_dim"])
        writer.add_value_length(dims["head_dim"])
    _add_tokenizer(writer, tokenizer)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    for name, values in tensors.items():
        kind = type_of(name, scheme, dims["layers"])
        writer.add_tensor(name, encoded(values, kind), raw_dtype=gguf.GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return {"scheme": scheme}


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: dict) -> None:
    writer.add_add_space_prefix(False)
    writer.add_add_bos_token(False)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(tokenizer["pre"])
    writer.add_token_list(tokenizer["tokens"])
    writer.add_token_types(tokenizer["token_types"])
    writer.add_token_merges(tokenizer["merges"])
    writer.add_bos_token_id(tokenizer["bos"])
    writer.add_eos_token_id(tokenizer["eos"])
    writer.add_unk_token_id(tokenizer["unknown"])
    writer.add_pad_token_id(tokenizer["padding"])
    writer.add_chat_template(tokenizer["chat_template"])


def read(path: pathlib.Path) -> tuple[dict[str, DiskTensor], dict]:
    """Tensors in the file's order with exact values (q and k still permuted), and the metadata as plain values."""
    reader = gguf.GGUFReader(path)
    tensors = {}
    for tensor in reader.tensors:
        shape = [int(n) for n in reversed(tensor.shape)]
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32).reshape(shape)
        tensors[tensor.name] = DiskTensor(values, "gguf")
    return tensors, {field.name: field.contents() for field in reader.fields.values()}
