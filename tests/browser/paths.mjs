// Where the tests find what they serve and compare with.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

export const chatPages = path('web/dist/');
export const labPages = path('build/browser-tests/');
export const models = path('models/');
export const tinyModels = path('tests/golden/llama/model/');
export const tinyFile = 'tiny-smollm2.Q4_1.gguf';
export const smolFile = 'smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';

/** The real model is fetched by ./run and ./test, not committed: say so instead of failing on a 404. */
export function requireModel() {
  if (!existsSync(models + smolFile)) throw new Error(`${models + smolFile} is missing; ./test fetches it.`);
}

export const golden = (family) => JSON.parse(readFileSync(path(`tests/golden/${family}/golden.json`), 'utf8'));

/** How many greedy tokens must be equal: up to the first choice that is closer than the arithmetic's noise. */
export function nDecided(margins, noise) {
  const close = margins.findIndex((margin) => margin < noise);
  return close < 0 ? margins.length : close;
}
