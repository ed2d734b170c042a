// The parts of OPFS that TypeScript's DOM library leaves out, because only workers have them or they are new.
interface FileSystemSyncAccessHandle {
  read(target: ArrayBufferView, options: { at: number }): number;
  write(source: ArrayBufferView, options: { at: number }): number;
  flush(): void;
  close(): void;
  getSize(): number;
}

interface FileSystemFileHandle {
  createSyncAccessHandle(): Promise<FileSystemSyncAccessHandle>;
  move(name: string): Promise<void>;
}
