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

/** Copies on a click, and says on the button for a moment how that went. */
export function connectCopy(button: HTMLButtonElement, text: () => string): void {
  const label = button.textContent;
  let timer = 0;
  button.onclick = async () => {
    // The clipboard is missing in a page that is not secure, and a browser may refuse it.
    const copied = await Promise.resolve()
      .then(() => navigator.clipboard.writeText(text()))
      .then(() => true, () => false);
    button.textContent = copied ? 'Copied' : 'Not allowed';
    clearTimeout(timer);
    timer = window.setTimeout(() => (button.textContent = label), 1500);
  };
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
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
