// The models that this site offers.
import { EngineError } from '../errors.ts';

export interface SiteModel {
  alias: string;
  name: string;
  /** Path below models/ on this site. */
  file: string;
  bytes: number;
}

export async function listModels(): Promise<SiteModel[]> {
  const response = await fetch('./models.json').catch(() => undefined);
  const list: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined;
  const models = (list as { models?: unknown } | undefined)?.models;
  if (!Array.isArray(models)) {
    throw new EngineError('network', 'The list of models (models.json) cannot be read from this site.');
  }
  return models.filter(isSiteModel);
}

export function modelUrl(model: SiteModel): string {
  return new URL(`./models/${model.file}`, location.href).href;
}

function isSiteModel(value: unknown): value is SiteModel {
  const { alias, name, file, bytes } = (value ?? {}) as Record<string, unknown>;
  return [alias, name, file].every((field) => typeof field === 'string') && typeof bytes === 'number';
}
