"""config.json, generation_config.json and tokenizer_config.json of Hugging Face and MLX folders."""

import json

import tokenizers

from .chats import SMOL_TEMPLATE
from .configs import QWEN_TEMPLATE, stop_tokens
from .names import is_attention

GROUP = {"group_size": 64}


def _text_config(dims: dict, padding: int) -> dict:
    return {
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "dtype": "bfloat16",
        "bos_token_id": padding,
        "eos_token_id": padding,
        "full_attention_interval": dims["interval"],
        "head_dim": dims["head_dim"],
        "hidden_act": "silu",
        "hidden_size": dims["hidden"],
        "layer_types": [
            "full_attention" if is_attention(layer, dims) else "linear_attention" for layer in range(dims["layers"])
        ],
        "linear_conv_kernel_dim": dims["conv"],
        "linear_key_head_dim": dims["gdn_k_dim"],
        "linear_num_key_heads": dims["gdn_k_heads"],
        "linear_num_value_heads": dims["gdn_v_heads"],
        "linear_value_head_dim": dims["gdn_v_dim"],
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 4096,
        "mlp_only_layers": [],
        "model_type": "qwen3_5_moe_text",
        "moe_intermediate_size": dims["moe_inter"],
        "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False,
        "num_attention_heads": dims["heads"],
        "num_experts": dims["experts"],
        "num_experts_per_tok": dims["top_k"],
        "num_hidden_layers": dims["layers"],
        "num_key_value_heads": dims["kv_heads"],
        "rms_norm_eps": dims["rms_eps"],
        "rope_parameters": {
            "mrope_interleaved": True,
            "mrope_section": [11, 11, 10],
            "partial_rotary_factor": dims["partial"],
            "rope_theta": int(dims["rope_theta"]),
            "rope_type": "default",
        },
        "router_aux_loss_coef": 0.001,
        "shared_expert_intermediate_size": dims["shared_inter"],
        "tie_word_embeddings": False,
        "use_cache": True,
        "vocab_size": dims["vocab"],
    }


def mlx_config(dims: dict, ids: dict[str, int], module_bits: dict[str, int]) -> dict:
    """module_bits: the modules that are not of 4 bits. MLX writes the quantisation twice."""
    quantization = {**GROUP, "bits": 4, "mode": "affine"} | {
        name: {**GROUP, "bits": bits} for name, bits in module_bits.items()
    }
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "image_token_id": ids["<|image_pad|>"],
        "language_model_only": False,
        "model_type": "qwen3_5_moe",
        "quantization": quantization,
        "quantization_config": quantization,
        "text_config": _text_config(dims, ids["<|endoftext|>"]),
        "tie_word_embeddings": False,
        "transformers_version": "4.57.1",
        "video_token_id": ids["<|video_pad|>"],
        "vision_config": {
            "depth": 1,
            "hidden_size": 24,
            "model_type": "qwen3_5_moe",
            "num_heads": 2,
            "out_hidden_size": dims["hidden"],
            "patch_size": 4,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
        "vision_end_token_id": ids["<|vision_end|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
    }


def plain_config(family: str, dims: dict, ids: dict[str, int]) -> dict:
    """Of Llama or Qwen3 as transformers saves them."""
    qwen = family == "qwen3-hf"
    return {
        "architectures": ["Qwen3ForCausalLM" if qwen else "LlamaForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": ids["<|endoftext|>" if qwen else "<|im_start|>"],
        "eos_token_id": ids["<|im_end|>"],
        "head_dim": dims["head_dim"],
        "hidden_act": "silu",
        "hidden_size": dims["hidden"],
        "initializer_range": 0.02,
        "intermediate_size": dims["inter"],
        "max_position_embeddings": 4096,
        "model_type": "qwen3" if qwen else "llama",
        "num_attention_heads": dims["heads"],
        "num_hidden_layers": dims["layers"],
        "num_key_value_heads": dims["kv_heads"],
        "rms_norm_eps": dims["rms_eps"],
        "rope_scaling": None,
        "rope_theta": int(dims["rope_theta"]),
        "tie_word_embeddings": bool(dims["tied"]),
        "torch_dtype": "bfloat16",
        "transformers_version": "4.51.0",
        "use_cache": True,
        "vocab_size": dims["vocab"],
    }


def generation_config(family: str, ids: dict[str, int]) -> dict:
    stops = [ids[token] for token in stop_tokens(family)]
    padding = ids["<|endoftext|>"]
    return {
        "bos_token_id": padding,
        "do_sample": True,
        "eos_token_id": stops if len(stops) > 1 else stops[0],
        "pad_token_id": padding,
        "temperature": 1.0,
        "top_k": 20,
        "top_p": 0.95,
    }


def tokenizer_config(family: str, tokenizer: tokenizers.Tokenizer) -> dict:
    added = {
        str(id_): {
            "content": token.content,
            "lstrip": token.lstrip,
            "normalized": token.normalized,
            "rstrip": token.rstrip,
            "single_word": token.single_word,
            "special": token.special,
        }
        for id_, token in sorted(tokenizer.get_added_tokens_decoder().items())
    }
    common = {
        "add_bos_token": False,
        "added_tokens_decoder": added,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "pad_token": "<|endoftext|>",
    }
    if family == "phi3":
        return common | {
            "add_eos_token": False,
            "bos_token": "<s>",
            "eos_token": "<|endoftext|>",
            "legacy": False,
            "padding_side": "left",
            "tokenizer_class": "LlamaTokenizer",
            "unk_token": "<unk>",
        }
    common |= {
        "add_prefix_space": False,
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "unk_token": None,
    }
    if family == "llama-hf":
        return common | {
            "bos_token": "<|im_start|>",
            "chat_template": SMOL_TEMPLATE,
            "pad_token": "<|im_end|>",
            "tokenizer_class": "GPT2Tokenizer",
            "unk_token": "<|endoftext|>",
        }
    template = {"chat_template": QWEN_TEMPLATE} if family == "qwen3-hf" else {}
    return common | template | {"split_special_tokens": False, "tokenizer_class": "Qwen2Tokenizer"}


def tokenizer_json(family: str, tokenizer: tokenizers.Tokenizer) -> str:
    """As the publishers' files have it: Phi-3's merges are strings, and byte-level decoders don't have the defaults."""
    content = json.loads(tokenizer.to_str())
    if not family.startswith(("phi3", "llama")):
        content["decoder"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    if family == "phi3":
        content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]
    return json.dumps(content, ensure_ascii=False)
