"""Running a reference model: batches of greedy continuations, a twin in f16, and records of what happens inside."""

import contextlib
import copy

import numpy as np
import torch

N_GREEDY = 32


def half_twin(network: torch.nn.Module) -> torch.nn.Module:
    """The crude all-f16 twin whose distance from f32 tells what f16 activations may cost."""
    return copy.deepcopy(network).half()


@torch.no_grad()
def greedy(network: torch.nn.Module, prompts: np.ndarray, n_tokens: int = N_GREEDY, forced: np.ndarray | None = None):
    """prompts [batch, length] -> tokens [batch, n_tokens], logits [batch, n_tokens, vocab] f32: row i chose token i.

    With forced [batch, n_tokens] those tokens are fed instead of the chosen ones."""
    chosen, rows = [], []
    output = network(torch.from_numpy(prompts), use_cache=True)
    for step in range(n_tokens):
        logits = output.logits[:, -1].float()
        rows.append(logits.numpy())
        chosen.append(logits.argmax(-1))
        if step + 1 < n_tokens:
            fed = chosen[-1] if forced is None else torch.from_numpy(forced[:, step])
            output = network(fed[:, None], cache=output.cache, use_cache=True)
    return torch.stack(chosen, 1).numpy(), np.stack(rows, 1)


def margins(logits: np.ndarray) -> np.ndarray:
    """The distance of the two largest logits, over the last axis."""
    top = np.partition(logits, -2, -1)[..., -2:]
    return top[..., 1] - top[..., 0]


@contextlib.contextmanager
def recording(network: torch.nn.Module):
    """Yields a dict that forward passes fill: "states" (embedding and after each layer), "final_norm" and, if there are
    experts, "routers" (logits of each layer), all as lists of one array a pass or layer."""
    body, record, handles = network.model, {"states": [], "routers": []}, []

    def keep(key, pick=lambda output: output[0] if isinstance(output, tuple) else output):
        def hook(module, inputs, output):
            record[key].append(pick(output).detach())

        return hook

    def keep_norm(module, inputs, output):
        record["final_norm"] = output.detach()

    handles.append(body.embed_tokens.register_forward_hook(keep("states")))
    for layer in body.layers:
        handles.append(layer.register_forward_hook(keep("states")))
        if hasattr(layer.mlp, "gate") and hasattr(layer.mlp, "experts"):
            handles.append(layer.mlp.gate.register_forward_hook(keep("routers")))
    handles.append(body.norm.register_forward_hook(keep_norm))
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def full_pass(network: torch.nn.Module, ids: list[int]) -> dict:
    """One pass over ids: logits [T, V], states [layers+1, T, hidden], final_norm [T, hidden], routers [[T, experts]..]."""
    with recording(network) as record:
        output = network(torch.tensor([ids]), use_cache=True)
    return {
        "logits": output.logits[0].numpy(),
        "states": torch.cat(record["states"]).numpy(),
        "final_norm": record["final_norm"][0].numpy(),
        "routers": [logits.reshape(-1, logits.shape[-1]).numpy() for logits in record["routers"]],
        "cache": output.cache,
    }


def router_gap(routers: list[np.ndarray], top_k: int) -> float:
    """How near another choice of experts was: the least distance of the k-th and the next router logit."""
    ordered = [-np.sort(-logits, -1) for logits in routers]
    return float(min((logits[:, top_k - 1] - logits[:, top_k]).min() for logits in ordered))
