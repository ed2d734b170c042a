// The files of a model by name, as the engine asks for them: a .gguf, or a folder.
import type { ModelSource } from './api.ts';
import { EngineError } from './errors.ts';
import { type FileHost, type FileRequest, ModelFile, type Place } from './model_file.ts';
import { PieceMemory } from './piece_memory.ts';

/** A file that is read in one go. */
export interface WholeFile {
  maxBytes: number;
  optional: boolean;
}

export class ModelFiles {
  readonly isFolder: boolean;
  /** Why the model is not kept, for the person who waits for it. */
  note: string | undefined;
  /** Where the file that is being read comes from. */
  place: Place = 'storage';
  /** Nothing came from elsewhere. */
  fromStorage = true;
  private readonly url: string;
  private readonly host: FileHost;
  private readonly opened = new Map<string, ModelFile>();
  /** Small files, whose contents may be what the engine refuses. */
  private readonly wholes = new Map<string, FileRequest>();
  private currentUrl = '';
  /** This site has had a file of the folder, or has lacked one that must exist. */
  private localKnown: 'has' | 'lacks' | undefined;

  /** `onBytes` hears of every byte that is read, from any place. */
  constructor(
    private readonly source: ModelSource,
    onBytes: (nBytes: number) => void,
  ) {
    this.url = new URL(source.url, location.href).href;
    this.isFolder = this.url.endsWith('/');
    const stopKeeping = (error: unknown) => this.stopKeeping(error);
    this.host = { onBytes, readsAhead: false, keeps: true, memory: new PieceMemory(), stopKeeping };
  }

  /** From now on files are read from start to end: pieces are fetched before they are asked for. */
  readAhead(): void {
    this.host.readsAhead = true;
  }

  /** The length of a file, or nothing where an optional one does not exist. */
  async open(name: string, whole?: WholeFile): Promise<number | undefined> {
    return (await this.file(name, whole))?.nBytes;
  }

  /** Hands the bytes of a range to `sink` in order, each part with its place in the range. */
  async read(name: string, offset: number, nBytes: number, sink: (part: Uint8Array, at: number) => void): Promise<void> {
    const file = (await this.file(name))!;
    await file.read(offset, nBytes, sink);
    this.look(file);
  }

  /** Everything that the engine needs was read: it is complete in storage. */
  async finish(): Promise<void> {
    for (const file of this.opened.values()) await file.commit();
  }

  /** The engine refuses the contents: forgets the file being read and the small ones, so that they are fetched anew. */
  async evict(): Promise<void> {
    const current = this.opened.get(this.currentUrl);
    await current?.evict();
    this.opened.delete(this.currentUrl);
    this.close();
    for (const request of this.wholes.values()) {
      // Without addresses: what is not in this browser stays away.
      const file = await ModelFile.open({ ...request, addresses: [] }, this.host).catch(() => undefined);
      await file?.evict();
      file?.close();
    }
  }

  close(): void {
    for (const file of this.opened.values()) file.close();
    this.opened.clear();
    this.host.memory.clear();
  }

  private async file(name: string, whole?: WholeFile): Promise<ModelFile | undefined> {
    const url = this.urlOf(name);
    if (url !== this.currentUrl) await this.leave();
    let file = this.opened.get(url);
    if (!file) {
      const request = this.request(name, url, whole);
      if (request.addresses.length === 0) return undefined;
      file = await ModelFile.open(request, this.host);
      if (!file) return undefined;
      this.opened.set(url, file);
      if (whole) this.wholes.set(url, request);
    }
    this.currentUrl = url;
    this.look(file, whole === undefined || !whole.optional);
    if (whole && file.nBytes > whole.maxBytes) {
      throw new EngineError('corrupt_file', `${url} has ${file.nBytes} bytes, expected at most ${whole.maxBytes}.`);
    }
    return file;
  }

  /** Closes the file that was read until now if it is whole in storage, and ends its downloads if not. */
  private async leave(): Promise<void> {
    const file = this.opened.get(this.currentUrl);
    if (file && (await file.rest())) this.opened.delete(this.currentUrl);
  }

  private request(name: string, url: string, whole: WholeFile | undefined): FileRequest {
    const place: Place = new URL(url).origin === location.origin ? 'server' : 'network';
    const addresses: FileRequest['addresses'] = [{ url, place }];
    const optional = whole?.optional ?? false;
    const { local } = this.source;
    if (local && this.localKnown !== 'lacks') {
      const isListed = local.files?.includes(name);
      // The folder of this site is taken as it is: what it need not have is not looked for elsewhere.
      if (optional && (isListed === false || (isListed === undefined && this.localKnown === 'has'))) addresses.pop();
      if (isListed !== false) {
        addresses.unshift({ url: new URL(pathOf(name), new URL(local.url, location.href)).href, place: 'server' });
      }
    }
    return { url, addresses, optional, nBytes: this.isFolder ? undefined : this.source.nBytes, wholeUpTo: whole?.maxBytes };
  }

  private urlOf(name: string): string {
    if (!this.isFolder) return this.url;
    const { href } = new URL(pathOf(name), this.url);
    if (href.startsWith(this.url) && href !== this.url) return href;
    throw new EngineError('corrupt_file', `The model names a file "${name}", which lies outside its folder.`);
  }

  private look(file: ModelFile, isRequired = false): void {
    this.place = file.place;
    if (file.place !== 'storage') this.fromStorage = false;
    if (file.place === 'server') this.localKnown = 'has';
    if (file.place === 'network' && isRequired && !this.source.local?.files) this.localKnown ??= 'lacks';
  }

  private stopKeeping(error: unknown): void {
    this.note ??= noteOn(error);
    this.host.keeps = false;
  }
}

/** A file's path below its folder, as a part of a URL. */
function pathOf(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

function noteOn(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  const again = 'It works now and is downloaded again next time.';
  if (name === 'QuotaExceededError') return `This browser has no room to keep the model. ${again}`;
  if (name === 'NoModificationAllowedError') return `Another tab is storing this model. ${again}`;
  return `This browser cannot keep the model (${String(error)}). ${again}`;
}
