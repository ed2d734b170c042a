// The models that are kept in this browser: which, how large, and how to be rid of them. For pages and workers.
import { openFolder } from './opfs.ts';
import { parseHeader } from './piece_log.ts';

export interface StoredModel {
  /** Of the .gguf or folder, as ModelSource.url. */
  url: string;
  bytes: number;
  /** Loads without a network. */
  complete: boolean;
}

interface StoredFile {
  url: string;
  names: string[];
  bytes: number;
  complete: boolean;
}

export async function listStored(): Promise<StoredModel[]> {
  const models = new Map<string, StoredModel>();
  for (const { url, bytes, complete } of await listFiles()) {
    const modelUrl = modelOf(url);
    const model = models.get(modelUrl) ?? { url: modelUrl, bytes: 0, complete: true };
    model.bytes += bytes;
    model.complete &&= complete;
    models.set(modelUrl, model);
  }
  return [...models.values()].sort((a, b) => b.bytes - a.bytes);
}

/** Removes what is stored of a model. Throws while another tab is loading it. */
export async function deleteStored(modelUrl: string): Promise<void> {
  const folder = await openFolder();
  for (const { url, names } of await listFiles()) {
    if (modelOf(url) !== modelUrl) continue;
    for (const name of names) await folder.removeEntry(name);
  }
}

function modelOf(fileUrl: string): string {
  return fileUrl.endsWith('.gguf') ? fileUrl : new URL('.', fileUrl).href;
}

async function listFiles(): Promise<StoredFile[]> {
  const folder = await openFolder();
  const files = new Map<string, File>();
  for await (const [name, handle] of folder.entries()) {
    if (handle.kind === 'file') files.set(name, await (handle as FileSystemFileHandle).getFile());
  }
  const stored: StoredFile[] = [];
  for (const [name, log] of files) {
    if (!name.endsWith('.log')) continue;
    const lines = (await log.text()).split('\n');
    const header = parseHeader(lines[0] ?? '');
    if (!header) continue;
    const key = name.slice(0, -'.log'.length);
    const names = [name, `${key}.data`, `${key}.part`].filter((one) => files.has(one));
    const bytes = names.reduce((sum, one) => sum + files.get(one)!.size, 0);
    const complete = header.kind !== 'data' || lines.some((line) => line === 'complete' || line === 'enough');
    stored.push({ url: header.identity.url, names, bytes, complete });
  }
  return stored;
}
