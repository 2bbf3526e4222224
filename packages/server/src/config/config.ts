import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { type Subnet, type TrustedProxy, UNIX_SOCKET } from '@tallystick/callers';
import type { ChainSettings } from '@tallystick/chain';
import type { Finality } from '@tallystick/chain/evm';
import { didSvc } from '@tallystick/core';
import type { ComputeConfig } from '@tallystick/inference';
import type { RemoteKeySettings } from '@tallystick/issuers';
import type { WitnessConfig } from '@tallystick/log';
import type { PaymentsConfig, SalesConfig } from '@tallystick/payments';
import type { OperatorFacts } from '@tallystick/receipts';
import { LOG_LEVELS, type LogLevel } from '../observability/observability.ts';
import type { TelemetrySettings } from '../observability/tracing.ts';
import { type AttestationClaim, type AttestationFiles, readAttestations } from './attestations.ts';
import { readCompute } from './compute.ts';
import { type Database, readDatabase } from './database.ts';
import { type ConfigFile, readConfigFile } from './file.ts';
import { type HttpConfig, readHttp } from './http.ts';
import { readListenFd } from './listen-fd.ts';
import { type LogStorage, readLogStorage } from './log-storage.ts';
import { readPayments } from './payments.ts';
import { type EnvReader, hasScheme, reader, type Setting } from './reader.ts';
import { readRemoteKeys } from './remote-keys.ts';
import { readSales } from './sales.ts';
import { readTelemetry } from './telemetry.ts';
import { parseWitness } from './witness.ts';

/** Everything that the process is configured with. Plain data: nothing in it opens a file or a socket. */
export interface Config {
  readonly mode: 'development' | 'production';
  /** An address or a name of this machine, or `unix:` and the path of a Unix socket. */
  readonly host: string;
  /** Mode of the file of a Unix socket. */
  readonly socketMode: number;
  /** 0 asks the system for a free port; see `withAddress`. */
  readonly port: number;
  /** File descriptor of a listening socket that the process was started with, instead of `host` and `port`; or null. */
  readonly listenFd: number | null;
  /** Processes that share the port. */
  readonly workers: number;
  /** Absolute path; it may not exist yet. */
  readonly dataDir: string;
  /** Public origins, without a trailing slash. */
  readonly receiptsUrl: string;
  readonly apiUrl: string;
  readonly siteUrl: string;
  /** Which of the three URLs above follow from host and port instead of the environment. */
  readonly derivedUrls: readonly UrlField[];
  /** The service is `did:svc:<handle>`. Null in development if none is configured: then the keyring has it. */
  readonly handle: string | null;
  readonly database: Database;
  readonly keyring: Keyring;
  /** Files of secrets, by `<name>_FILE`, that every user of the machine may read. */
  readonly exposedFiles: readonly string[];
  readonly chain: ChainSettings;
  readonly log: Log;
  readonly operator: OperatorFacts;
  /** The evidence of hardware that the service hands out. */
  readonly attestations: AttestationFiles;
  /** Free mints per UTC day of each address group; 0 turns the quota off. */
  readonly freeMintPerDay: number;
  /** Free reads of `/v1/compute` per UTC day, by DID and by address group; 0 turns the quota off. */
  readonly freeReadPerDay: number;
  /** Free reads per UTC day of all DIDs of one address group together; 0 sets no limit. */
  readonly freeReadPerDayByAddress: number;
  /** Seconds for which a process counts as alive after its last renewal. */
  readonly processLeaseSeconds: number;
  readonly trustedProxies: readonly TrustedProxy[];
  readonly logLevel: LogLevel;
  readonly maxBodyBytes: number;
  /**
   * Further host names by which `/mcp` may be called, and hosts of origins that may call it, beside those of the public
   * URLs.
   */
  readonly mcpHosts: readonly string[];
  /** Where to report vulnerabilities: URIs, the best first; without any, the service has no `security.txt`. */
  readonly securityContacts: readonly string[];
  readonly http: HttpConfig;
  readonly compute: ComputeConfig;
  readonly payments: PaymentsConfig;
  readonly sales: SalesConfig;
  /** Null while telemetry is off. */
  readonly telemetry: TelemetrySettings | null;
}

type UrlField = 'receiptsUrl' | 'apiUrl' | 'siteUrl';

interface Keyring {
  readonly path: string;
  /** Null where the keyring is not encrypted. */
  readonly passphrase: string | null;
  /** How keys that are not in the keyring are reached. */
  readonly remote: RemoteKeySettings;
  /** Whether pq receipts get a second signature by ML-DSA, which is experimental. */
  readonly pqSignatures: boolean;
}

