// The list of models that are kept in this browser, in the settings panel.
import { deleteStored, listStored, type StoredModel } from '../stored_models.ts';
import { byId, formatBytes, make } from './dom.ts';
import type { SiteModel } from './models.ts';

/** Shows the list each time the panel opens. `onDeleted` hears of the model that is gone. */
export function connectStored(models: () => SiteModel[], onDeleted: (model: SiteModel | undefined) => void): void {
  const list = byId('stored');
  const hint = byId('stored-hint');

  async function show(): Promise<void> {
    const stored = await listStored().catch((): StoredModel[] => []);
    hint.hidden = stored.length > 0;
    hint.textContent = 'None yet. A model that you load is kept here and needs no network next time.';
    list.replaceChildren(...stored.map(row));
  }

  function row(stored: StoredModel): HTMLElement {
    const model = models().find(({ source }) => new URL(source.url, location.href).href === stored.url);
    const name = model?.name ?? nameOf(stored.url);
    const button = make('button', 'small', 'Delete');
    button.type = 'button';
    button.setAttribute('aria-label', `Delete ${name}`);
    button.onclick = async () => {
      button.disabled = true;
      try {
        await deleteStored(stored.url);
        onDeleted(model);
        await show();
      } catch {
        hint.hidden = false;
        hint.textContent = `${name} is in use; try again when it is loaded, or close the other tab.`;
        button.disabled = false;
      }
    };
    const size = make('span', 'size', `${formatBytes(stored.bytes)}${stored.complete ? '' : ', not complete'}`);
    return make('li', '', make('span', 'name', name), size, button);
  }

  byId('settings').addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState === 'open') void show();
  });
}

/** "Qwen3-4B-q4f16_1-MLC", of a model that this site no longer offers. */
function nameOf(url: string): string {
  const parts = decodeURIComponent(new URL(url).pathname).split('/').filter((part) => part);
  const end = parts.indexOf('resolve');
  return (end > 0 ? parts[end - 1] : parts.at(-1)) ?? url;
}
