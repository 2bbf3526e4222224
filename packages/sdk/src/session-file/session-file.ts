import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  canonicalize,
  commitSalt,
  formatTimestamp,
  fromBase64url,
  isObject,
  parseJson,
  readSessionReceipt,
  type SessionOpening,
  type SessionReceipt,
  SessionRecorder,
  TallyError,
  toBase64url,
  toHex,
} from '@tallystick/core';
import {
  type Kept,
  KeptSession,
  type OpenSessionOptions,
  type ReceiptStore,
  type Session,
} from '../sessions/session.ts';
import { randomBytes, sessionSigner } from '../sessions/signer.ts';
import { putAnchors, type ReceiptAnchor } from './anchored-file.ts';
import { Anchoring, type SessionAnchoring } from './anchoring.ts';
import { syncFolderOf, writeNew } from './files.ts';
import { tallyHome } from './home.ts';
import { Journal, unanswered } from './journal.ts';
import { takeLock } from './lock.ts';
import { ownKey } from './own-key.ts';

const SUFFIX = '.jsonl';
const SALT_TYPE = 'tally-session-salt-v1';
const LINE_FEED = 10;
/** Bytes that are read at once from the end of a file. */
const BLOCK = 65_536;
/** Bytes at the end of a file that hold the last line, which may have been cut, and the one before it: no receipt is so long. */
const LONGEST = 1_048_576;

export interface SessionFileOptions extends Omit<OpenSessionOptions, 'keep' | 'continues'> {
  /** How long to wait for another process that records in this session, in milliseconds: 0 when absent. */
  readonly waitMs?: number | undefined;
  /** `new`: refuse an open session; `open`: refuse to make one. */
  readonly only?: 'new' | 'open' | undefined;
  /** Has the newest receipt anchored at an interval, and the closing. */
  readonly anchor?: SessionAnchoring | undefined;
  /** Makes the file of a new session with its first call: one that is released without a call leaves no file. */
  readonly late?: boolean | undefined;
}

/** A session that is kept in a file. A method that returns a receipt has flushed it to the disk. */
export interface SessionFile extends Session {
  /** The file, which may be another one than was asked for: see `openSessionFile`. */
  readonly path: string;
  /** What was found when the file was opened, in sentences. */
  readonly remarks: readonly string[];
  /** Stops recording and leaves the session open, so that it can be gone on with. Calls that are open stay in the journal. */
  release(): Promise<void>;
}

/**
 * Opens the session in a file, and makes both if there are none. An open session is gone on with; calls that it began and
 * did not end are recorded as `unknown`. If the session is closed, its file stays as it is, and a session that continues it
 * goes into `NAME-2.jsonl`, then `NAME-3.jsonl`, and so on (spec/sessions.md, *The file*). Without key and client, the
 * user's own key signs.
 * @param path null: a new file in `sessions` of `tallyHome()`
 * @throws session_in_use; session_unusable if the file can't be gone on with; invalid_secret_key; ServiceError
 */
