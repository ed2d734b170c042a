// Where the tests find what they serve and compare with.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
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

export const goldens = path('tests/golden/');

/** The list that a server gives of tiny models, as models.json: a .gguf and folders, with the reference's answers. */
export function tinyList(families) {
  const list = families.map((family) => {
    const folder = `${goldens}${family}/model/`;
    const files = readdirSync(folder).map((name) => ({ name, bytes: statSync(folder + name).size }));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const entry = { alias: `tiny-${family}`, name: `Tiny ${family}`, bytes, golden: `golden/${family}/golden/golden.json` };
    return files.length === 1 ? { ...entry, file: `tiny/${files[0].name}` } : { ...entry, files };
  });
  return { models: list };
}

export const golden = (family) => JSON.parse(readFileSync(path(`tests/golden/${family}/golden.json`), 'utf8'));

/** How many greedy tokens must be equal: up to the first choice that is closer than the arithmetic's noise. */
export function nDecided(margins, noise) {
  const close = margins.findIndex((margin) => margin < noise);
  return close < 0 ? margins.length : close;
}
