"""Tensor names of each format beside transformers' names: rows (disk name, [state names], kind), in file order.

Kinds are explained in families.py. Disk names of quantised matrices are module names: without .weight in MLC and MLX.
"""


def mlc_phi3_names(dims: dict):
    """The order of the published Phi-3: its second file's tensors (head, last layers, norm) come first."""
    n_layers = dims["layers"]
    second = list(range((2 * n_layers + 2) // 3, n_layers))
    yield "lm_head", ["lm_head.weight"], ""
    for layer in second:
        yield from _mlc_phi3_layer(layer)
    yield "transformer.norm.weight", ["model.norm.weight"], ""
    yield "transformer.embd", ["model.embed_tokens.weight"], ""
    for layer in range(n_layers - len(second)):
        yield from _mlc_phi3_layer(layer)


def _mlc_phi3_layer(layer: int):
    disk, state = f"transformer.h.{layer}", f"model.layers.{layer}"
    yield f"{disk}.ln.weight", [f"{state}.input_layernorm.weight"], ""
    yield f"{disk}.mlp.down_proj", [f"{state}.mlp.down_proj.weight"], ""
    yield f"{disk}.mlp.gate_up_proj", [f"{state}.mlp.gate_up_proj.weight"], ""
    yield f"{disk}.post_attention_layernorm.weight", [f"{state}.post_attention_layernorm.weight"], ""
    yield f"{disk}.mixer.out_proj", [f"{state}.self_attn.o_proj.weight"], ""
    yield f"{disk}.mixer.qkv_proj", [f"{state}.self_attn.qkv_proj.weight"], ""


def is_attention(layer: int, dims: dict) -> bool:
    return "interval" not in dims or (layer + 1) % dims["interval"] == 0


def mlc_qwen_names(dims: dict):
    """Qwen3 and Qwen3.5. Files follow the text order of Hugging Face's names: layers 0, 1, 10, 11, 2, .."""
    norm = "+1" if "interval" in dims else ""  # Qwen3.5's classes hold w of 1 + w
    yield "model.embed_tokens", ["model.embed_tokens.weight"], ""
    for layer in sorted(range(dims["layers"]), key=str):
        base = f"model.layers.{layer}"
        mlp, mixer = f"{base}.mlp", f"{base}.self_attn"
        yield f"{base}.input_layernorm.weight", [f"{base}.input_layernorm.weight"], norm
        if not is_attention(layer, dims):
            yield from _mlc_delta_net(f"{base}.linear_attn")
        yield f"{mlp}.down_proj", [f"{mlp}.down_proj.weight"], ""
        yield f"{mlp}.gate_up_proj", [f"{mlp}.gate_proj.weight", f"{mlp}.up_proj.weight"], "rows"
        yield f"{base}.post_attention_layernorm.weight", [f"{base}.post_attention_layernorm.weight"], norm
        if is_attention(layer, dims):
            yield f"{mixer}.k_norm.weight", [f"{mixer}.k_norm.weight"], norm
            yield f"{mixer}.c_attn", [f"{mixer}.{part}_proj.weight" for part in "qkv"], "rows"
            yield f"{mixer}.o_proj", [f"{mixer}.o_proj.weight"], ""
            yield f"{mixer}.q_norm.weight", [f"{mixer}.q_norm.weight"], norm
    yield "model.norm.weight", ["model.norm.weight"], norm
    if not dims.get("tied", 1):
        yield "lm_head", ["lm_head.weight"], ""


def _mlc_delta_net(base: str):
    yield f"{base}.A_log", [f"{base}.A_log"], ""
    yield f"{base}.conv1d_weight", [f"{base}.conv1d.weight"], ""
    yield f"{base}.dt_bias", [f"{base}.dt_bias"], ""
    for part in ("in_proj_a", "in_proj_b", "in_proj_qkv", "in_proj_z"):
        yield f"{base}.{part}", [f"{base}.{part}.weight"], ""
    yield f"{base}.norm.weight", [f"{base}.norm.weight"], ""
    yield f"{base}.out_proj", [f"{base}.out_proj.weight"], ""


def mlx_names(dims: dict):
    """Qwen3.6: everything under language_model., the experts' gate and up apart."""
    top = "language_model."
    yield f"{top}model.embed_tokens", ["model.embed_tokens.weight"], ""
    for layer in range(dims["layers"]):
        base = f"model.layers.{layer}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{top}{base}.{norm}.weight", [f"{base}.{norm}.weight"], "+1"
        mixer = f"{base}.self_attn" if is_attention(layer, dims) else f"{base}.linear_attn"
        yield from _mlx_attention(top, mixer) if is_attention(layer, dims) else _mlx_delta_net(top, mixer)
        mlp = f"{base}.mlp"
        yield f"{top}{mlp}.gate", [f"{mlp}.gate.weight"], ""
        yield f"{top}{mlp}.switch_mlp.gate_proj", [f"{mlp}.experts.gate_up_proj"], "experts:0"
        yield f"{top}{mlp}.switch_mlp.up_proj", [f"{mlp}.experts.gate_up_proj"], "experts:1"
        yield f"{top}{mlp}.switch_mlp.down_proj", [f"{mlp}.experts.down_proj"], ""
        for part in (
            "shared_expert.gate_proj",
            "shared_expert.up_proj",
            "shared_expert.down_proj",
            "shared_expert_gate",
        ):
            yield f"{top}{mlp}.{part}", [f"{mlp}.{part}.weight"], ""
    yield f"{top}model.norm.weight", ["model.norm.weight"], "+1"
    yield f"{top}lm_head", ["lm_head.weight"], ""


def _mlx_attention(top: str, mixer: str):
    for part in ("q_proj", "k_proj", "v_proj", "o_proj"):
        yield f"{top}{mixer}.{part}", [f"{mixer}.{part}.weight"], ""
    for norm in ("q_norm", "k_norm"):
        yield f"{top}{mixer}.{norm}.weight", [f"{mixer}.{norm}.weight"], "+1"


def _mlx_delta_net(top: str, mixer: str):
    for part in ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"):
        yield f"{top}{mixer}.{part}", [f"{mixer}.{part}.weight"], ""
    yield f"{top}{mixer}.conv1d.weight", [f"{mixer}.conv1d.weight"], "conv"
    for part in ("A_log", "dt_bias", "norm.weight"):
        yield f"{top}{mixer}.{part}", [f"{mixer}.{part}"], ""


def gguf_names(dims: dict):
    """The llama architecture, in the order in which the converter meets the tensors."""
    yield "token_embd.weight", ["model.embed_tokens.weight"], ""
    for layer in range(dims["layers"]):
        disk, state = f"blk.{layer}", f"model.layers.{layer}"
        yield f"{disk}.attn_norm.weight", [f"{state}.input_layernorm.weight"], ""
        yield f"{disk}.ffn_down.weight", [f"{state}.mlp.down_proj.weight"], ""
        yield f"{disk}.ffn_gate.weight", [f"{state}.mlp.gate_proj.weight"], ""
        yield f"{disk}.ffn_up.weight", [f"{state}.mlp.up_proj.weight"], ""
        yield f"{disk}.ffn_norm.weight", [f"{state}.post_attention_layernorm.weight"], ""
        yield f"{disk}.attn_k.weight", [f"{state}.self_attn.k_proj.weight"], "kv_heads"
        yield f"{disk}.attn_output.weight", [f"{state}.self_attn.o_proj.weight"], ""
        yield f"{disk}.attn_q.weight", [f"{state}.self_attn.q_proj.weight"], "heads"
        yield f"{disk}.attn_v.weight", [f"{state}.self_attn.v_proj.weight"], ""
    yield "output_norm.weight", ["model.norm.weight"], ""
    if not dims.get("tied", 1):
        yield "output.weight", ["lm_head.weight"], ""


def hf_names(dims: dict):
    """Plain Hugging Face folders of Llama and Qwen3: the state's own names."""
    layers = []
    for layer in range(dims["layers"]):
        base = f"model.layers.{layer}"
        parts = [
            "input_layernorm",
            "mlp.down_proj",
            "mlp.gate_proj",
            "mlp.up_proj",
            "post_attention_layernorm",
            "self_attn.k_proj",
            "self_attn.o_proj",
            "self_attn.q_proj",
            "self_attn.v_proj",
        ]
        parts += ["self_attn.k_norm", "self_attn.q_norm"] if dims["family"] == "qwen3-hf" else []
        layers += [f"{base}.{part}.weight" for part in parts]
    head = [] if dims.get("tied", 1) else ["lm_head.weight"]
    for name in sorted(["model.embed_tokens.weight", "model.norm.weight", *layers, *head]):
        yield name, [name], ""
