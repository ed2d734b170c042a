"""Computes and writes a golden folder for a model folder, in the layout of golden.json version 1 (see README.md)."""

import importlib.metadata
import json
import pathlib

import numpy as np
import torch

from . import chats, configs
from .open_model import OpenModel
from .prompts import choose_prompts, vocabulary_of
from .reference import CLASSES
from .running import full_pass, greedy, half_twin, margins

CACHE_NOTE = (
    "attn: keys/values [kv_heads, T, head_dim], keys after (q/k norm and) RoPE, rotate-half element order; "
    "gdn: recurrent_state "
    "[v_heads, k_dim, v_dim], conv_state [conv-1, channels] = raw in_proj_qkv rows (before conv and SiLU), oldest first"
)
HIDDEN_NOTE = (
    "states[0] = embedding, states[l+1] = residual stream after layer l (before the final norm), "
    "shape [layers+1, T, hidden]; "
    "all_logits [T, vocab]"
)
ROUTER_NOTE = (
    "per layer, per token: the top-k expert ids (descending score) and the renormalised weights; "
    "logits [T, experts] before softmax"
)
TENSORS_NOTE = "dequantised values in on-disk row order (GGUF q/k rows are in the permuted order of the file)"
N_CHAT_TOKENS = 24
CACHE_PROMPT, HIDDEN_PROMPT = "p007", "p040"


