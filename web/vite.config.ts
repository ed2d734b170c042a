import { existsSync } from 'node:fs';
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

export default defineConfig({
  root: path('.'),
  base: './',
  plugins: [needsWasm()],
  build: {
    outDir: path('dist'),
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: { input: [path('index.html'), path('validate/index.html')] },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
  server: { fs: { allow: [path('..')] } },
});
