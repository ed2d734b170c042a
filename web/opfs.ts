// The folder of models in the browser's private file system (OPFS), and the hash that stored bytes are judged by.

const folderName = 'zero-tvm-models';

export async function openFolder(): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(folderName, { create: true });
}

export async function exists(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  return folder.getFileHandle(name).then(
    () => true,
    () => false,
  );
}

/** Opens a file, and waits a little for another tab that has it open. Worker only. */
export async function openHandle(
  folder: FileSystemDirectoryHandle,
  name: string,
  create: boolean,
): Promise<FileSystemSyncAccessHandle | undefined> {
  if (!create && !(await exists(folder, name))) return undefined;
  const file = await folder.getFileHandle(name, { create });
  for (let nTries = 1; ; ++nTries) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      if (nTries === 10 || !(error instanceof DOMException && error.name === 'NoModificationAllowedError')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
