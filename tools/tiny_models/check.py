"""Compares a golden folder, whoever made it, with what this code computes from the model folder beside it."""

import json
import pathlib

import numpy as np
import torch

from . import goldens
from .open_model import OpenModel
from .running import full_pass, greedy

TOLERANCE = 1e-4  # of the logits' standard deviation, or of the array's


class Differences:
    """The largest difference of each part, in standard deviations of that part (exact things: 0 or 1)."""

    def __init__(self, path: pathlib.Path):
        self.path, self.found = path, {}

    def array(self, part: str, entry: dict, values: np.ndarray) -> None:
        expected = np.fromfile(self.path / entry["file"], "<f4").reshape(entry["shape"])
        if expected.shape != values.shape:
            self.exact(f"{part} shape", False)
            return
        self._note(part, float(np.abs(expected - values).max() / max(expected.std(), 1e-9)))

    def exact(self, part: str, equal: bool) -> None:
        self._note(part, 0.0 if equal else 1.0)

    def _note(self, part: str, difference: float) -> None:
        self.found[part] = max(self.found.get(part, 0.0), difference)


def _check_prompt(differences: Differences, network: torch.nn.Module, prompt: dict) -> None:
    one_pass = full_pass(network, prompt["ids"])
    differences.array("last_logits", prompt["last_logits"], one_pass["logits"][-1])
    hidden = np.concatenate([one_pass["states"][:, -1], one_pass["final_norm"][-1:]])
    differences.array("last_hidden", prompt["last_hidden"], hidden)
    tokens, logits = greedy(network, np.array([prompt["ids"]]))
    differences.exact("greedy tokens", tokens[0].tolist() == prompt["greedy"]["tokens"])
    differences.array("logits_step31", prompt["greedy"]["logits_step31"], logits[0, 31])


def _check_cache(differences: Differences, golden: dict, again: dict, folder: goldens.Folder) -> None:
    """again: the cache entry that this code writes into folder."""
    for layer, mine in zip(golden["cache"]["layers"], again["layers"], strict=True):
        differences.exact("cache kinds", layer["kind"] == mine["kind"])
        for part in layer.keys() - {"kind"}:
            values = np.fromfile(folder.path / mine[part]["file"], "<f4").reshape(mine[part]["shape"])
            differences.array(f"cache {part}", layer[part], values)


def check(model: OpenModel, network: torch.nn.Module, path: pathlib.Path, scratch: pathlib.Path) -> dict[str, float]:
    """Part -> largest difference in standard deviations."""
    differences, folder = Differences(path), goldens.Folder(scratch)
    golden = json.loads((path / "golden.json").read_text())
    ids = {prompt["name"]: prompt["ids"] for prompt in golden["prompts"]}
    for prompt in golden["prompts"]:
        _check_prompt(differences, network, prompt)
    one_pass = full_pass(network, ids[goldens.CACHE_PROMPT])
    _check_cache(differences, golden, goldens.cache_entry(folder, model, one_pass, 0), folder)
    if "router" in golden:
        again = goldens.router_entry(folder, one_pass, model.dims["top_k"])
        for layer, mine, logits in zip(golden["router"]["layers"], again["layers"], one_pass["routers"], strict=True):
            differences.exact("router experts", layer["expert_ids"] == mine["expert_ids"])
            differences.array("router logits", layer["logits_file"], logits)
    whole = full_pass(network, ids[golden["hidden"]["prompt"]])
    for part, key in (("states", "states"), ("final_norm", "final_norm"), ("all_logits", "logits")):
        differences.array(f"hidden {part}", golden["hidden"][part], whole[key])
    rows = [tensor.summary(name) for name, tensor in model.tensors.items()]
    differences.exact("tensors.json", json.loads((path / "tensors.json").read_text())["tensors"] == rows)
    _check_tokenizer(
        differences, json.loads((path / "tokenizer_golden.json").read_text()), goldens.tokenizer_golden(model, network)
    )
    differences.exact("stop ids", golden["stop_token_ids"] == goldens.header(model, 0)["stop_token_ids"])
    return differences.found


def _check_tokenizer(differences: Differences, given: dict, mine: dict) -> None:
    differences.exact("texts", given["texts"] == mine["texts"])
    for key in ("messages", "rendered", "ids", "greedy_tokens", "stop_at", "text"):
        differences.exact(
            f"chat {key}", [chat[key] for chat in given["chats"]] == [chat[key] for chat in mine["chats"]]
        )