interface Log {
  /** The log's name, and that of its key. */
  readonly origin: string;
  /** Whether the origin was derived from host and port: then a stored log keeps its own origin. */
  readonly originDerived: boolean;
  /** Seconds between two postings. */
  readonly periodSeconds: number;
  readonly witnesses: readonly WitnessConfig[];
  /** Where its files are stored beside the database; null for nowhere. */
  readonly storage: LogStorage | null;
}

/** Every fault of the environment at once, one per line. It never contains a secret value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n  ${faults.join('\n  ')}`,
    );
    this.faults = faults;
  }
}

/** What reading the configuration found. */
interface ReadConfig {
  /** Only of use where there are no faults: a fault leaves a harmless stand-in. */
  readonly config: Config;
  /** Every setting that there is, with what was given for it. */
  readonly settings: readonly Setting[];
  /** One line a fault, with what to do. */
  readonly faults: readonly string[];
}

/**
 * Reads the whole configuration: the environment, and where that says nothing the file that `TALLY_CONFIG` names. An
 * empty variable counts as not set.
 * @throws ConfigError naming every setting that is missing or wrong, with an example of a right value
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const { config, faults } = checkConfig(env);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Reads as `readConfig` does, and tells all that it found. */
export function checkConfig(env: NodeJS.ProcessEnv): ReadConfig {
  const file = readConfigFile(env['TALLY_CONFIG']?.trim() || null);
  const read = reader(env, file);
  const mode = read.oneOf('NODE_ENV', ['development', 'test', 'production'], 'development');
  read.requireExplicit(mode === 'production');
  // The variables of systemd and OpenTelemetry are not settings of the service: no configuration file holds them.
  const foreign = reader(env, readConfigFile(null));
  const config = readAll(read, foreign, file, mode === 'production');
  read.refuseUnread();
  return { config, settings: [...read.settings.values()], faults: [...read.faults, ...foreign.faults] };
}

function readAll(read: EnvReader, foreign: EnvReader, file: ConfigFile, production: boolean): Config {
  const host = read.text('HOST', '127.0.0.1', {
    pattern: /^(?:(?!unix:)[0-9A-Za-z.:-]+|unix:\/.+)$/,
    example: '0.0.0.0',
  });
  const port = read.integer('PORT', 8787, 0, 65_535);
  const dataDir = resolve(read.text('TALLY_DATA_DIR', './.tally', { example: '/var/lib/tally' }));
  const urls = readUrls(read, localOrigin(host, port));
  const chain = readChain(read, dataDir, production);
  const keyring = readKeyring(read, dataDir);
  const payments = readPayments(read, { production, chain });
  const counted = production || payments.mode !== 'off';
  const freeReadPerDay = read.integer('TALLY_FREE_READ_PER_DAY', counted ? 100 : 0, 0, 1_000_000_000);
  const config = {
    mode: production ? 'production' : 'development',
    host,
    port,
    socketMode: readSocketMode(read),
    listenFd: readListenFd(foreign),
    workers: readWorkers(read),
    dataDir,
    ...urls,
    handle: production
      ? read.explicit('TALLY_HANDLE', 'local', HANDLE)
      : read.optional('TALLY_HANDLE', HANDLE),
    database: readDatabase(read, dataDir),
    keyring,
    chain,
    log: {
      ...readLog(read, urls, production),
      storage: readLogStorage(read, keyring.remote.aws.credentials),
    },
    operator: readOperator(read),
    freeMintPerDay: read.integer('TALLY_FREE_MINT_PER_DAY', production ? 100 : 0, 0, 1_000_000_000),
    freeReadPerDay,
    freeReadPerDayByAddress: read.integer(
      'TALLY_FREE_READ_PER_DAY_BY_ADDRESS',
      10 * freeReadPerDay,
      0,
      10_000_000_000,
    ),
    processLeaseSeconds: read.integer('TALLY_PROCESS_LEASE_SECONDS', 15, 1, 30),
    trustedProxies: readProxies(read, host, production),
    logLevel: read.oneOf('TALLY_LOG_LEVEL', LOG_LEVELS, production ? 'info' : 'warn'),
    maxBodyBytes: read.integer('TALLY_MAX_BODY_BYTES', 1_048_576, 1_024, 1_073_741_824),
    mcpHosts: read.list('TALLY_MCP_HOSTS', parseHostname, 'tally.internal,chat.example.com'),
    securityContacts: read.list(
      'TALLY_SECURITY_CONTACT',
      parseContact,
      'mailto:security@example.com,https://example.com/security',
    ),
    http: readHttp(read, production),
    compute: readCompute(read, file, keyring.remote.aws.credentials),
    payments,
    sales: readSales(read, production),
    telemetry: readTelemetry(foreign),
    exposedFiles: read.exposedFiles,
  } as const;
  return { ...config, attestations: readAttestations(read, dataDir, attestationsOf(config, file)) };
}

