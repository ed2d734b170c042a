// What is measured: the form's fields, which the address may fill (?model=&layers=&depth=&prompt=&gen=&kv=&repeat=&autotune=&kernels=&run=1).
import { autotuneChoices, kvTypes, oneOf } from '../choices.ts';
import { EngineError } from '../errors.ts';
import type { BenchRequest } from './types.ts';

/** The shapes of src/engine/true_shapes.cpp. */
export const shapes = [
  { alias: 'phi3', name: 'Phi-3-mini, 3.8B' },
  { alias: 'qwen3', name: 'Qwen3, 4B' },
  { alias: 'qwen35', name: 'Qwen3.5, 4B' },
  { alias: 'qwen36', name: 'Qwen3.6, 35B-A3B' },
  { alias: 'smollm2', name: 'SmolLM2, 135M' },
];

/** The fields as text; names are those of the address. */
export type Fields = Record<'model' | 'layers' | 'depth' | 'prompt' | 'gen' | 'kv' | 'repeat' | 'autotune', string>;

/** Nothing large happens by accident: the smallest model. */
const defaults: Fields = {
  model: 'smollm2',
  layers: '',
  depth: '0,128,2048',
  prompt: '512',
  gen: '128',
  kv: 'float',
  repeat: '5',
  autotune: 'auto',
};

export function fieldsOf(params: URLSearchParams): Fields {
  const keys = Object.keys(defaults) as (keyof Fields)[];
  return Object.fromEntries(keys.map((key) => [key, params.get(key) ?? defaults[key]])) as Fields;
}

/** Throws an error that names the field and what it may be. */
export function requestOf(fields: Fields): BenchRequest {
  const { model, layers, depth, prompt, gen, repeat } = fields;
  if (!shapes.some(({ alias }) => alias === model)) {
    const known = shapes.map(({ alias }) => alias).join(', ');
    throw new EngineError('not_found', `There is no shape of "${model}", expected one of ${known}.`);
  }
  const kv = oneOf(kvTypes, fields.kv, `KV cache: "${fields.kv}" is no type of it`);
  const autotune = oneOf(autotuneChoices, fields.autotune, `Autotune: "${fields.autotune}" is not known`);
  return {
    model,
    ...(layers === '' ? {} : { layers: whole('Layers', layers, 1, 1024) }),
    prompt_tokens: whole('Prompt', prompt, 1, 2 ** 20),
    gen_tokens: whole('Generated', gen, 2, 2 ** 16),
    depths: depth.split(',').map((text) => whole('Depths', text.trim(), 0, 2 ** 20)),
    repeat: whole('Repetitions', repeat, 1, 1000),
    ...(kv === 'float' ? {} : { kv }),
    ...(autotune === 'auto' ? {} : { autotune }),
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new EngineError('invalid_argument', `${name}: "${text}" is no whole number from ${least} to ${most}.`);
}

/** The address that runs this again. */
export function addressOf(fields: Fields, withKernels: boolean): string {
  const params = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''));
  if (!withKernels) params.set('kernels', '0');
  return `?${params.toString().replaceAll('%2C', ',')}`;
}
