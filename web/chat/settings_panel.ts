// The controls of the settings panel; each change is kept at once.
import { saveSettings, type Settings } from './conversation.ts';
import { byId } from './dom.ts';

export function connectSettings(settings: Settings): void {
  const temperature = byId<HTMLInputElement>('temperature');
  const maxTokens = byId<HTMLInputElement>('max-tokens');
  const show = () => (byId('temperature-value').textContent = settings.temperature.toFixed(1));
  temperature.value = String(settings.temperature);
  maxTokens.value = String(settings.maxTokens);
  show();
  temperature.oninput = () => {
    settings.temperature = temperature.valueAsNumber;
    saveSettings(settings);
    show();
  };
  maxTokens.onchange = () => {
    if (!maxTokens.reportValidity()) return;
    settings.maxTokens = maxTokens.valueAsNumber;
    saveSettings(settings);
  };
  // A form without a button would reload the page on Enter.
  byId<HTMLFormElement>('settings').onsubmit = (event) => event.preventDefault();
}
