// Words that options of the engine may be, for whoever reads them from an address or a form.
import { EngineError } from './errors.ts';

export const kvTypes = ['float', 'int8'] as const;
export const autotuneChoices = ['off', 'auto', 'on'] as const;
export type KvType = (typeof kvTypes)[number];
export type Autotune = (typeof autotuneChoices)[number];

/** `text` as one of `choices`. `asked` begins the error: "The address asks for kv=x". */
export function oneOf<Choice extends string>(choices: readonly Choice[], text: string, asked: string): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  throw new EngineError('invalid_argument', `${asked}, expected ${words}.`);
}
