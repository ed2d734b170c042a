"""Dimensions of tiny models: drawn from the seed within each family's sensible ranges, or given."""

import random

FAMILIES = ("phi3", "qwen3", "qwen35", "qwen36", "qwen36q3", "llama", "qwen3-hf", "llama-hf")

# The names of config.json that --set also takes.
ALIASES = {
    "hidden_size": "hidden",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "num_key_value_heads": "kv_heads",
    "intermediate_size": "inter",
    "vocab_size": "vocab",
    "num_experts": "experts",
    "num_experts_per_tok": "top_k",
    "moe_intermediate_size": "moe_inter",
    "shared_expert_intermediate_size": "shared_inter",
    "rms_norm_eps": "rms_eps",
    "full_attention_interval": "interval",
    "linear_num_key_heads": "gdn_k_heads",
    "linear_num_value_heads": "gdn_v_heads",
    "linear_key_head_dim": "gdn_k_dim",
    "linear_value_head_dim": "gdn_v_dim",
    "linear_conv_kernel_dim": "conv",
    "partial_rotary_factor": "partial",
    "tie_word_embeddings": "tied",
}
TEXT_KEYS = ("quant", "f32_params")


def parse_settings(pairs: list[str]) -> dict:
    settings = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise SystemExit(f"The setting {pair!r} has no value, expected key=value.")
        key = ALIASES.get(key, key)
        settings[key] = text if key in TEXT_KEYS else float(text) if "." in text or "e" in text else int(text)
    return settings


def _attention(draw: random.Random, head_dims: tuple, kv_choices: tuple, ratios: tuple) -> dict:
    kv_heads = draw.choice(kv_choices)
    return {"heads": kv_heads * draw.choice(ratios), "kv_heads": kv_heads, "head_dim": draw.choice(head_dims)}


def _hybrid(draw: random.Random) -> dict:
    """Attention and gated DeltaNet together."""
    gdn_k_heads = draw.choice((1, 2, 3))
    return _attention(draw, (32, 64, 128), (1, 2, 3), (1, 2, 3)) | {
        "interval": draw.choice((2, 3, 4)),
        "gdn_k_heads": gdn_k_heads,
        "gdn_v_heads": gdn_k_heads * draw.choice((1, 2, 4)),
        "gdn_k_dim": draw.choice((32, 64)),
        "gdn_v_dim": draw.choice((32, 64)),
        "conv": 4,
        "partial": 0.25,
        "rms_eps": 1e-6,
        "rope_theta": 1e7,
    }


def _drawn(family: str, draw: random.Random, super_blocks: bool) -> dict:
    dims = {"vocab": draw.randrange(560, 720, 4), "layers": draw.choice((3, 5))}
    if family == "phi3":
        heads, head_dim = draw.choice(((2, 96), (3, 64), (4, 48), (5, 32), (2, 128)))
        dims |= {
            "heads": heads,
            "kv_heads": heads,
            "head_dim": head_dim,
            "hidden": heads * head_dim,
            "inter": draw.randrange(224, 416, 32),
            "rms_eps": 1e-5,
            "rope_theta": 1e4,
            "tied": 0,
        }
    elif family in ("qwen3", "qwen3-hf"):
        dims |= _attention(draw, (32, 64, 96, 128), (1, 2, 3), (1, 2, 3, 4)) | {
            "hidden": draw.choice((128, 160, 192, 224)),
            "inter": draw.randrange(224, 416, 32),
            "rms_eps": 1e-6,
            "rope_theta": 1e6,
            "tied": 1,
        }
    elif family == "qwen35":
        dims |= {
            "hidden": draw.choice((128, 160, 192)),
            "inter": draw.randrange(192, 320, 32),
            "layers": draw.choice((5, 7, 9)),
            "tied": 1,
        } | _hybrid(draw)
    elif family in ("qwen36", "qwen36q3"):
        experts = draw.choice((5, 6, 9, 11))
        dims |= {
            "hidden": draw.choice((128, 192)),
            "layers": draw.choice((5, 7)),
            "experts": experts,
            "top_k": draw.randint(2, min(4, experts - 1)),
            "moe_inter": draw.choice((64, 128)),
            "shared_inter": draw.choice((64, 128)),
            "shards": draw.choice((2, 3, 5)),
            "f32_params": draw.choice(("", "A_log,dt_bias")),
            "tied": 0,
        } | _hybrid(draw)
    elif super_blocks:  # K-quants: every row is a multiple of 256
        heads, head_dim = draw.choice(((4, 64), (8, 32), (2, 128)))
        dims |= {
            "heads": heads,
            "kv_heads": draw.choice([n for n in (1, 2, 4) if heads % n == 0]),
            "head_dim": head_dim,
            "hidden": 256,
            "inter": draw.choice((256, 512)),
            "rms_eps": 1e-5,
            "rope_theta": draw.choice((1e4, 1e5)),
            "tied": draw.choice((0, 1)),
        }
    else:
        attention = _attention(draw, (32, 64), (1, 2, 3), (1, 2, 3))
        dims |= attention | {
            "hidden": attention["heads"] * attention["head_dim"],
            "inter": draw.randrange(224, 416, 32),
            "rms_eps": 1e-5,
            "rope_theta": draw.choice((1e4, 1e5)),
            "tied": draw.choice((0, 1)),
        }
    return dims


def draw_dims(family: str, seed: int, settings: dict) -> dict:
    """The family's dimensions for a seed, with settings put over them: drawn until the formats are content."""
    quant = settings.get("quant", "Q4_1" if family == "llama" else None)
    super_blocks = quant is not None and "_K" in quant
    multiple = 256 if super_blocks else 64 if family.startswith("qwen36") else 32
    fault = None
    for attempt in range(200):
        dims = _drawn(family, random.Random(f"{family} {seed} {attempt} dims"), super_blocks) | settings
        if family == "llama":
            dims["quant"] = quant
        if family == "phi3":
            dims["hidden"] = settings.get("hidden", dims["heads"] * dims["head_dim"])
        dims["family"] = family
        fault = _fault(dims, multiple)
        if fault is None:
            return dims
    raise SystemExit(fault)


def _fault(dims: dict, multiple: int) -> str | None:
    rows = {"hidden": dims["hidden"], "heads x head_dim": dims["heads"] * dims["head_dim"]}
    rows |= {key: dims[key] for key in ("inter", "moe_inter", "shared_inter") if key in dims}
    if "gdn_v_heads" in dims:
        rows["gdn_v_heads x gdn_v_dim"] = dims["gdn_v_heads"] * dims["gdn_v_dim"]
    for name, length in rows.items():
        if length % multiple:
            return f"{name} is {length}, expected a multiple of {multiple}: rows are quantised in groups."
    if dims["heads"] % dims["kv_heads"]:
        return f"There are {dims['heads']} heads, expected a multiple of the {dims['kv_heads']} key-value heads."
    if "gdn_v_heads" in dims and dims["gdn_v_heads"] % dims["gdn_k_heads"]:
        return (
            f"There are {dims['gdn_v_heads']} value heads, expected a multiple of the {dims['gdn_k_heads']} key heads."
        )
    if dims.get("top_k", 0) > dims.get("experts", 0):
        return f"top_k is {dims['top_k']}, expected at most the {dims['experts']} experts."
    return None