export async function openSessionFile(
  path: string | null,
  { waitMs = 0, only, parent, anchor, late = false, ...issuer }: SessionFileOptions = {},
): Promise<SessionFile> {
  const isOwn = issuer.key === undefined && issuer.client === undefined;
  const { sign, publicKey, signed } = await sessionSigner(
    isOwn ? { ...issuer, key: await ownKey() } : issuer,
  );
  const id = toHex(randomBytes(16));
  const first = path ?? defaultPath(id);
  mkdirSync(dirname(first), { recursive: true, mode: 0o700 });
  const remarks: string[] = [];
  let continues: SessionOpening['continues'];
  for (let number = 1; ; number++) {
    const file = number === 1 ? first : numbered(first, number);
    const unlock = await takeLock(`${file}.lock`, waitMs);
    try {
      const found = readFile(file, remarks);
      if (found?.newest.call.kind === 'session' && found.newest.call.event === 'close') {
        const { session, count, head } = found.newest.call;
        continues = { id: session.id, count, head };
        remarks.push(`The session in ${file} is closed.`);
        unlock();
        continue;
      }
      if (only === 'new' && found !== null) throw unusable(file, 'It holds an open session.');
      if (only === 'open' && found === null) throw unusable(first, 'It holds no open session.');
      if (found !== null) return await goOn(found);
      const salt = randomBytes(32);
      const beginning = { id, ...(continues && { continues }), ...(parent && { parent }) };
      const recording = { sign, salt, random: randomBytes };
      const { recorder, receipt } = await SessionRecorder.open(recording, beginning);
      const saltText = `${canonicalize({ salt: toBase64url(salt), session_id: id, type: SALT_TYPE })}\n`;
      const make = (): FileStore => newStore(file, saltText, receipt);
      const store = late ? lateStore(make) : make();
      if (!late) await store.flush();
      const kept = { recorder, options: recording, signed, store };
      return new SessionInFile(kept, { file, remarks, unlock, anchor });
    } catch (error) {
      unlock();
      throw error;
    }

    async function goOn({ opening, newest }: Found): Promise<SessionFile> {
      if (publicKey !== null && newest.public_key !== toBase64url(publicKey)) {
        throw unusable(file, 'It is signed by another key. Use that key, or another file.');
      }
      const { id: known, seq } = newest.call.session;
      const salt = readSalt(file, known, opening);
      const head = { id: known, seq: Number(seq), hash: newest.hash };
      const open = unanswered(`${file}.journal`, head.seq);
      const recording = { sign, salt, random: randomBytes };
      const recorder = SessionRecorder.resume(recording, head);
      const store = new FileStore(file, open.keys());
      const kept = { recorder, options: recording, signed, store, open };
      const session = new SessionInFile(kept, { file, remarks, unlock, anchor });
      try {
        await session.recover(remarks);
      } catch (error) {
        await session.release();
        throw error;
      }
      return session;
    }
  }
}

interface Opened {
  readonly file: string;
  readonly remarks: readonly string[];
  readonly unlock: () => void;
  readonly anchor: SessionAnchoring | undefined;
}

class SessionInFile extends KeptSession implements SessionFile {
  readonly path: string;
  readonly remarks: readonly string[];
  readonly #store: Store;
  readonly #anchoring: Anchoring | null;
  #unlock: (() => void) | null;

  constructor(kept: Kept & { readonly store: Store }, { file, remarks, unlock, anchor }: Opened) {
    super(kept);
    this.path = file;
    this.remarks = remarks;
    this.#store = kept.store;
    this.#unlock = unlock;
    this.#anchoring = anchor
      ? new Anchoring(anchor, {
          head: () => this.head,
          put: (anchors) => this.between(() => kept.store.anchor(anchors)),
        })
      : null;
  }

  /** Keeps what only the signer has, and records as `unknown` what an earlier process began. */
  async recover(remarks: string[]): Promise<void> {
    const before = this.head.seq;
    const isClosed = await this.catchUp();
    if (this.head.seq > before) remarks.push(`Receipts after number ${before} came from the service.`);
    if (isClosed)
      throw unusable(this.path, 'The service has closed it. Try again to continue it in another file.');
    for (const [number, { tool }] of this.openCalls()) {
      try {
        await this.end({ number }, { outcome: 'unknown' });
        remarks.push(`A call of ${tool} had no answer. Number ${this.head.seq} records it as unknown.`);
      } catch (error) {
        if (!isUnrecordable(error)) throw error;
        this.forget(number);
        remarks.push(`A call of ${tool} has no receipt, because none can be made of it. ${error.message}`);
      }
    }
  }

  override async close(): Promise<string> {
    const receipt = await super.close();
    await this.#anchoring?.stop(true);
    await this.release();
    return receipt;
  }

