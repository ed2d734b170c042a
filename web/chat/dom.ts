// Small helpers for the page's elements.

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element "${id}".`);
  return element as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

/** "98.4 MB", in the decimal units that people know from their disks. */
export function formatBytes(nBytes: number): string {
  if (nBytes < 1e6) return `${Math.round(nBytes / 1e3)} kB`;
  if (nBytes < 1e9) return `${(nBytes / 1e6).toFixed(1)} MB`;
  return `${(nBytes / 1e9).toFixed(2)} GB`;
}

/** "3.9 GB", of what is known only about. */
export function formatAbout(nBytes: number): string {
  return nBytes < 1e9 ? `${Math.round(nBytes / 1e6)} MB` : `${(nBytes / 1e9).toFixed(1)} GB`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
