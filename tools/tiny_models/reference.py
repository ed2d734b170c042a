"""transformers' own model of a family, in f32 with eager attention, holding the exact values of a folder's weights."""

import torch
import transformers

from . import families
from .open_model import OpenModel

CLASSES = {
    "phi3": (transformers.Phi3Config, transformers.Phi3ForCausalLM),
    "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "qwen3-hf": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "qwen35": (transformers.Qwen3_5TextConfig, transformers.Qwen3_5ForCausalLM),
    "qwen36": (transformers.Qwen3_5MoeTextConfig, transformers.Qwen3_5MoeForCausalLM),
    "qwen36q3": (transformers.Qwen3_5MoeTextConfig, transformers.Qwen3_5MoeForCausalLM),
    "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
    "llama-hf": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
}


def config_of(family: str, dims: dict):
    rope = {"rope_type": "default", "rope_theta": dims["rope_theta"]}
    common = {
        "hidden_size": dims["hidden"],
        "num_hidden_layers": dims["layers"],
        "num_attention_heads": dims["heads"],
        "num_key_value_heads": dims["kv_heads"],
        "vocab_size": dims["vocab"],
        "rms_norm_eps": dims["rms_eps"],
        "max_position_embeddings": 4096,
        "tie_word_embeddings": bool(dims["tied"]),
        "rope_parameters": rope,
        "pad_token_id": 0,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "attn_implementation": "eager",
    }
    if "inter" in dims:
        common["intermediate_size"] = dims["inter"]
    if family == "phi3":  # head_dim is hidden / heads there; the engine and MLC ignore the sliding window
        return transformers.Phi3Config(**common, sliding_window=None)
    common["head_dim"] = dims["head_dim"]
    if "interval" in dims:
        rope |= {"partial_rotary_factor": dims["partial"], "mrope_interleaved": True, "mrope_section": [11, 11, 10]}
        common |= {
            "linear_num_key_heads": dims["gdn_k_heads"],
            "linear_num_value_heads": dims["gdn_v_heads"],
            "linear_key_head_dim": dims["gdn_k_dim"],
            "linear_value_head_dim": dims["gdn_v_dim"],
            "linear_conv_kernel_dim": dims["conv"],
            "layer_types": [
                "full_attention" if families.is_attention(layer, dims) else "linear_attention"
                for layer in range(dims["layers"])
            ],
        }
    if "experts" in dims:
        common |= {
            "num_experts": dims["experts"],
            "num_experts_per_tok": dims["top_k"],
            "moe_intermediate_size": dims["moe_inter"],
            "shared_expert_intermediate_size": dims["shared_inter"],
        }
    return CLASSES[family][0](**common)


def reference_model(model: OpenModel) -> torch.nn.Module:
    network = CLASSES[model.family][1](config_of(model.family, model.dims)).float().eval()
    state = {
        name: torch.from_numpy(values.copy())
        for name, values in families.from_disk(model.family, model.tensors, model.dims).items()
    }
    missing, unexpected = network.load_state_dict(state, strict=False)
    missing = [name for name in missing if not (name == "lm_head.weight" and model.dims["tied"])]
    if missing or unexpected:
        raise ValueError(f"The state dict lacks {missing} and has unknown {unexpected}.")
    network.tie_weights()
    return network
