// Debian's Firefox ESR on llvmpipe: the second shader compiler (naga), and no subgroups.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';

export async function openFirefox() {
  process.env.XDG_RUNTIME_DIR ??= mkdtempSync(join(tmpdir(), 'zero-tvm-firefox-'));
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    headless: true,
    extraPrefsFirefox: { 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true },
  });
}
