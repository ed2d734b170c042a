"""Opens a model folder: which family it is, its dimensions, its tensors with exact values, its tokenizer file."""

import dataclasses
import json
import pathlib

import tokenizers

from . import gguf_format, mlc_format, mlx_format, safetensors_format
from .disk_tensor import DiskTensor
from .gguf_tokenizer import tokenizer_of_gguf


@dataclasses.dataclass
class OpenModel:
    family: str
    dims: dict
    tensors: dict[str, DiskTensor]  # in the file's order
    tokenizer: tokenizers.Tokenizer
    disk: dict  # facts about the files, for golden.json


HYBRID_DIMS = {
    "interval": "full_attention_interval",
    "gdn_k_heads": "linear_num_key_heads",
    "gdn_v_heads": "linear_num_value_heads",
    "gdn_k_dim": "linear_key_head_dim",
    "gdn_v_dim": "linear_value_head_dim",
    "conv": "linear_conv_kernel_dim",
}
MOE_DIMS = {
    "experts": "num_experts",
    "top_k": "num_experts_per_tok",
    "moe_inter": "moe_intermediate_size",
    "shared_inter": "shared_expert_intermediate_size",
}
DENSE_DIMS = {
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "inter": "intermediate_size",
    "layers": "num_hidden_layers",
    "vocab": "vocab_size",
}


def _dims(config: dict) -> dict:
    """The dimensions of a config.json (or its text part) or of MLC's model_config, under the goldens' names."""
    dims = {name: config[key] for name, key in (DENSE_DIMS | HYBRID_DIMS | MOE_DIMS).items() if key in config}
    rope = config.get("rope_parameters") or {}
    if "interval" in dims:
        dims["partial"] = rope.get("partial_rotary_factor", config.get("partial_rotary_factor"))
    dims["rms_eps"] = config["rms_norm_eps"]
    dims["rope_theta"] = float(rope.get("rope_theta") or config.get("rope_theta") or config["position_embedding_base"])
    return dims | {"tied": int(config.get("tie_word_embeddings", False))}


def open_model(folder: pathlib.Path) -> OpenModel:
    ggufs = list(folder.glob("*.gguf"))
    if ggufs:
        return _open_gguf(ggufs[0])
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    mlc_config = folder / "mlc-chat-config.json"
    if mlc_config.exists():
        config = json.loads(mlc_config.read_text())
        family = {"phi3": "phi3", "qwen3": "qwen3", "qwen3_5": "qwen35"}[config["model_type"]]
        shards = len(list(folder.glob("params_shard_*.bin")))
        return OpenModel(family, _dims(config["model_config"]), mlc_format.read(folder), tokenizer, {"shards": shards})
    config = json.loads((folder / "config.json").read_text())
    shards = len(list(folder.glob("*.safetensors")))
    if "text_config" in config:
        bits = {entry["bits"] for entry in config["quantization"].values() if isinstance(entry, dict)}
        family = "qwen36q3" if 3 in bits else "qwen36"
        return OpenModel(family, _dims(config["text_config"]), mlx_format.read(folder), tokenizer, {"shards": shards})
    family = {"qwen3": "qwen3-hf", "llama": "llama-hf"}[config["model_type"]]
    tensors = {
        name: DiskTensor(safetensors_format.as_floats(*raw), "plain")
        for name, raw in safetensors_format.read_raw(folder).items()
    }
    return OpenModel(family, _dims(config) | {"family": family}, tensors, tokenizer, {"shards": shards})


def _open_gguf(path: pathlib.Path) -> OpenModel:
    tensors, fields = gguf_format.read(path)
    n_heads, hidden = fields["llama.attention.head_count"], fields["llama.embedding_length"]
    dims = {
        "hidden": hidden,
        "heads": n_heads,
        "kv_heads": fields["llama.attention.head_count_kv"],
        "head_dim": fields.get("llama.attention.key_length", hidden // n_heads),
        "inter": fields["llama.feed_forward_length"],
        "layers": fields["llama.block_count"],
        "vocab": len(fields["tokenizer.ggml.tokens"]),
        # The file holds an f32: its shortest decimal is what the config said.
        "rms_eps": float(f"{fields['llama.attention.layer_norm_rms_epsilon']:.6g}"),
        "rope_theta": fields["llama.rope.freq_base"],
        "tied": int("output.weight" not in tensors),
    }
    return OpenModel("llama", dims, tensors, tokenizer_of_gguf(fields), {})
