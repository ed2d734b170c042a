"""Random weights under which a tiny model behaves: logits spread by about 4, no layer drowns another, gates work.

A matrix [N, K] has standard deviation gain / sqrt(K). Each tensor is drawn from the seed and its own name.
"""

import numpy as np

# part of the name -> gain; the first that is found counts.
GAINS = (
    ("lm_head", 4.0),
    ("in_proj_qkv", 1.8),
    ("in_proj_z", 1.3),
    ("in_proj_a", 1.0),
    ("in_proj_b", 1.2),
    ("linear_attn.out_proj", 0.7),
    ("self_attn", 1.3),
    ("mlp.gate.weight", 3.0),
    ("shared_expert_gate", 1.4),
    ("experts.gate_up_proj", 1.1),
    ("experts.down_proj", 1.0),
    ("gate_up_proj", 1.1),
    ("gate_proj", 1.1),
    ("up_proj", 1.1),
    ("down_proj", 0.9),
)
N_FAINT = 6  # tokens with embeddings so small (0.005) that the norm's eps shows
FAINT_RMS = 0.005
TIED_LOGIT_SPREAD = 4.5


def shapes(family: str, dims: dict) -> dict[str, tuple]:
    """The state dict's shapes, from transformers' own class."""
    import torch

    from .reference import CLASSES, config_of

    with torch.device("meta"):
        network = CLASSES[family][1](config_of(family, dims))
    shapes = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    if dims["tied"]:
        shapes.pop("lm_head.weight", None)
    return shapes


def random_state(family: str, seed: int, dims: dict, faint_tokens: list[int]) -> dict[str, np.ndarray]:
    return {
        name: _tensor(name, shape, _draw(seed, name), dims, faint_tokens).astype(np.float32)
        for name, shape in shapes(family, dims).items()
    }


def _draw(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def _tensor(name: str, shape: tuple, draw: np.random.Generator, dims: dict, faint_tokens: list[int]) -> np.ndarray:
    if name == "model.embed_tokens.weight":
        values = draw.standard_normal(shape)
        values[faint_tokens] *= FAINT_RMS
        return values
    if name.endswith("norm.weight"):
        return _norm(name, shape, draw, dims)
    if name.endswith("A_log"):
        return draw.uniform(-4, 0.7, shape)
    if name.endswith("dt_bias"):
        return draw.uniform(-1.8, 1, shape)
    if name.endswith("conv1d.weight"):  # rows of very different strength
        return draw.standard_normal(shape) * np.exp(draw.normal(-0.6, 0.45, (shape[0], 1, 1)))
    gain = next(gain for part, gain in GAINS if part in name)
    if name.endswith("self_attn.o_proj.weight") and "interval" in dims:
        gain = 2.1  # the output gate halves what comes in
    return draw.standard_normal(shape) * gain / np.sqrt(shape[-1])


def _norm(name: str, shape: tuple, draw: np.random.Generator, dims: dict) -> np.ndarray:
    centred = "interval" in dims and "linear_attn" not in name  # these classes add 1 themselves
    if name == "model.norm.weight" and dims["tied"]:
        # Either sign at random: else the tied head would answer each token with itself.
        size = TIED_LOGIT_SPREAD / np.sqrt(dims["hidden"]) * draw.normal(1, 0.25, shape).clip(0.4, 1.6)
        return size * draw.choice((-1, 1), shape) - centred
    mean, spread = (1.5, 0.45) if "q_norm" in name else (1.2, 0.35) if "k_norm" in name else (1.0, 0.25)
    return draw.normal(mean, spread, shape) - centred


def faint_tokens(seed: int, n_ordinary: int) -> list[int]:
    """Ids of merged tokens: not bytes, and not special."""
    return sorted(np.random.default_rng([seed, 77]).choice(np.arange(275, n_ordinary), N_FAINT, replace=False).tolist())
