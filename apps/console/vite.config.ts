import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npx vite apps/console` serves the sources while one works on them, with the API of a running `npm start` behind it. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  resolve: {
    alias: { '@waypost/client': fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url)) },
  },
  build: {
    outDir: fileURLToPath(new URL('../../dist/console', import.meta.url)),
    emptyOutDir: true,
    // The content security policy allows no data: scripts and styles.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/public': 'http://127.0.0.1:8080' } },
});
