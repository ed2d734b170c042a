"""The config files that the publishers put beside the weights, with the traps that the real ones have."""

SYSTEM_OF_PHI = (
    "You are a helpful digital assistant. Please provide safe, ethical and accurate information to the user."
)
QWEN_TEMPLATE = (  # Qwen's plain parts: turns, answers with calls, and the thinking switch
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] }}"
    "{% for call in message.tool_calls or [] %}"
    "{{ '\n<tool_call>\n' + (call.function | tojson) + '\n</tool_call>' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}"
    "{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"
)


def stop_tokens(family: str) -> list[str]:
    """The tokens that end an answer, first the usual one."""
    if family == "phi3":
        return ["</s>", "<|endoftext|>", "<|assistant|>", "<|end|>"]
    return ["<|im_end|>"] if family.startswith("llama") else ["<|im_end|>", "<|endoftext|>"]


def mlc_model_config(family: str, dims: dict) -> dict:
    if family == "phi3":
        return {
            "model_type": "phi3",
            "hidden_size": dims["hidden"],
            "vocab_size": dims["vocab"],
            "num_hidden_layers": dims["layers"],
            "num_attention_heads": dims["heads"],
            "intermediate_size": dims["inter"],
            "rms_norm_eps": dims["rms_eps"],
            "num_key_value_heads": dims["kv_heads"],
            "max_position_embeddings": 4096,
            "position_embedding_base": dims["rope_theta"],
            "rope_scaling": None,
            "original_max_position_embeddings": 4096,
            "context_window_size": 4096,
            "prefill_chunk_size": 2048,
            "head_dim": dims["head_dim"],
            "tensor_parallel_shards": 1,
            "max_batch_size": 80,
            "tie_word_embeddings": False,
            "partial_rotary_factor": 1.0,
        }
    config = {
        "hidden_act": "silu",
        "hidden_size": dims["hidden"],
        "intermediate_size": dims["inter"],
        "attention_bias": False,
        "num_attention_heads": dims["heads"],
        "num_hidden_layers": dims["layers"],
        "num_key_value_heads": dims["kv_heads"],
        "rms_norm_eps": dims["rms_eps"],
        "rope_theta": int(dims["rope_theta"]),
        "vocab_size": dims["vocab"],
        "tie_word_embeddings": bool(dims["tied"]),
        "context_window_size": 4096,
        "prefill_chunk_size": 2048,
        "tensor_parallel_shards": 1,
        "head_dim": dims["head_dim"],
        "dtype": "float32",
        "max_batch_size": 128,
    }
    if family == "qwen3":
        return config | {"weight_block_size": None}
    return config | {
        "linear_key_head_dim": dims["gdn_k_dim"],
        "linear_value_head_dim": dims["gdn_v_dim"],
        "linear_num_key_heads": dims["gdn_k_heads"],
        "linear_num_value_heads": dims["gdn_v_heads"],
        "linear_conv_kernel_dim": dims["conv"],
        "full_attention_interval": dims["interval"],
        "partial_rotary_factor": dims["partial"],
    }


def mlc_chat_config(family: str, dims: dict, ids: dict[str, int]) -> dict:
    """ids: token -> id. The stop ids of qwen35 are stale, as in the published file: ordinary tokens here."""
    stops = [ids[token] for token in stop_tokens(family)]
    if family == "qwen35":
        stops = [301, 299]
    padding = ids["<|endoftext|>"]
    phi = family == "phi3"
    return {
        "version": "0.1.0",
        "model_type": {"phi3": "phi3", "qwen3": "qwen3", "qwen35": "qwen3_5"}[family],
        "quantization": "q4f16_1",
        "model_config": mlc_model_config(family, dims),
        "vocab_size": dims["vocab"],
        "context_window_size": 4096,
        "sliding_window_size": -1,
        "prefill_chunk_size": 2048,
        "attention_sink_size": -1,
        "tensor_parallel_shards": 1,
        "pipeline_parallel_stages": 1,
        "active_vocab_size": len(ids),
        "temperature": 0.6,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1.0,
        "top_p": 0.95,
        "tokenizer_files": ["tokenizer.json", "tokenizer_config.json"],
        "tokenizer_info": {
            "token_postproc_method": "byte_fallback" if phi else "byte_level",
            "prepend_space_in_encode": phi,
            "strip_space_in_decode": phi,
        },
        "conv_template": _phi_conversation(stops) if phi else _qwen_conversation(family, stops),
        "pad_token_id": padding,
        "bos_token_id": 1 if phi else padding,
        "eos_token_id": stops[1:] if phi else stops,
    }


def _conversation(roles: dict, **parts) -> dict:
    return {
        **parts,
        "add_role_after_system_message": True,
        "roles": roles,
        "role_templates": {role: f"{{{role}_message}}" for role in ("user", "assistant", "tool")},
        "messages": [],
        "role_content_sep": "\n",
        "role_empty_sep": "\n",
        "function_string": "",
        "use_function_calling": False,
    }


def _phi_conversation(stops: list[int]) -> dict:
    return _conversation(
        {"user": "<|user|>", "assistant": "<|assistant|>"},
        name="phi-3",
        system_template="<|system|>\n{system_message}",
        system_message=SYSTEM_OF_PHI,
        system_prefix_token_ids=[1],
        seps=["<|end|>\n"],
        stop_str=["<|endoftext|>"],
        stop_token_ids=stops,
    )


def _qwen_conversation(family: str, stops: list[int]) -> dict:
    return _conversation(
        {"user": "<|im_start|>user", "assistant": "<|im_start|>assistant"},
        name="qwen3" if family == "qwen3" else "qwen3_5_nothink",
        system_template="<|im_start|>system\n{system_message}<|im_end|>\n",
        system_message="You are a helpful assistant.",
        system_prefix_token_ids=None,
        seps=["<|im_end|>\n"],
        stop_str=["<|endoftext|>", "<|im_end|>"],
        stop_token_ids=stops,
    )
