"""Choosing the prompts of a golden: random ones, of which those are kept whose 32 greedy tokens are beyond doubt.

Kept: no stop, special or padding id on the path, the f16 twin takes the same path, the path does not run in a circle.
"""

import dataclasses

import numpy as np
import torch

from .running import N_GREEDY, full_pass, greedy, margins, router_gap

LENGTHS = {"p001": 1, "p007": 7, "p016": 16, "p040": 40, "p065": 65, "p131": 131, "eps": 5}
POOL = 48
MAX_POOLS = 5
GOOD_MARGIN = 0.1  # no further pool is drawn when a path has it
TAIL = 10
MIN_DISTINCT, MIN_TAIL_DISTINCT = 14, 6
N_FINALISTS = 4
FAINT_RMS = 0.02


@dataclasses.dataclass
class Vocabulary:
    ordinary: np.ndarray  # ids that a prompt may hold and a path may meet
    faint: np.ndarray  # ids with an embedding so small that the norm's eps shows


def vocabulary_of(network: torch.nn.Module, tokenizer) -> Vocabulary:
    added = set(tokenizer.get_added_tokens_decoder())
    rms = network.model.embed_tokens.weight.detach().square().mean(-1).sqrt().numpy()
    ordinary = [id_ for id_ in range(tokenizer.get_vocab_size()) if id_ not in added]
    return Vocabulary(
        np.array([id_ for id_ in ordinary if rms[id_] >= FAINT_RMS]),
        np.array([id_ for id_ in ordinary if rms[id_] < FAINT_RMS]),
    )


def choose_prompts(
    network: torch.nn.Module, twin: torch.nn.Module, vocabulary: Vocabulary, seed: int, top_k: int | None
):
    """Yields (name, chosen) for each length; chosen: ids, tokens, logits [32, V] (incremental, f32) and stats."""
    for name, length in LENGTHS.items():
        source = vocabulary.faint if name == "eps" else vocabulary.ordinary
        if len(source) == 0:
            continue
        draw = np.random.default_rng([seed, *name.encode()])
        candidates, n_seen = [], 0
        while n_seen < MAX_POOLS * POOL and max(map(_margin, candidates), default=0) < GOOD_MARGIN:
            candidates += _usable(network, twin, vocabulary, draw.choice(source, (POOL, length)))
            n_seen += POOL
        if not candidates:
            raise SystemExit(f"No prompt of {n_seen} for {name} has a path beyond doubt; try another seed.")
        yield name, _best(network, candidates, top_k, n_seen)


def _margin(candidate: dict) -> float:
    return min(candidate["stats"]["min_margin"], candidate["stats"]["min_margin_f16"])


def _usable(network, twin, vocabulary: Vocabulary, prompts: np.ndarray) -> list[dict]:
    tokens, logits = greedy(network, prompts)
    allowed = np.union1d(vocabulary.ordinary, vocabulary.faint)
    clean = np.flatnonzero(np.isin(tokens, allowed).all(1) & (margins(logits).min(1) > 0.02))
    if len(clean) == 0:
        return []
    tokens, logits, prompts = tokens[clean], logits[clean], prompts[clean]
    twin_tokens, twin_logits = greedy(twin, prompts, forced=tokens)
    found = []
    for row in np.flatnonzero((twin_tokens == tokens).all(1)):
        noise = np.abs(twin_logits[row] - logits[row])
        found.append(
            {
                "ids": prompts[row].tolist(),
                "tokens": tokens[row].tolist(),
                "logits": logits[row],
                "stats": {
                    "min_margin": float(margins(logits[row]).min()),
                    "min_margin_f16": float(margins(twin_logits[row]).min()),
                    "f16_noise_max": float(noise.max()),
                    "f16_noise_prefill": float(noise[0].max()),
                    "f16_noise_rms": float(np.sqrt(np.square(noise, dtype=np.float64).mean())),
                    "distinct": len(set(tokens[row].tolist())),
                    "tail_distinct": len(set(tokens[row, -TAIL:].tolist())),
                    "logit_std": float(logits[row].std()),
                },
            }
        )
    return found


def _best(network, candidates: list[dict], top_k: int | None, n_seen: int) -> dict:
    """The widest margins among lively paths; with experts, of the best few the one whose router was surest."""

    def rank(candidate):
        stats = candidate["stats"]
        lively = stats["distinct"] >= MIN_DISTINCT and stats["tail_distinct"] >= MIN_TAIL_DISTINCT
        return lively, _margin(candidate)

    finalists = sorted(candidates, key=rank, reverse=True)[: N_FINALISTS if top_k else 1]
    finalists = [finalist for finalist in finalists if _margin(finalist) >= _margin(finalists[0]) / 2]
    for finalist in finalists:
        whole = full_pass(network, finalist["ids"] + finalist["tokens"][:-1])
        finalist["stats"] |= {
            "f32_incremental_vs_full": float(np.abs(whole["logits"][-N_GREEDY:] - finalist["logits"]).max()),
            "pool": n_seen,
            "usable": len(candidates),
        }
        if top_k:
            finalist["stats"]["router_min_log_gap"] = router_gap(whole["routers"], top_k)
    return max(finalists, key=lambda finalist: finalist["stats"].get("router_min_log_gap", 0))
