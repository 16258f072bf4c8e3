import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const server = process.env.HOLDPOINT_SERVER ?? 'http://127.0.0.1:8420';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: {
      '@rjsf/validator-ajv8': new URL('./src/ui/schema-form/no-ajv.ts', import.meta.url).pathname,
      '@': new URL('./src', import.meta.url).pathname,
    },
  },
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  server: { proxy: { '/v1': server, '/sign-in/oidc': server } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'happy-dom',
          include: ['src/**/*.test.{ts,tsx}'],
          // Applies the alias for Ajv inside the forms library too.
          server: { deps: { inline: ['@rjsf/core'] } },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/*.e2e.ts'],
          // No test depends on time: these limits only end a test that hangs, and allow for a busy machine.
          testTimeout: 300_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 60_000 } },
          maxWorkers: 2,
          // Two processes run all files one after another, each with one browser.
          isolate: false,
          globalSetup: ['tests/support/build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'screenshots',
          include: ['tests/screenshots.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
          globalSetup: ['tests/support/build.ts'],
        },
      },
    ],
  },
});
