"""The texts and chats of tokenizer_golden.json, and the plain templates in which the families' chats are rendered."""

TEXTS = [
    "Hello world",
    "The quick brown fox jumps over the lazy dog.",
    " leading space",
    "trailing space ",
    "multiple   spaces   between",
    "    four-space indent",
    "line one\nline two",
    "para one\n\npara two",
    "def f(x):\n    return x * 2\n",
    "\n",
    "\n\n",
    "tab\there",
    "\t\n mixed \r\n endings",
    "emoji \U0001f600 test",
    "\u4e2d\u6587\u6d4b\u8bd5",
    "na\u00efve cafe\u0301 r\u00e9sum\u00e9",
    "it's we'll DON'T they'Re",
    "pi is 3.14159 and 42, year 2026",
    "wait... what?!?! [yes] {no} <maybe>",
    "null \u0000 byte \u0007",
    "a",
    " ",
    "",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22",
    "x\u2581y",
]
IM_TEXTS = ["before <|im_end|> after", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"]
TEXTS_OF_KIND = {
    "phi": ["<s>bos then text</s>", "before <|end|> after", "<|user|>\nHi<|end|>\n<|assistant|>\n"],
    "smol": IM_TEXTS,
    "qwen": [*IM_TEXTS, "<think>\nok\n</think>\n\nanswer", "<tool_call>x</tool_call>"],
}

CHATS = [
    [{"role": "user", "content": "What is the capital of Australia?"}],
    [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Write a short story about a fox."},
    ],
    [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": "Hello! How are you?"},
        {"role": "user", "content": "Tell me 2 numbers.\n\nPlease."},
    ],
]

SMOL_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
SMOL_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    + SMOL_SYSTEM
    + "<|im_end|>\n' }}{% endif %}"
    + "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def kind_of(family: str) -> str:
    """Which of the three kinds of tokenizer and template a family has."""
    return "phi" if family == "phi3" else "smol" if family.startswith("llama") else "qwen"


def rendered(family: str, messages: list[dict]) -> str:
    """The prompt of a chat, up to where the answer begins (for Qwen: without thinking)."""
    kind = kind_of(family)
    if kind == "phi":
        return "".join(f"<|{m['role']}|>\n{m['content']}<|end|>\n" for m in messages) + "<|assistant|>\n"
    if kind == "smol" and messages[0]["role"] != "system":
        messages = [{"role": "system", "content": SMOL_SYSTEM}, *messages]
    text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"
    return text + ("<think>\n\n</think>\n\n" if kind == "qwen" else "")
