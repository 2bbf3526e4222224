import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const folder = fileURLToPath(new URL('../docs/clients', import.meta.url));

/** Pages beside that folder whose blocks are run as those of its own. */
const BESIDE = ['../compute.md', '../mcp.md'];

/** A block of a page that a test runs. */
export interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** What the page says that it prints, `…` for what differs from run to run; empty if it says nothing. */
  readonly prints: string;
}

export const pages: readonly string[] = readdirSync(folder);

export const textOf = (page: string): string => readFileSync(join(folder, page), 'utf8');

/** The blocks of all pages, and of those beside them, whose fence has this mark, such as ```` ```js run ````. */
export function blocks(mark: string): readonly Block[] {
  const marked = new RegExp(
    `\`\`\`(\\w+) ${mark}\\n([\\s\\S]*?)\`\`\`(?:\\n\\n\`\`\`text\\n([\\s\\S]*?)\`\`\`)?`,
    'g',
  );
  return [...pages, ...BESIDE].flatMap((page) =>
    [...textOf(page).matchAll(marked)].map(([, language = '', code = '', prints = '']) => ({
      page,
      language,
      code,
      prints,
    })),
  );
}

/** Runs a command, and expects that it ends with 0 and prints what the page says. */
export function expectPrints(
  [program = '', ...args]: readonly string[],
  { prints }: Block,
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): void {
  const { status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  const pattern = prints.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[\\s\\S]*');
  expect(stdout).toMatch(new RegExp(`^${pattern}$`));
}