  async release(): Promise<void> {
    await this.#anchoring?.stop(false);
    await this.stop();
    if (this.#unlock === null) return;
    const unlock = this.#unlock;
    this.#unlock = null;
    await this.#store.close();
    unlock();
  }
}

/** Whether no receipt can say what a call was: an earlier release began calls that it had not checked. */
function isUnrecordable(error: unknown): error is TallyError {
  return (
    error instanceof TallyError &&
    /^(?:not_a_receipt|invalid_field|receipt_too_large|json_.*)$/.test(error.code)
  );
}

/** The receipts of a session on a disk, and its journal. */
class FileStore implements ReceiptStore {
  readonly #path: string;
  readonly #journal: Journal;
  #file: number;
  #size: number;
  /** Calls whose receipts are written and not flushed. */
  #ended: number[] = [];
  #queue: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  /** @param open numbers of the calls in the journal that have not ended */
  constructor(path: string, open: Iterable<number>) {
    this.#path = path;
    this.#journal = new Journal(`${path}.journal`, open);
    this.#file = openSync(path, 'a', 0o600);
    this.#size = fstatSync(this.#file).size;
  }

  readonly begin = (...[number, call]: Parameters<Journal['begin']>): void => {
    this.#journal.begin(number, call);
  };

  add(receipt: string, { seq, ends }: { readonly seq: number; readonly ends: number | null }): void {
    this.#requireAlone();
    if (ends !== null) this.#journal.end(ends, seq);
    const line = Buffer.from(`${receipt}\n`);
    const written = writeSync(this.#file, line);
    if (written < line.length) throw unusable(this.#path, 'There was no room for a whole receipt.');
    this.#size += line.length;
    if (ends !== null) this.#ended.push(ends);
  }

  /** Receipts that wait together share one flush: it begins when the one before it has ended. */
  flush(): Promise<void> {
    this.#waiting ??= this.#next(() => {
      this.#waiting = null;
      return this.#sync();
    });
    return this.#waiting;
  }

  /** Puts anchors into lines that are there. No receipt may be added meanwhile. */
  anchor(anchors: readonly ReceiptAnchor[]): Promise<void> {
    return this.#next(async () => {
      this.#requireAlone();
      await this.#sync();
      await putAnchors(this.#path, anchors);
      closeSync(this.#file);
      this.#file = openSync(this.#path, 'a', 0o600);
      this.#size = fstatSync(this.#file).size;
    });
  }

