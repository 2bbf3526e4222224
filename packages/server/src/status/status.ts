import {
  isObject,
  type JsonObject,
  parseJson,
  readStatus,
  type StatusEndpoint,
  type StatusLog,
  type StatusModel,
  type StatusReport,
  signStatus,
  statusDigest,
  TallyError,
  utf8,
} from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { StatusFinding, StatusKind } from '@tallystick/kit';
import type { LogStatus } from '@tallystick/log';
import type { Store } from '@tallystick/store';
import type { Logger } from 'pino';
import { type AnchoringDependencies, AnchoringWatch } from './anchoring.ts';
import { Board } from './board.ts';
import { ENDPOINTS, type Round } from './endpoints.ts';
import type { FoundModels } from './models.ts';
import { type ProbedApp, probe } from './probe.ts';
import { type Trouble } from './trouble.ts';

/** Publishes the service's status: one signed document, renewed every minute by one process of a store. */
export interface StatusService {
  /** Sets the app that probes call. Without it nothing is probed. */
  serveThrough(app: ProbedApp): void;
  /** Starts the timer, which does not keep the process alive. */
  start(): void;
  /**
   * The JCS text of the newest document of any process; if there is none yet, after a first round. If this process
   * could not store the result of its last round, it tries again first.
   * @throws unavailable if there is still none, or it still cannot be stored
   */
  newest(): Promise<string>;
  /** Probes all endpoints and publishes the result, unless a process of this store did so in this minute. */
  round(): Promise<void>;
  close(): Promise<void>;
}

export interface StatusDependencies extends AnchoringDependencies {
  readonly store: Pick<Store, 'consume' | 'getDocument' | 'replaceDocument'> & AnchoringDependencies['store'];
  readonly issuer: OwnIssuer;
  readonly service: string;
  /** Whether roots are posted to a chain. */
  readonly posts: boolean;
  /** Reads the states of the models, after probing those that no call has shown and that may be probed. */
  readonly models: (signal: AbortSignal) => Promise<FoundModels>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'error'>;
  /** Stores what a round found for the history, and tells of what has changed. */
  readonly record: (found: RecordedStatus) => Promise<void>;
}

