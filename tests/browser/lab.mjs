// The lab page, which hands the tests this project's modules, in a browser of its own.
import { openChromium } from './chromium.mjs';
import { labPages } from './paths.mjs';
import { startSite } from './site.mjs';

/** Loads the lab page anew. */
export async function reloadLab({ page, site }) {
  await page.goto(site.url);
  await page.waitForFunction(() => globalThis.lab);
}

/** The page on a site that serves `folders`, too; `close()` ends both. */
export async function openLab(folders = {}) {
  const site = await startSite({ '/': labPages, ...folders });
  let browser;
  const close = async () => {
    await browser?.close();
    site.stop();
  };
  try {
    browser = await openChromium();
    const opened = { site, page: browser.pages()[0], close };
    await reloadLab(opened);
    return opened;
  } catch (error) {
    await close();
    throw error;
  }
}