  async close(): Promise<void> {
    await this.flush().catch(() => undefined);
    this.#journal.close();
    closeSync(this.#file);
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #sync(): Promise<void> {
    const ended = this.#ended;
    this.#ended = [];
    await new Promise<void>((resolve, reject) => {
      fdatasync(this.#file, (error) => (error === null ? resolve() : reject(error)));
    });
    this.#journal.forget(ended);
  }

  /** Whatever a lock missed: two recorders in one file would make it worthless. */
  #requireAlone(): void {
    const { size, nlink } = fstatSync(this.#file);
    if (nlink === 0) throw unusable(this.#path, 'It was removed while it was recorded.');
    if (size !== this.#size) {
      throw new TallyError('session_in_use', `Something else has written into ${this.#path}.`);
    }
  }
}

type Store = Pick<FileStore, 'begin' | 'add' | 'flush' | 'anchor' | 'close'>;

/** Makes the file of a session, with the opening, and that of its salt. `flush` makes both durable. @throws session_in_use */
function newStore(file: string, salt: string, opening: string): FileStore {
  // This also cuts off what an attempt without room for a whole receipt has left.
  if (readFile(file, []) !== null)
    throw new TallyError('session_in_use', `Something else has written into ${file}.`);
  rmSync(`${file}.salt`, { force: true });
  writeNew(`${file}.salt`, salt);
  const store = new FileStore(file, []);
  try {
    store.add(opening, { seq: 0, ends: null });
    syncFolderOf(file);
    return store;
  } catch (error) {
    void store.close();
    throw error;
  }
}

/** A store that is made with the first call or receipt that it is to keep. */
function lateStore(make: () => FileStore): Store {
  let made: FileStore | null = null;
  const store = (): FileStore => (made ??= make());
  return {
    begin: (...call) => store().begin(...call),
    add: (...receipt) => store().add(...receipt),
    flush: () => store().flush(),
    anchor: (anchors) => store().anchor(anchors),
    close: async () => made?.close(),
  };
}

interface Found {
  readonly opening: SessionOpening;
  readonly newest: SessionReceipt;
}

/** The first and the last receipt of a file, whose torn end is cut off; null if it has none. @throws session_unusable */
function readFile(path: string, remarks: string[]): Found | null {
  const file = openIfThere(path);
  if (file === null) return null;
  try {
    const last = lastLine(path, file);
    if (last.torn !== '') {
      if (readReceipt(last.torn) === null) {
        ftruncateSync(file, last.end);
        remarks.push(`The last line of ${path} was cut before its end, and was taken out.`);
      } else {
        writeSync(file, '\n', last.end + Buffer.byteLength(last.torn));
        return readFile(path, remarks);
      }
    }
    if (last.line === null) return null;
    const newest = readReceipt(last.line);
    const opening = readReceipt(firstLine(file))?.call;
    if (newest === null || opening?.kind !== 'session' || opening.event !== 'open') {
      throw unusable(path, 'Its first line does not open a session, or its last is of none.');
    }
    return { opening, newest };
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The last line that has an end, the place behind it, and what comes after that. @throws session_unusable for a line of no receipt */
function lastLine(path: string, file: number): { line: string | null; end: number; torn: string } {
  const { size } = fstatSync(file);
  let tail = Buffer.alloc(0);
  for (let from = size; ; ) {
    const end = tail.lastIndexOf(LINE_FEED);
    const begin = end < 1 ? -1 : tail.lastIndexOf(LINE_FEED, end - 1);
    if (from === 0 || begin !== -1) {
      const line = end === -1 ? null : tail.toString('utf8', begin + 1, end);
      return { line, end: from + end + 1, torn: tail.toString('utf8', end + 1) };
    }
    if (tail.length >= LONGEST) throw unusable(path, 'Its last line is longer than any receipt.');
    const length = Math.min(BLOCK, from);
    from -= length;
    tail = Buffer.concat([bytesAt(file, from, length), tail]);
  }
}

function firstLine(file: number): string {
  const { size } = fstatSync(file);
  const block = bytesAt(file, 0, Math.min(BLOCK, size));
  return block.toString('utf8', 0, block.indexOf(LINE_FEED));
}

function bytesAt(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, from);
  return bytes;
}

function readReceipt(line: string): SessionReceipt | null {
  try {
    return readSessionReceipt(line);
  } catch {
    return null;
  }
}

/**
 * The `session_salt` of a session's file: 32 bytes.
 * @throws session_unusable if it is missing, or another session's
 */
export function readSessionSalt(path: string): Uint8Array {
  const found = readFile(path, []);
  if (found === null) throw unusable(path, 'It holds no session.');
  return readSalt(path, found.newest.call.session.id, found.opening);
}

function readSalt(path: string, id: string, { salt_commitment }: SessionOpening): Uint8Array {
  try {
    const file = parseJson(readFileSync(`${path}.salt`));
    if (
      isObject(file) &&
      file.type === SALT_TYPE &&
      file.session_id === id &&
      typeof file.salt === 'string'
    ) {
      const salt = fromBase64url(file.salt, 32);
      if (commitSalt(salt) === salt_commitment) return salt;
    }
  } catch {
    throw unusable(path, `Its salt, ${path}.salt, can't be read.`);
  }
  throw unusable(path, `${path}.salt is not the salt of this session.`);
}

function defaultPath(id: string): string {
  const at = formatTimestamp(Math.floor(Date.now() / 1_000) * 1_000).replaceAll(/[-:]/g, '');
  return join(tallyHome(), 'sessions', `${at}-${id.slice(0, 8)}${SUFFIX}`);
}

function numbered(path: string, number: number): string {
  return path.endsWith(SUFFIX) ? `${path.slice(0, -SUFFIX.length)}-${number}${SUFFIX}` : `${path}-${number}`;
}

function unusable(path: string, why: string): TallyError {
  return new TallyError('session_unusable', `${path} can't be recorded in. ${why}`);
}
