// The module's JSON surface (src/web/request.cpp) in Node, without a GPU: every wrong field is named, nothing traps.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const caps = {
  adapter: 'test', driver: 'test', kind: 'cpu', compiler: 'tint', f16: false, subgroups: false, subgroup_matrix: false, subgroup_min: 0,
  subgroup_max: 0, max_buffer_bytes: 2 ** 32, max_binding_bytes: 2 ** 30, max_bindings: 8, max_workgroup_bytes: 16384,
  max_workgroup_invocations: 256, max_workgroups: 65535,
};

function startModule() {
  const module = new WebAssembly.Module(readFileSync(new URL('../../build/wasm/zerotvm.wasm', import.meta.url)));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize();
  return (name, ...args) => {
    const numbers = args.flatMap((arg) => {
      if (typeof arg === 'number') return [arg];
      const bytes = new TextEncoder().encode(arg);
      const at = exports.ztvm_alloc(bytes.length + 1);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      return [at, bytes.length];
    });
    const nBytes = exports[name](...numbers);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.ztvm_reply(), nBytes)));
  };
}

/** A module with a model of unread content: far enough to judge requests. */
function opened() {
  const call = startModule();
  assert.deepEqual(call('ztvm_init', JSON.stringify(caps)), {});
  assert.deepEqual(call('ztvm_open', 'test.gguf', 0, 1e6, '{}'), {});
  return call;
}

const requests = [
  ['no JSON', '{"text": ', /not valid JSON: it ends too early, at line 1, column 10/],
  ['a list', '[]', /JSON array, expected an object/],
  ['nesting', `{"text": ${'['.repeat(100)}${']'.repeat(100)}}`, /nests deeper/],
  ['no prompt', '{}', /exactly one of "messages", "ids" and "text"/],
  ['two prompts', '{"text": "a", "ids": [1]}', /exactly one of/],
  ['a text that is a number', '{"text": 1}', /"text".*expected a string/],
  ['messages that are text', '{"messages": "hi"}', /"messages" is a JSON string, expected an array/],
  ['a message without role', '{"messages": [{"content": "hi"}]}', /Message 0 has no field "role"/],
  ['a message that is a number', '{"messages": [{"role": "user", "content": "hi"}, 7]}', /Message 1 is a JSON number/],
  ['a negative id', '{"ids": [1, -1]}', /"ids" has no number at index 1/],
  ['an id beyond 32 bits', '{"ids": [4294967296]}', /"ids" has no number at index 0/],
  ['a text for temperature', '{"text": "a", "temperature": "hot"}', /"temperature".*expected a number/],
  ['temperature -1', '{"text": "a", "temperature": -1}', /temperature/],
  ['temperature 1e30', '{"text": "a", "temperature": 1e30}', /temperature/],
  ['temperature 1e39', '{"text": "a", "temperature": 1e39}', /1e\+39 in field "temperature"/],
  ['top_p 0', '{"text": "a", "top_p": 0}', /top_p/],
  ['top_p 1.1', '{"text": "a", "top_p": 1.1}', /top_p/],
  ['min_p -0.1', '{"text": "a", "min_p": -0.1}', /min_p/],
  ['repeat_penalty 0', '{"text": "a", "repeat_penalty": 0}', /repeat_penalty/],
  ['top_k -1', '{"text": "a", "top_k": -1}', /-1 in field "top_k", expected an integer from 0 to 4294967295/],
  ['top_k 2^32', '{"text": "a", "top_k": 4294967296}', /"top_k", expected an integer from 0/],
  ['seed 1.5', '{"text": "a", "seed": 1.5}', /"seed".*expected an integer/],
  ['seed 2^64', '{"text": "a", "seed": 18446744073709551616}', /"seed".*expected an integer/],
  ['max_tokens null', '{"text": "a", "max_tokens": null}', /"max_tokens".*expected an integer/],
  ['ignore_eos 1', '{"text": "a", "ignore_eos": 1}', /"ignore_eos".*expected true or false/],
];

