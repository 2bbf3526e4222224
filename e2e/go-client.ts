import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('go-log-client', import.meta.url));

/** Input of the client: see go-log-client/main.go. */
export interface GoRequest {
  readonly log: string;
  readonly verifier_key: string;
  readonly entries: readonly { readonly index: number; readonly entry: string }[];
  readonly old_checkpoint?: string;
}

/** Findings of the client, all of them checked. */
export interface GoReport {
  readonly origin: string;
  readonly size: number;
  /** base64 */
  readonly root: string;
  readonly included: number;
  readonly consistent_from: number;
  readonly tiles: number;
  readonly bundles: number;
  readonly checkpoint: string;
}

/**
 * Builds the client into a folder. `missing` says why that is impossible here: no Go, one that is too old, or no
 * modules.
 * @throws Error if it does not compile
 */
export function buildGoClient(folder: string): { path: string; missing: string | null } {
  const path = join(folder, 'go-log-client');
  const modules = go('mod', 'download');
  if (modules.error !== undefined) return { path, missing: 'no Go' };
  if (modules.status !== 0) return { path, missing: `go mod download: ${modules.stderr.trim()}` };
  const built = go('build', '-o', path, '.');
  if (built.status !== 0) throw new Error(built.stderr);
  return { path, missing: null };
}

const go = (...args: readonly string[]) => spawnSync('go', args, { cwd: SOURCE, encoding: 'utf8' });

/** Runs the client to its end. Rejects with its message about the first check that fails. */
export function runGoClient(path: string, request: GoRequest): Promise<GoReport> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, { stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(stdout) as GoReport);
      else reject(new Error(stderr.trim()));
    });
    child.stdin.end(JSON.stringify(request));
  });
}
