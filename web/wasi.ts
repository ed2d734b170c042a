// The few WASI functions that the module's C library imports: console output, an empty environment, no files.

const success = 0;
const badFile = 8;

type Views = () => DataView;

export function wasiImports(memory: Views): WebAssembly.ModuleImports {
  const pendingLine: Record<number, string> = { 1: '', 2: '' };
  const decoder = new TextDecoder();

  function fd_write(fd: number, vectors: number, nVectors: number, written: number): number {
    if (fd !== 1 && fd !== 2) return badFile;
    const view = memory();
    let total = 0;
    for (let i = 0; i < nVectors; ++i) {
      const address = view.getUint32(vectors + 8 * i, true);
      const nBytes = view.getUint32(vectors + 8 * i + 4, true);
      pendingLine[fd] += decoder.decode(new Uint8Array(view.buffer, address, nBytes));
      total += nBytes;
    }
    view.setUint32(written, total, true);
    const lines = (pendingLine[fd] ?? '').split('\n');
    pendingLine[fd] = lines.pop() ?? '';
    for (const line of lines) console.error(line);
    return success;
  }

  function environ_sizes_get(count: number, nBytes: number): number {
    memory().setUint32(count, 0, true);
    memory().setUint32(nBytes, 0, true);
    return success;
  }

  function proc_exit(code: number): never {
    throw new WebAssembly.RuntimeError(`exit code ${code}`);
  }

  return {
    fd_write,
    environ_sizes_get,
    proc_exit,
    environ_get: () => success,
    fd_close: () => badFile,
    fd_seek: () => badFile,
  };
}
