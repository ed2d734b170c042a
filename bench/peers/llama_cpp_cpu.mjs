// Measures llama.cpp's CPU speed on a GGUF, through the npm package node-llama-cpp, which is fetched into .cache/peers.
//
//   node bench/peers/llama_cpp_cpu.mjs [MODEL.gguf] [--threads 2] [--prompt 128] [--tokens 64] [--runs 3]
//
// Prints one JSON object: tokens/s of prefill (--prompt tokens, one batch) and decode (--tokens greedy steps, each
// giving its token back to JavaScript, after the prompt), the median of --runs runs and each run.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const PACKAGE = "node-llama-cpp";
const VERSION = "3.22.1";
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const peers = path.join(root, ".cache/peers");

async function importPeer() {
  if (!existsSync(path.join(peers, "node_modules", PACKAGE))) {
    mkdirSync(peers, { recursive: true });
    writeFileSync(path.join(peers, "package.json"), '{ "private": true }\n');
    // Without scripts: its post-install step looks for a GPU and may build llama.cpp from source.
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${PACKAGE}@${VERSION}`], {
      cwd: peers,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const entry = createRequire(path.join(peers, "package.json")).resolve(PACKAGE);
  return import(pathToFileURL(entry).href);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(sequence, prompt, nTokens) {
  await sequence.clearHistory();
  let start = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1));
  const prefillMs = performance.now() - start;

  let nDecoded = 0;
  start = performance.now();
  for await (const token of sequence.evaluate(prompt.slice(-1), { temperature: 0, yieldEogToken: true })) {
    void token;
    if (++nDecoded === nTokens) break;
  }
  const decodeMs = performance.now() - start;
  return {
    prefill_tokens_per_s: (1000 * (prompt.length - 1)) / prefillMs,
    decode_tokens_per_s: (1000 * nDecoded) / decodeMs,
    n_decoded: nDecoded,
  };
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: "2" },
    prompt: { type: "string", default: "128" },
    tokens: { type: "string", default: "64" },
    runs: { type: "string", default: "3" },
  },
});
const [threads, nPrompt, nTokens, nRuns] = [options.threads, options.prompt, options.tokens, options.runs].map(Number);
const modelPath = positionals[0] ?? path.join(root, "models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");

const { getLlama, LlamaLogLevel } = await importPeer();
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: nPrompt + nTokens + 8, batchSize: nPrompt, threads });
const sequence = context.getSequence();
const text = "The quick brown fox jumps over the lazy dog and runs through the green forest. ".repeat(nPrompt);
const prompt = model.tokenize(text).slice(0, nPrompt);

await measure(sequence, prompt, 4); // warms the caches
const runs = [];
for (let run = 0; run < nRuns; ++run) runs.push(await measure(sequence, prompt, nTokens));
console.log(
  JSON.stringify({
    peer: `${PACKAGE} ${VERSION}, llama.cpp on the CPU`,
    model: path.basename(modelPath),
    threads: context.currentThreads || threads,
    n_prompt_tokens: nPrompt,
    n_decode_tokens: nTokens,
    prefill_tokens_per_s: median(runs.map((run) => run.prefill_tokens_per_s)),
    decode_tokens_per_s: median(runs.map((run) => run.decode_tokens_per_s)),
    runs,
  }),
);
await llama.dispose();
