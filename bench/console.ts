import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from '../packages/web/test/browser.ts';
import { startFilled } from './console/filled.ts';
import { look, visitsOf } from './console/visits.ts';
import type { Report, Row } from './report.ts';

const ROWS = 100_000;
const WIDTHS = [1440, 768, 390] as const;
const SCHEMES = ['light', 'dark'] as const;

interface ConsoleOptions {
  /** Calls of the account, and receipts. */
  readonly rows?: number | undefined;
  /** Where pictures of the pages are saved. */
  readonly pictures?: string | undefined;
  /** Name of the only page to look at. */
  readonly page?: string | undefined;
}

/**
 * Looks at every page of a filled service in Chromium, at three widths, light and dark. The process ends with status 1 where
 * axe finds something, a page asks anybody but the service, or its content does not come.
 */
export async function consolePages({ rows = ROWS, pictures, page: only }: ConsoleOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-console-'));
  const album = pictures ?? mkdtempSync(join(tmpdir(), 'tally-pictures-'));
  mkdirSync(album, { recursive: true });
  const filled = await startFilled(folder, rows);
  const browser = await launch();
  const measured: Row[] = [];
  try {
    for (const visit of visitsOf(filled).filter(({ name }) => only === undefined || name === only)) {
      for (const width of WIDTHS) {
        for (const scheme of SCHEMES) {
          const name = `${visit.name}-${width}-${scheme}`;
          const picture = join(album, `${name}.png`);
          const seen = await look(browser, filled, visit, { width, scheme, picture });
          const { shift, interactive, findings, external } = seen;
          if (!(findings === 0 && external === 0)) process.exitCode = 1;
          measured.push(
            { name: `${name}, layout shift`, value: shift, unit: '', aim: { at_most: 0.05 } },
            { name: `${name}, interactive`, value: interactive, unit: 'ms', aim: { at_most: 1_000 } },
            { name: `${name}, found by axe`, value: findings, unit: 'rules', aim: { at_most: 0 } },
            { name: `${name}, external requests`, value: external, unit: '', aim: { at_most: 0 } },
          );
        }
      }
    }
  } finally {
    await browser.close();
    await filled.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    title: 'Pages of the console',
    method:
      `${rows.toLocaleString('en')} calls and receipts of one account; each page in a new browser context, with nothing in its cache, on the loopback. ` +
      `Interactive: its content is there, and no task longer than 50 ms runs any more. Pictures: ${album}`,
    rows: measured,
  };
}
