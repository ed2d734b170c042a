import { openChromium } from './chromium.mjs';
import { startSite } from './site.mjs';
import { chatPages } from './paths.mjs';
const site = await startSite({ '/': chatPages });
const browser = await openChromium();
const page = browser.pages()[0];
for (const scheme of ['light', 'dark']) for (const [w, h] of [[1280, 800], [390, 800]]) {
  await page.setViewportSize({ width: w, height: h });
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(`${site.url}/?model=${scheme === 'dark' ? 'qwen3' : 'phi3'}`);
  await page.waitForSelector('body[data-state=idle], body[data-state=failed]', { timeout: 60000 });
  await page.screenshot({ path: `/tmp/shots/chat-${scheme}-${w}.png` });
  if (scheme === 'dark') { await page.click('[popovertarget=settings]'); await page.waitForTimeout(300); await page.screenshot({ path: `/tmp/shots/settings-${scheme}-${w}.png` }); }
  await page.goto(`${site.url}/validate/index.html?model=qwen35`);
  await page.waitForSelector('body[data-state]');
  await page.screenshot({ path: `/tmp/shots/validate-${scheme}-${w}.png` });
}
await page.goto(`${site.url}/?model=foo`);
await page.waitForSelector('body[data-state=failed]');
await page.screenshot({ path: `/tmp/shots/unknown.png` });
await browser.close(); site.stop();
