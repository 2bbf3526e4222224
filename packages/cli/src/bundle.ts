import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What `scripts/bundle.ts` says of the bundle that it made last. */
export interface Bundle {
  /** Name of the bundle's folder in BUNDLES. */
  readonly folder: string;
  /** The sources that went into the bundle, as they were then. */
  readonly sources: readonly Source[];
}

/** A file's path below the project, when it was changed (Unix milliseconds), and its size in bytes. */
export type Source = readonly [path: string, mtimeMs: number, size: number];

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
/** Where bundles are, below the project. */
export const BUNDLES = 'packages/cli/built/';
/** The file below BUNDLES that holds a `Bundle`. */
export const LAST = 'last.json';

/**
 * The URL of the file that the program starts from in the bundle of these sources, or null if there is none, or a source has
 * changed since.
 * @param project its folder, with a separator at its end
 */
export function bundledMain(project = PROJECT): string | null {
  const bundles = `${project}${BUNDLES}`;
  try {
    const { folder, sources } = JSON.parse(readFileSync(`${bundles}${LAST}`, 'utf8')) as Bundle;
    const main = `${bundles}${folder}/main.js`;
    statSync(main);
    return sources.every((source) => isUnchanged(source, project)) ? pathToFileURL(main).href : null;
  } catch {
    return null;
  }
}

/** @param path below the project */
export function sourceAt(path: string, project = PROJECT): Source {
  const { mtimeMs, size } = statSync(`${project}${path}`);
  return [path, mtimeMs, size];
}

function isUnchanged([path, mtimeMs, size]: Source, project: string): boolean {
  const [, changed, length] = sourceAt(path, project);
  return changed === mtimeMs && length === size;
}
