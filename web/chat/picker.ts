// The list from which a model is chosen, in the top bar.
import { byId, formatAbout, formatBytes } from './dom.ts';
import { findModel, type SiteModel } from './models.ts';

export const modelSelect = byId<HTMLSelectElement>('model');

/** Chooses what the address names, which must be there; else the choice of long ago, which may be gone. */
export function fillPicker(models: SiteModel[], remembered: string): void {
  const option = (model: SiteModel) => new Option(labelOf(model), model.alias);
  const group = (label: string, members: SiteModel[]) => {
    const element = document.createElement('optgroup');
    element.label = label;
    element.append(...members.map(option));
    return members.length > 0 ? [element] : [];
  };
  const asked = new URLSearchParams(location.search).get('model');
  const wanted = asked ?? (models.some(({ alias }) => alias === remembered) ? remembered : null);
  const none = new Option('Choose a model', '');
  none.hidden = none.disabled = true;
  modelSelect.replaceChildren(
    none,
    ...group('On this site', models.filter(({ isLocal }) => isLocal)),
    ...group('From Hugging Face', models.filter(({ isLocal }) => !isLocal)),
  );
  modelSelect.value = '';
  modelSelect.value = findModel(models, wanted).alias;
}

export function openPicker(): void {
  modelSelect.focus();
  // Not every browser can, and none without the person's click.
  if ('showPicker' in modelSelect) modelSelect.showPicker();
}

export function sizeOf({ bytes, isLocal }: SiteModel): string {
  return isLocal ? formatBytes(bytes) : formatAbout(bytes);
}

function labelOf(model: SiteModel): string {
  const memory = model.memoryBytes > 0 ? `${formatAbout(model.memoryBytes)} of memory` : '';
  return [model.name, sizeOf(model), memory].filter((part) => part).join(' · ');
}