/** A URI that RFC 9116, section 2.5.3, allows for a contact; null for anything else. */
function parseContact(item: string): string | null {
  const isContact = /^(?:mailto:[^\s@]+@[^\s@]+|tel:\+?[\d-]+)$/.test(item) || isHttps(item);
  return isContact ? item : null;
}

const isHttps = (item: string): boolean => URL.canParse(item) && new URL(item).protocol === 'https:';

function readWorkers(read: EnvReader): number {
  const text = read.text('TALLY_WORKERS', '1', { pattern: /^(?:auto|[1-9]\d{0,2})$/, example: 'auto' });
  return text === 'auto' ? availableParallelism() : Number(text);
}

function readSocketMode(read: EnvReader): number {
  return Number.parseInt(
    read.text('TALLY_SOCKET_MODE', '660', { pattern: /^0?[0-7]{3}$/, example: '660' }),
    8,
  );
}

function readProxies(read: EnvReader, host: string, production: boolean): readonly TrustedProxy[] {
  const name = 'TALLY_TRUSTED_PROXIES';
  const proxies = read.list(
    name,
    (item) => (item === UNIX_SOCKET ? UNIX_SOCKET : parseSubnet(item)),
    '10.0.0.0/8,fd00::/8',
  );
  if (proxies.includes(UNIX_SOCKET) && socketPathOf(host) === null)
    read.fault(name, 'holds unix, but HOST is no Unix socket', '10.0.0.0/8');
  // Who is trusted may name another's address, which free quotas and limits are counted by.
  if (production && proxies.some((proxy) => proxy !== UNIX_SOCKET && proxy.prefix === 0))
    read.fault(name, 'holds every address there is; name those of the proxies alone', '10.0.0.0/8,fd00::/8');
  return proxies;
}

const HANDLE = { accepts: isHandle, example: 'acme' };

/** The form of `hardware.attestation` (spec/receipts.md). */
const ATTESTATION = /^[a-z0-9][a-z0-9._-]{0,31}:sha256:[0-9a-f]{64}$/;

function readOperator(read: EnvReader): OperatorFacts {
  const region = { pattern: /^[\w.-]{1,64}$/, example: 'eu-west-1' };
  return {
    region: read.optional('TALLY_REGION', region),
    trainingRegion: read.optional('TALLY_TRAINING_REGION', region),
    hardwareClass: read.optional('TALLY_HARDWARE_CLASS', {
      pattern: /^[\w .:/+-]{1,64}$/,
      example: 'nvidia-h100',
    }),
    attestation: read.optional('TALLY_HARDWARE_ATTESTATION', {
      pattern: ATTESTATION,
      example: `sev-snp:sha256:${'0'.repeat(64)}`,
    }),
  };
}

/** The attestations that receipts will name: of the service's own machine, and of the machines of models. */
function attestationsOf(
  { operator: { attestation }, compute: { catalogue } }: Pick<Config, 'operator' | 'compute'>,
  { path }: ConfigFile,
): AttestationClaim[] {
  const own = attestation === null ? [] : [{ where: 'TALLY_HARDWARE_ATTESTATION', attestation }];
  const models = (catalogue.models ?? []).flatMap(({ id, attestation: claimed }) =>
    claimed === undefined ? [] : [{ where: `${path}: attestation of the model ${id}`, attestation: claimed }],
  );
  return [...own, ...models];
}

function readUrls(read: EnvReader, fallback: string): Pick<Config, UrlField | 'derivedUrls'> {
  const receiptsUrl = read.publicUrl('TALLY_RECEIPTS_URL', 'https://receipts.example.com');
  const apiUrl = read.publicUrl('TALLY_API_URL', 'https://api.example.com');
  const siteUrl = read.publicUrl('TALLY_SITE_URL', 'https://example.com');
  const found = { receiptsUrl, apiUrl, siteUrl };
  return {
    receiptsUrl: receiptsUrl ?? fallback,
    apiUrl: apiUrl ?? fallback,
    siteUrl: siteUrl ?? fallback,
    derivedUrls: (Object.keys(found) as UrlField[]).filter((field) => found[field] === null),
  };
}

function readKeyring(read: EnvReader, dataDir: string): Keyring {
  const path = resolve(
    read.explicit('TALLY_KEYRING', join(dataDir, 'keyring.json'), { example: '/etc/tally/keyring.json' }),
  );
  return {
    path,
    passphrase: read.secret('TALLY_KEYRING_PASSPHRASE'),
    remote: readRemoteKeys(read),
    pqSignatures: read.oneOf('TALLY_PQ_SIGNATURES', ['off', 'on'], 'off') === 'on',
  };
}