/** The findings of a published round. */
export interface RecordedStatus {
  readonly findings: readonly StatusFinding[];
  /** Of the published document. */
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Name under which the newest document is stored. */
export const STATUS_DOCUMENT = 'status';
const VERSION = 1;
const INTERVAL_MS = 60_000;
/** Two of three rounds may fail before the newest document is stale. */
const VALID_MS = 3 * INTERVAL_MS;
/** Rounds begin at a random moment after the minute, so that many services do not all work at once. */
const JITTER_MS = 5_000;

export function createStatus(dependencies: StatusDependencies): StatusService {
  const { store, issuer, service, clock, logger } = dependencies;
  const board = new Board();
  const watch = new AnchoringWatch(dependencies);
  const closing = new AbortController();
  let app: ProbedApp | null = null;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  /** Whether the result of the last round could not be stored: then the stored document is older. */
  let untold = false;

  const once = (): Promise<void> => {
    running ??= writeStatus().finally(() => {
      running = undefined;
    });
    return running;
  };

  async function writeStatus(): Promise<void> {
    try {
      await round();
      untold = false;
    } catch (error) {
      untold = true;
      throw error;
    }
  }

  /** The first process to claim the minute runs the round, even if the processes' clocks differ. */
  async function round(): Promise<void> {
    if (app === null || closing.signal.aborted) return;
    const minute = Math.floor(clock() / INTERVAL_MS);
    const expiresAt = ((minute + 2) * INTERVAL_MS) / 1000;
    if (!(await store.consume(`${STATUS_DOCUMENT}:${minute}`, 1, expiresAt)).allowed) return;
    const previous = await newestStored();
    if (previous !== null) resumeFrom(board, previous.document);
    const { report: log, status } = await watch.read(clock());
    const found = await dependencies.models(closing.signal);
    const endpoints = await probeAll(app, status, found);
    const providers = found.providers.map((one) => board.noteLight('provider', one, clock()));
    const models = found.models.map((one) => board.noteLight('model', one, clock()));
    if (!closing.signal.aborted) await publish(previous, { endpoints, providers, models, log });
  }

  async function probeAll(through: ProbedApp, log: LogStatus, found: FoundModels): Promise<StatusEndpoint[]> {
    const entries: StatusEndpoint[] = [];
    const known: Round = { did: issuer.did, free: null, emitted: null };
    for (const endpoint of ENDPOINTS) {
      const finding = await probe(through, endpoint, {
        round: known,
        origin: service,
        signal: closing.signal,
      });
      const trouble = troubleOf(endpoint.name, log, { ...dependencies, chat: found.chat });
      entries.push(board.note(endpoint, finding, trouble, clock()));
    }
    return entries;
  }

  /** Another process has published this sequence first: its document stays. */
  async function publish(previous: Stored | null, content: Content): Promise<void> {
    const now = clock();
    const sequence = (previous?.sequence ?? 0) + 1;
    const text = await signStatus(
      { version: VERSION, service, ...content },
      {
        did: issuer.did,
        sequence,
        previousSha256: previous && statusDigest(previous.document),
        issuedAt: now,
        validUntil: now + VALID_MS,
      },
      issuer.signer('status'),
    );
    if ((await store.replaceDocument(STATUS_DOCUMENT, sequence, text)) === 'stale') return;
    await dependencies.record({ findings: findingsOf(content), sequence, at: now });
  }

  async function newestStored(): Promise<Stored | null> {
    const row = await store.getDocument(STATUS_DOCUMENT);
    if (row === null) return null;
    const document = parseJson(utf8(row.body));
    if (!isObject(document)) throw new Error('The stored status is not an object.');
    return { sequence: row.version, document };
  }

  function schedule(): void {
    if (closing.signal.aborted) return;
    const now = Date.now();
    const next = (Math.floor(now / INTERVAL_MS) + 1) * INTERVAL_MS + Math.random() * JITTER_MS;
    timer = setTimeout(() => {
      once()
        .catch((error: unknown) => logger.error({ err: error }, 'writing the status failed'))
        .finally(schedule);
    }, next - now);
    timer.unref();
  }

  return {
    serveThrough(through) {
      app = through;
    },
    start: schedule,
    async newest() {
      if (untold) await once().catch(refuseToTell);
      const before = await store.getDocument(STATUS_DOCUMENT);
      if (before !== null) return before.body;
      await once();
      const after = await store.getDocument(STATUS_DOCUMENT);
      if (after !== null) return after.body;
      throw new TallyError(
        'unavailable',
        'No status has been signed yet. The first one follows within a minute.',
      );
    },
    round: once,
    async close() {
      clearTimeout(timer);
      closing.abort();
      await running?.catch(() => {});
    },
  };
}

function refuseToTell(cause: unknown): never {
  const message = 'The newest status could not be stored, so none is served.';
  throw new TallyError('unavailable', message, { cause });
}

/** What a round found. */
interface Content {
  readonly endpoints: readonly StatusEndpoint[];
  readonly providers: readonly StatusModel[];
  readonly models: readonly StatusModel[];
  readonly log: StatusLog;
}

function findingsOf({ endpoints, providers, models }: Content): StatusFinding[] {
  const of =
    (kind: StatusKind) =>
    ({ id, state, code }: Pick<StatusModel, 'id' | 'state' | 'code'>): StatusFinding => ({
      kind,
      id,
      state,
      code,
    });
  return [
    ...endpoints.map(({ name: id, state, code }) => of('endpoint')({ id, state, code })),
    ...providers.map(of('provider')),
    ...models.map(of('model')),
  ];
}

interface Stored {
  readonly sequence: number;
  readonly document: JsonObject;
}

/** A document of another release may have another form: then its times are not taken over. */
function resumeFrom(board: Board, document: JsonObject): void {
  let report: StatusReport;
  try {
    report = readStatus(document);
  } catch (error) {
    if (error instanceof TallyError) return;
    throw error;
  }
  board.resume(report);
}

/** What the refused probe of an endpoint cannot see of the parts behind it. */
function troubleOf(
  name: string,
  { accepting, posting, overdueSeconds }: LogStatus,
  { posts, period, chat }: Pick<StatusDependencies, 'posts' | 'period'> & Pick<FoundModels, 'chat'>,
): Trouble | null {
  if (name === 'compute_chat') return chat;
  if (name !== 'anchor') return null;
  if (accepting !== 'ok') return { state: 'down', code: 'anchor_unavailable' };
  const late = posting !== 'ok' || overdueSeconds > Math.max(2 * period, 120);
  return posts && late ? { state: 'degraded', code: 'postings_overdue' } : null;
}
