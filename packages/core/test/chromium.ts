import { once } from 'node:events';
import { createServer } from 'node:http';
import { isBuiltin } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import sparticuz from '@sparticuz/chromium';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { expect } from 'vitest';

/** Host name of an insecure origin: for Chromium, plain HTTP is secure on loopback only, and elsewhere there is no WebCrypto. */
export const insecureHost = 'insecure.test';

/** A package bundled into one script for a page, and its sources. */
export interface Bundle {
  readonly script: string;
  /** Paths of the sources from the root of the project. */
  readonly sources: readonly string[];
  readonly imports: readonly string[];
}

/** Bundles a package's entry so that its exports are in a global variable of the page. */
export async function bundleFor(entry: URL, globalName: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName,
    target: 'es2024',
    logLevel: 'silent',
  });
  return {
    script: outputFiles[0]?.text ?? '',
    sources: Object.keys(metafile.inputs),
    imports: Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
  };
}

export function expectNoBuiltins({ sources, imports }: Bundle): void {
  expect(imports.filter((path) => isBuiltin(path))).toEqual([]);
  expect(sources.filter((path) => path.startsWith('(disabled)'))).toEqual([]);
}

/** Chromium, and a server on loopback whose pages all run the script. */
export interface ScriptedBrowser {
  readonly browser: Browser;
  /** Port of the server, which answers for `127.0.0.1` and `insecureHost`. */
  readonly port: number;
  close(): Promise<void>;
}

export async function openChromium({ script }: Bundle): Promise<ScriptedBrowser> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/script.js';
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script src="/script.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: [...sparticuz.args, '--no-sandbox', `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`],
    headless: true,
  });
  return {
    browser,
    port: (server.address() as AddressInfo).port,
    async close() {
      await browser.close();
      server.close();
    },
  };
}
