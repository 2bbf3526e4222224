import { createHash } from 'node:crypto';
import { VERSION } from '../../packages/core/src/index.ts';
import { neededInProduction } from '../install-size.ts';
import { run } from './commands.ts';

interface Bom {
  serialNumber: string;
  readonly metadata: { timestamp: string; readonly component: { name: string } };
  components: { readonly 'bom-ref': string }[];
  dependencies: { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * The software bill of materials (CycloneDX 1.5, JSON) of what the packages need when they run, from the lock file. npm tells it of
 * all that is in the lock file, since with `--omit dev` it also leaves out what both the project's tests and the server need. It gives
 * it a random serial number, the time of the call and the name of the folder; here these follow from the content and the commit.
 * @param time of the commit, in Unix seconds
 */
export function softwareBill(time: number): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel=error'];
  const bom = JSON.parse(run('npm', args)) as Bom;
  const refs = new Set(
    ['server', 'ai-sdk', 'langchain', 'mcp'].flatMap((name) =>
      [...neededInProduction(name)].map(([path, entry]) => refOf(path, entry)),
    ),
  );
  bom.components = bom.components.filter((component) => refs.has(component['bom-ref']));
  const root = `tallystick@${VERSION}`;
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => ref === root || refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  bom.metadata.component.name = 'tallystick';
  bom.metadata.timestamp = new Date(time * 1_000).toISOString();
  bom.serialNumber = '';
  const digest = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
  bom.serialNumber = `urn:uuid:${uuidOf(digest)}`;
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** The name by which npm's bill refers to an entry of the lock file: name and version. */
function refOf(path: string, { name, version }: { name?: string; version?: string }): string {
  return `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`;
}

/** A UUID of version 8 (RFC 9562, section 5.8) out of 32 hex digits of a digest. */
function uuidOf(digest: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}