function readChain(read: EnvReader, dataDir: string, production: boolean): ChainSettings {
  const rpcUrl = read.explicitSecretUrl('TALLY_CHAIN_RPC_URL', hasScheme('http:', 'https:'), {
    what: 'an http:// or https:// URL',
    example: 'https://rpc.example.com/v1',
  });
  const withoutChain = rpcUrl === null && !production;
  const devnet = read.oneOf('TALLY_DEVNET', ['on', 'off'], withoutChain ? 'on' : 'off') === 'on';
  if (devnet && !withoutChain) {
    read.fault(
      'TALLY_DEVNET',
      'is on, but the development chain is for development without a TALLY_CHAIN_RPC_URL',
    );
  }
  return {
    id: read.explicitInteger('TALLY_CHAIN_ID', 31_337, 1, Number.MAX_SAFE_INTEGER, '8453'),
    network: read.explicit('TALLY_CHAIN_NETWORK', 'devnet', {
      pattern: /^(?!pending$)[a-z0-9][a-z0-9-]{0,31}$/,
      example: 'base',
    }),
    rpcUrl,
    devnet,
    postingKeyFile: resolve(
      read.explicit('TALLY_POSTING_KEY_FILE', join(dataDir, 'posting.key'), {
        example: '/etc/tally/posting.key',
      }),
    ),
    finality: readFinality(read, production ? 'finalized' : '1'),
  };
}

/**
 * Reads `finalized`, which follows the chain's own finality, or a number of blocks, including the one that contains the
 * transaction.
 */
function readFinality(read: EnvReader, fallback: string): Finality {
  const text = read.text('TALLY_CHAIN_FINALITY', fallback, {
    pattern: /^(?:finalized|[1-9]\d{0,5})$/,
    example: 'finalized',
  });
  return text === 'finalized' ? { kind: 'finalized' } : { kind: 'confirmations', count: Number(text) };
}

function readLog(
  read: EnvReader,
  { apiUrl, derivedUrls }: Pick<Config, 'apiUrl' | 'derivedUrls'>,
  production: boolean,
): Omit<Log, 'storage'> {
  const origin = read.optional('TALLY_LOG_ORIGIN', {
    // What may name the key of a C2SP signed note.
    pattern: /^[^\s+]{1,255}$/,
    example: 'log.example.com',
  });
  return {
    origin: origin ?? withoutScheme(apiUrl),
    originDerived: origin === null && derivedUrls.includes('apiUrl'),
    periodSeconds: read.integer('TALLY_ANCHOR_PERIOD_SECONDS', production ? 3_600 : 10, 1, 86_400),
    witnesses: read.list(
      'TALLY_WITNESSES',
      parseWitness,
      'witness.example.com+5f5a3d1e+BP… https://witness.example.com',
    ),
  };
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, '');
}

function isHandle(text: string): boolean {
  try {
    didSvc(text);
    return true;
  } catch {
    return false;
  }
}

function parseHostname(text: string): string | null {
  return /^(?!-)[a-z0-9.-]{1,253}$/i.test(text) ? text.toLowerCase() : null;
}

function parseSubnet(text: string): Subnet | null {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return null;
  const width = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (prefix < 0 || prefix > width) return null;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** The configuration with its derived URLs for the address on which the server really listens. */
export function withAddress(config: Config, address: { address: string; port: number }): Config {
  const host = config.listenFd === null ? config.host : address.address;
  const at = localOrigin(host, address.port);
  const derived = Object.fromEntries(config.derivedUrls.map((field) => [field, at]));
  const log = config.log.originDerived ? { ...config.log, origin: withoutScheme(at) } : config.log;
  return { ...config, host, port: address.port, ...derived, log };
}

/** The public URL of a path. */
export function urlsOf({
  apiUrl,
  receiptsUrl,
}: Pick<Config, 'apiUrl' | 'receiptsUrl'>): (path: string) => string {
  return (path) => (/^\/v1\/(?:receipt|sessions)/.test(path) ? receiptsUrl : apiUrl) + path;
}

/** The path of the Unix socket that a `HOST` names, or null for another one. */
export function socketPathOf(host: string): string | null {
  return /^unix:(\/.+)$/s.exec(host)?.[1] ?? null;
}

/** The origin for local calls. A wildcard address and a Unix socket have no URL to call, so they become `localhost`. */
export function localOrigin(host: string, port: number): string {
  if (socketPathOf(host) !== null) return 'http://localhost';
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
