import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The module is built by CMake; without it the build stops here, not with an unresolved import. */
function needsWasm(): Plugin {
  return {
    name: 'needs-wasm',
    buildStart() {
      if (existsSync(path('../build/wasm/zerotvm.wasm'))) return;
      this.error('build/wasm/zerotvm.wasm is missing: run `cmake --preset wasm && cmake --build build/wasm` first.');
    },
  };
}

/** Builds service_worker.ts, and tells it all files of the site and a version that changes with any of them. */
function serviceWorker(): Plugin {
  const fileName = 'service_worker.js';
  return {
    name: 'service-worker',
    buildStart() {
      this.emitFile({ type: 'chunk', id: path('service_worker.ts'), fileName });
    },
    writeBundle({ dir }) {
      const site = `${dir}/`;
      const entries = readdirSync(site, { recursive: true, withFileTypes: true });
      const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`.replaceAll('//', '/'));
      const hash = createHash('sha256');
      const files: string[] = [];
      for (const one of paths.sort()) {
        const file = one.slice(site.length);
        hash.update(file).update('\0').update(readFileSync(one));
        if (file !== fileName) files.push(file.replace(/(^|\/)index\.html$/, '$1') || './');
      }
      const told = { version: hash.digest('hex').slice(0, 16), files };
      writeFileSync(site + fileName, `const SITE = ${JSON.stringify(told)};\n${readFileSync(site + fileName, 'utf8')}`);
    },
  };
}

export default defineConfig({
  root: path('.'),
  base: './',
  plugins: [needsWasm(), serviceWorker()],
  build: {
    outDir: path('dist'),
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: { input: [path('index.html'), path('validate/index.html'), path('bench/index.html')] },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
  server: { fs: { allow: [path('..')] } },
});
