// Builds the laboratory page of the browser tests with the site's own Vite: `npm run build:tests` in web/.
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

export default {
  root: path('pages'),
  base: './',
  build: { outDir: path('../../build/browser-tests'), emptyOutDir: true, target: 'es2023', assetsInlineLimit: 0 },
  worker: { format: 'es' },
};
