// The models that a person can choose: those that lie on this site, then those of the table that the hub has.
import type { LoadOptions, ModelSource } from '../api.ts';
import { autotuneChoices, kvTypes, oneOf } from '../choices.ts';
import { EngineError } from '../errors.ts';
import table from '../known_models.json';

export interface SiteModel {
  alias: string;
  name: string;
  /** One line on what it is, where that is known. */
  about: string;
  /** Of the download, exact on this site, else about. */
  bytes: number;
  /** On the GPU, about; 0 where it is not known. */
  memoryBytes: number;
  /** It lies on this site. */
  isLocal: boolean;
  source: ModelSource;
  /** Where this site has the reference's answers to prompts, for the validate page. */
  goldenUrl?: string;
}

type Known = (typeof table)[number];

export async function listModels(): Promise<SiteModel[]> {
  const local = await listLocal();
  const remote = table
    .filter(({ alias, repo }) => repo !== '' && !local.some((model) => model.alias === alias))
    .map((known): SiteModel => ({
      ...describe(known),
      alias: known.alias,
      name: known.name,
      bytes: known.bytes,
      isLocal: false,
      source: { name: known.name, url: hubUrl(known), local: { url: weightsUrl(known.alias) } },
    }));
  return [...local, ...remote];
}

/** The model that was asked for by alias. Without one: the first. */
export function findModel(models: SiteModel[], alias: string | null): SiteModel {
  const found = alias === null ? models[0] : models.find((model) => model.alias === alias);
  if (found) return found;
  const names = models.map((model) => model.alias).join(', ');
  if (alias === null) throw new EngineError('not_found', 'This site offers no model.');
  if (table.some((known) => known.alias === alias)) {
    throw new EngineError('not_found', `The model "${alias}" is not on this site; here are ${names}.`);
  }
  throw new EngineError('not_found', `There is no model "${alias}"; known are ${names}.`);
}

/** What the address asks for: ?ctx= tokens of context, ?kv= the type of the KV cache. Absent: the engine chooses. */
export function askedOptions(): LoadOptions {
  const asked = new URLSearchParams(location.search);
  const options: LoadOptions = {};
  const tokens = asked.get('ctx');
  if (tokens !== null) {
    options.context = Number(tokens);
    if (!/^\d+$/.test(tokens) || options.context < 1 || options.context > 2 ** 20) {
      throw new EngineError('invalid_argument', `The address asks for ctx=${tokens}, expected tokens from 1 to ${2 ** 20}.`);
    }
  }
  const kv = asked.get('kv');
  if (kv !== null) options.kv = oneOf(kvTypes, kv, `The address asks for kv=${kv}`);
  const autotune = asked.get('autotune');
  if (autotune !== null) options.autotune = oneOf(autotuneChoices, autotune, `The address asks for autotune=${autotune}`);
  return options;
}

async function listLocal(): Promise<SiteModel[]> {
  const response = await fetch(siteUrl('models.json')).catch(() => undefined);
  const list: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined;
  const models = (list as { models?: unknown } | undefined)?.models;
  return Array.isArray(models) ? models.flatMap(localModel) : [];
}

/** An entry of the server's list: {alias, name, bytes} and `file` below models/, or `files` of a folder; `golden` where
 *  the reference's answers are. */
function localModel(value: unknown): SiteModel[] {
  const { alias, name, file, files, bytes, golden } = (value ?? {}) as Record<string, unknown>;
  if (typeof alias !== 'string' || typeof name !== 'string' || typeof bytes !== 'number') return [];
  const known = table.find((row) => row.alias === alias);
  const goldenUrl = typeof golden === 'string' ? { goldenUrl: siteUrl(golden) } : {};
  const model = { ...describe(known), alias, name, bytes, isLocal: true, ...goldenUrl };
  if (typeof file === 'string') {
    return [{ ...model, source: { name, url: siteUrl(`models/${file}`), nBytes: bytes } }];
  }
  if (!Array.isArray(files)) return [];
  const names = files.map((one) => (one as { name?: unknown } | null)?.name).filter((one) => typeof one === 'string');
  const url = known && known.repo !== '' ? hubUrl(known) : weightsUrl(alias);
  return [{ ...model, source: { name, url, local: { url: weightsUrl(alias), files: names } } }];
}

function describe(known: Known | undefined): { about: string; memoryBytes: number } {
  return { about: known?.about ?? '', memoryBytes: known?.memory_bytes ?? 0 };
}

const hubUrl = ({ repo }: Known) => `https://huggingface.co/${repo}/resolve/main/`;
const weightsUrl = (alias: string) => siteUrl(`local-weights/${encodeURIComponent(alias)}/`);

/** The site's folder is where the chat page is; import.meta.url would be in assets/. */
export function siteUrl(path: string): string {
  return new URL(path, new URL(document.body.dataset['site'] ?? './', location.href)).href;
}
