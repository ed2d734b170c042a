// Debian's Chromium on SwiftShader, kept quiet: a closed network would answer its background calls with errors.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const quiet = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const webGpu = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/** A browser with a fresh profile on disk, because OPFS of an incognito context is kept in memory. */
export async function openChromium({ gpu = true, ...options } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'zero-tvm-chromium-'));
  process.env.XDG_RUNTIME_DIR ??= profile;
  return chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    headless: true,
    ignoreDefaultArgs: ['--headless', '--hide-scrollbars'],
    args: ['--headless=new', ...quiet, ...(gpu ? webGpu : ['--disable-features=WebGPU', '--disable-gpu'])],
    ...options,
  });
}
