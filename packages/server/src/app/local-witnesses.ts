import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  generateSecretKey,
  keyDocument,
  type LogKey,
  parseJson,
  type Signer,
  secretInKeyDocument,
  verifierKey,
  witnessKey,
} from '@tallystick/core';
import { nodeSigner } from '@tallystick/kit';
import { openWitnessState, type WitnessConfig, witnessOf } from '@tallystick/log';
import type { Config } from '../config/config.ts';

const NAMES = ['local-witness-1', 'local-witness-2'];

/** URL of the witnesses in this process. No network knows the name. */
const PREFIX = 'http://in-process.invalid';

interface LocalWitness {
  readonly config: WitnessConfig;
  readonly signer: Signer;
}

/**
 * The configured witnesses; in development without any, two in this process, whose policy is written into the data
 * directory.
 * @param clock Unix milliseconds
 */
export async function openWitnesses(
  { mode, dataDir, log: { witnesses } }: Config,
  log: LogKey,
  clock: () => number,
): Promise<readonly WitnessConfig[]> {
  if (mode !== 'development' || witnesses.length > 0) return witnesses;
  const local = await openLocalWitnesses(dataDir, log, clock);
  writeLocalPolicy(dataDir, log, local);
  return local;
}

/**
 * The witnesses of a development log, with keys and memory of their own in the data directory. They keep every rule of a
 * witness, so that tools can be tried; whoever controls the service controls them, so they prove nothing to others.
 * Makes missing keys.
 */
async function openLocalWitnesses(
  dataDir: string,
  log: LogKey,
  clock: () => number,
): Promise<WitnessConfig[]> {
  mkdirSync(folderIn(dataDir), { recursive: true, mode: 0o700 });
  for (const name of NAMES) {
    const path = keyFile(dataDir, name);
    if (!existsSync(path)) writeNew(path, `${keyDocument(generateSecretKey())}\n`);
  }
  return Promise.all(
    readLocalWitnesses(dataDir).map(async ({ config, signer }) => {
      const { name } = config;
      const state = await openWitnessState(join(folderIn(dataDir), `${name}.state.json`));
      return { ...config, ask: witnessOf({ name, signers: [signer], logs: [log], state, clock }) };
    }),
  );
}

/** The witnesses that check the checkpoints of the log on this machine: the configured ones, or those of development. */
export function witnessesOf({ mode, dataDir, log }: Config): readonly WitnessConfig[] {
  if (mode !== 'development' || log.witnesses.length > 0) return log.witnesses;
  return readLocalWitnesses(dataDir).map(({ config }) => config);
}

/** Writes the policy that requires both local witnesses (C2SP tlog-policy) into the data directory. */
function writeLocalPolicy(dataDir: string, log: LogKey, witnesses: readonly WitnessConfig[]): void {
  const lines = [
    '# Written at each start of the development service. Both witnesses run in the process of the service, with keys',
    '# beside its own: they show how verifying with witnesses works, and prove nothing to anybody else.',
    `log ${verifierKey(log.origin, log.publicKey)}`,
    ...witnesses.map(({ name, publicKey }) => `witness ${name} ${witnessKey(name, publicKey)}`),
    `group local all ${witnesses.map(({ name }) => name).join(' ')}`,
    'quorum local',
  ];
  const path = join(dataDir, 'witness-policy.txt');
  // Two processes may start at once, so each has a new file of its own.
  const temporary = `${path}.${randomUUID()}.new`;
  writeFileSync(temporary, `${lines.join('\n')}\n`);
  renameSync(temporary, path);
}

/** Writes a secret, down to the disk before it has its name: a crash leaves all of it or nothing. Keeps what another process wrote. */
function writeNew(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.new`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    unlinkSync(temporary);
  }
}

const folderIn = (dataDir: string): string => join(dataDir, 'witnesses');
const keyFile = (dataDir: string, name: string): string => join(folderIn(dataDir), `${name}.key.json`);

/** The local witnesses that have keys. */
function readLocalWitnesses(dataDir: string): LocalWitness[] {
  return NAMES.filter((name) => existsSync(keyFile(dataDir, name))).map((name) => {
    const signer = nodeSigner(secretInKeyDocument(parseJson(readFileSync(keyFile(dataDir, name)))));
    return { signer, config: { name, publicKey: signer.publicKey, url: `${PREFIX}/${name}` } };
  });
}