for (const [name, request, text] of requests) {
  test(`a request with ${name} is refused`, () => {
    const { error } = opened()('ztvm_begin', request);
    assert.equal(error?.code, 'invalid_argument');
    assert.match(error.text, text);
    assert.match(error.text, /\.$/);
  });
}

test('calls in the wrong order are errors', () => {
  const call = startModule();
  for (const name of ['ztvm_wanted', 'ztvm_ready', 'ztvm_step']) assert.match(call(name).error.text, /No model is open/);
  assert.match(call('ztvm_open', 'a', 0, 1, '{}').error.text, /ztvm_init comes first/);
  assert.match(opened()('ztvm_open', 'a', 0, 1, '{}').error.text, /open already/);
});

test('an adapter or options with a wrong field are refused', () => {
  const init = (change) => startModule()('ztvm_init', JSON.stringify({ ...caps, ...change })).error;
  assert.match(init({ kind: 'toaster' }).text, /"toaster" in field "kind", expected one of unknown, cpu/);
  assert.match(init({ f16: undefined }).text, /no field "f16"/);
  assert.match(init({ max_bindings: -1 }).text, /-1 in field "max_bindings"/);
  const call = startModule();
  call('ztvm_init', JSON.stringify(caps));
  assert.match(call('ztvm_open', 'a', 0, 1, '{"context": "long"}').error.text, /"context".*expected an integer/);
  assert.match(call('ztvm_open', 'a', 0, 1, '{"kv": "int4"}').error.text, /"int4" in field "kv", expected one of float, int8/);
  for (const nBytes of [-1, NaN, 2 ** 60]) assert.match(call('ztvm_open', 'a', 0, nBytes, '{}').error.text, /no valid number/);
});

test('a file that is no GGUF is refused by name', () => {
  const call = opened();
  const { n_bytes } = call('ztvm_wanted');
  const { error } = call('ztvm_supply', 'x'.repeat(Math.min(n_bytes, 1e6)), 1e6);
  assert.equal(error.code, 'corrupt_file');
  assert.match(error.text, /test\.gguf/);
});

const benchRequest = { model: 'smollm2', prompt_tokens: 8, gen_tokens: 4, depths: [0, 20], repeat: 1 };

function planned(change, limits = {}) {
  const call = startModule();
  call('ztvm_init', JSON.stringify({ ...caps, ...limits }));
  return call('ztvm_bench_plan', JSON.stringify({ ...benchRequest, ...change }));
}

test('the plan of each shape is known without a GPU', () => {
  const weights = ['phi3', 'qwen3', 'qwen35', 'qwen36', 'smollm2'].map((model) => planned({ model }).weights_bytes / 1e9);
  const expected = [2.4, 2.5, 2.6, 21, 0.08];
  weights.forEach((gb, i) => assert.ok(gb > 0.7 * expected[i] && gb < 1.3 * expected[i], weights.join()));
  assert.ok(planned({ layers: 1 }).total_bytes < planned({}).total_bytes);
});

test('a model above the adapter’s limits is refused with both numbers', () => {
  const { error } = planned({ model: 'phi3', depths: [1000] }, { max_binding_bytes: 2 ** 20 });
  assert.equal(error.code, 'out_of_memory');
  assert.match(error.text, /takes \d+ bytes in one buffer, but the adapter binds at most 1048576/);
});

test('a measurement with a wrong field is refused by name', () => {
  const text = (change) => planned(change).error.text;
  assert.match(text({ model: 'gpt' }), /no shape of "gpt", expected one of phi3/);
  assert.match(text({ depths: 5 }), /"depths" is a JSON number, expected an array/);
  assert.match(text({ depths: [1, 'x'] }), /"depths" has no number at index 1/);
  assert.match(text({ depths: [] }), /needs depths/);
  assert.match(text({ gen_tokens: 1 }), /2 to 1048576 to generate/);
  assert.match(text({ layers: 5000 }), /at most 1024 layers/);
  assert.match(text({ repeat: undefined }), /no field "repeat"/);
  assert.match(startModule()('ztvm_bench_step').error.text, /needs a device/);
});