class Folder:
    """The golden folder: arrays become raw little-endian f32 files."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def array(self, name: str, values: np.ndarray) -> dict:
        file = f"{name}.f32.bin"
        np.ascontiguousarray(values, "<f4").tofile(self.path / file)
        return {"file": file, "dtype": "float32", "shape": list(values.shape)}

    def json(self, name: str, content: dict, indent: int) -> None:
        (self.path / name).write_text(json.dumps(content, indent=indent))


def top5(logits: np.ndarray) -> np.ndarray:
    return np.argsort(-logits, -1, kind="stable")[..., :5]


def header(model: OpenModel, seed: int) -> dict:
    tokenizer = model.tokenizer
    packages = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers", "numpy")}
    return {
        "model": model.family,
        "set": "made",
        "seed": seed,
        "dims": {key: value for key, value in model.dims.items() if key != "family"},
        "generated_with": packages,
        "reference": f"{CLASSES[model.family][1].__name__}, float32, eager attention, "
        "weights = exact dequantised on-disk values",
        "byte_order": "little",
        "page_size": 16,
        "prefill_chunk": 64,
        "stop_token_ids": [tokenizer.token_to_id(token) for token in configs.stop_tokens(model.family)],
        "active_vocab_size": tokenizer.get_vocab_size(),
        "disk": model.disk,
    }


def prompt_entry(folder: Folder, name: str, chosen: dict, one_pass: dict) -> dict:
    logits, last = chosen["logits"], one_pass["logits"][-1]
    hidden = np.concatenate([one_pass["states"][:, -1], one_pass["final_norm"][-1:]])
    rows = ["embedding", *(f"after layer {layer}" for layer in range(len(hidden) - 2)), "after final norm"]
    best = top5(logits)
    return {
        "name": name,
        "len": len(chosen["ids"]),
        "ids": chosen["ids"],
        "last_logits": folder.array(f"{name}.last_logits", last),
        "top5": [[int(id_), float(last[id_])] for id_ in top5(last)],
        "last_hidden": folder.array(f"{name}.last_hidden", hidden) | {"rows": rows},
        "greedy": {
            "tokens": chosen["tokens"],
            "margins": margins(logits).tolist(),
            "top5_ids": best.tolist(),
            "top5_logits": np.take_along_axis(logits, best, -1).tolist(),
            "logits_step31": folder.array(f"{name}.logits_step31", logits[31]),
        },
        "stats": chosen["stats"],
    }


def cache_entry(folder: Folder, model: OpenModel, one_pass: dict, n_tokens: int) -> dict:
    layers = []
    for index, layer in enumerate(one_pass["cache"].layers):
        if getattr(layer, "keys", None) is not None:
            layers.append(
                {
                    "kind": "attn",
                    "keys": folder.array(f"kv{index}.keys", layer.keys[0].numpy()),
                    "values": folder.array(f"kv{index}.values", layer.values[0].numpy()),
                }
            )
        else:
            conv = layer.conv_states[0][0, :, -(model.dims["conv"] - 1) :].numpy().T
            layers.append(
                {
                    "kind": "gdn",
                    "recurrent_state": folder.array(f"state{index}.recurrent", layer.recurrent_states[0][0].numpy()),
                    "conv_state": folder.array(f"state{index}.conv", conv),
                }
            )
    return {"prompt_len": n_tokens, "layers": layers, "note": CACHE_NOTE}


def router_entry(folder: Folder, one_pass: dict, top_k: int) -> dict:
    layers = []
    for index, logits in enumerate(one_pass["routers"]):
        weights, experts = torch.from_numpy(logits).softmax(-1).topk(top_k, -1)
        layers.append(
            {
                "expert_ids": experts.tolist(),
                "weights": (weights / weights.sum(-1, keepdim=True)).tolist(),
                "logits_file": folder.array(f"router{index}.logits", logits),
            }
        )
    return {"prompt": CACHE_PROMPT, "layers": layers, "note": ROUTER_NOTE}


def hidden_entry(folder: Folder, one_pass: dict) -> dict:
    return {
        "prompt": HIDDEN_PROMPT,
        "states": folder.array("hidden.states", one_pass["states"]),
        "final_norm": folder.array("hidden.final_norm", one_pass["final_norm"]),
        "all_logits": folder.array("hidden.all_logits", one_pass["logits"]),
        "note": HIDDEN_NOTE,
    }


def tokenizer_golden(model: OpenModel, network: torch.nn.Module) -> dict:
    tokenizer, kind = model.tokenizer, chats.kind_of(model.family)
    stops = [tokenizer.token_to_id(token) for token in configs.stop_tokens(model.family)]
    texts = []
    for text in chats.TEXTS + chats.TEXTS_OF_KIND[kind]:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        texts.append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=True)})
    rows = []
    for messages in chats.CHATS:
        rendered = chats.rendered(model.family, messages)
        ids = tokenizer.encode(rendered, add_special_tokens=False).ids
        tokens, logits = greedy(network, np.array([ids]), N_CHAT_TOKENS)
        tokens = tokens[0].tolist()
        stop_at = next((index for index, token in enumerate(tokens) if token in stops), None)
        rows.append(
            {
                "messages": messages,
                "rendered": rendered,
                "ids": ids,
                "greedy_tokens": tokens,
                "margins": margins(logits[0]).tolist(),
                "stop_at": stop_at,
                "text": tokenizer.decode(tokens[:stop_at], skip_special_tokens=True),
            }
        )
    return {"texts": texts, "chats": rows, "stop_token_ids": stops, "active_vocab_size": tokenizer.get_vocab_size()}


def make_goldens(model: OpenModel, network: torch.nn.Module, path: pathlib.Path, seed: int) -> dict:
    folder, top_k = Folder(path), model.dims.get("top_k")
    golden = header(model, seed) | {"prompts": []}
    passes = {}
    for name, chosen in choose_prompts(
        network, half_twin(network), vocabulary_of(network, model.tokenizer), seed, top_k
    ):
        passes[name] = full_pass(network, chosen["ids"])
        golden["prompts"].append(prompt_entry(folder, name, chosen, passes[name]))
    golden["cache"] = cache_entry(folder, model, passes[CACHE_PROMPT], len(passes[CACHE_PROMPT]["logits"]))
    if top_k:
        golden["router"] = router_entry(folder, passes[CACHE_PROMPT], top_k)
    golden["hidden"] = hidden_entry(folder, passes[HIDDEN_PROMPT])
    folder.json("golden.json", golden, 1)
    rows = [tensor.summary(name) for name, tensor in model.tensors.items()]
    folder.json("tensors.json", {"note": TENSORS_NOTE, "tensors": rows}, 0)
    folder.json("tokenizer_golden.json", tokenizer_golden(model, network), 1)
    return golden
