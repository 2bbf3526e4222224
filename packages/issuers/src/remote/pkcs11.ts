import { createRequire } from 'node:module';
import { TallyError } from '@tallystick/core';
import type { RemoteKey } from './remote-key.ts';

export interface Pkcs11Settings {
  /** Path of the device's library; null where none is configured. */
  readonly module: string | null;
  /** PIN of the user; null for a token without a login. */
  readonly pin: string | null;
}

export type Handle = Buffer;

/** What is used of the package pkcs11js, which is not installed by default: it compiles native code. */
export interface Pkcs11 {
  load(path: string): void;
  C_Initialize(options: { flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Handle[];
  C_GetTokenInfo(slot: Handle): { readonly label: string };
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_CloseSession(session: Handle): void;
  C_Login(session: Handle, user: number, pin: string): void;
  C_FindObjectsInit(session: Handle, template: readonly { type: number; value: number | string }[]): void;
  C_FindObjects(session: Handle, most: number): Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_GetAttributeValue(
    session: Handle,
    key: Handle,
    template: readonly { type: number }[],
  ): { value: Buffer }[];
  C_SignInit(session: Handle, mechanism: { mechanism: number }, key: Handle): void;
  C_SignAsync(session: Handle, message: Buffer, signature: Buffer): Promise<Buffer>;
}

/** Numbers of PKCS#11 3.1 (pkcs11t.h). */
const CKF_OS_LOCKING_OK = 2;
const CKF_SERIAL_SESSION = 4;
const CKU_USER = 1;
const CKA_CLASS = 0;
const CKA_LABEL = 3;
const CKA_KEY_TYPE = 0x100;
const CKA_EC_POINT = 0x181;
const CKO_PUBLIC_KEY = 2;
const CKO_PRIVATE_KEY = 3;
const CKK_EC_EDWARDS = 0x40;
const CKM_EDDSA = 0x1057;
const CKR_PIN_INCORRECT = 0xa0;
const CKR_PIN_LOCKED = 0xa4;
const CKR_USER_ALREADY_LOGGED_IN = 0x100;

/** Sessions that wait for a next signature; as many signatures are made at once as are asked for. */
const MAX_IDLE = 8;

/**
 * An Ed25519 key (CKK_EC_EDWARDS) on a PKCS#11 token, used by CKM_EDDSA.
 * @param uri `pkcs11:token=<label>;object=<label>` (RFC 7512); the library and the PIN are never taken from it
 * @param load gives the device's library, which is at this path
 */
export function openPkcs11Key(
  uri: string,
  { module, pin }: Pkcs11Settings,
  load: (module: string) => Pkcs11 = libraryOf,
): RemoteKey {
  const { token, object } = partsOf(uri);
  if (module === null)
    throw new TallyError(
      'unavailable',
      `The keyring names ${uri}: set TALLY_PKCS11_MODULE to the device's library.`,
    );
  let opened: Token | null = null;
  const use = async <T>(work: (at: Token) => T | Promise<T>): Promise<T> => {
    let at: Token | null = null;
    try {
      opened ??= new Token(load(module), token, object, pin);
      at = opened;
      return await work(at);
    } catch (error) {
      // What was opened may be what is wrong: a device that was reset knows no session any more.
      at?.close();
      if (opened === at) opened = null;
      throw error instanceof TallyError ? error : unavailable(uri, error);
    }
  };
  return {
    maxMessageBytes: null,
    publicKey: () => use((at) => at.publicKey()),
    sign: (message) => use((at) => at.sign(message)),
  };
}

function partsOf(uri: string): { readonly token: string; readonly object: string } {
  const parts = new Map(
    uri
      .slice('pkcs11:'.length)
      .split(';')
      .map((part) => part.split('=', 2).map(decode) as [string, string]),
  );
  const [token = '', object = ''] = [parts.get('token'), parts.get('object')];
  const unknown = [...parts.keys()].find((name) => name !== 'token' && name !== 'object');
  if (token !== '' && object !== '' && unknown === undefined) return { token, object };
  throw new TallyError('invalid_field', `${uri} is not of the form pkcs11:token=<label>;object=<label>.`, {
    field: 'signer',
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** A token that is logged in to, with one key on it. */
class Token {
  readonly #lib: Pkcs11;
  readonly #slot: Handle;
  readonly #object: string;
  readonly #key: Handle;
  /** A login holds as long as a session is open. */
  readonly #first: Handle;
  readonly #idle: Handle[] = [];
  #closed = false;
  /** The messages that are being signed. pkcs11js reads a message in another thread without holding it, so garbage collection could free it. */
  readonly #signing = new Set<Buffer>();

  constructor(lib: Pkcs11, label: string, object: string, pin: string | null) {
    this.#lib = lib;
    this.#object = object;
    const slot = this.#lib
      .C_GetSlotList(true)
      .find((one) => this.#lib.C_GetTokenInfo(one).label.trim() === label);
    if (slot === undefined) throw new TallyError('unavailable', `There is no PKCS#11 token ${label}.`);
    this.#slot = slot;
    this.#first = this.#lib.C_OpenSession(slot, CKF_SERIAL_SESSION);
    try {
      if (pin !== null) this.#login(label, pin);
      this.#key = this.#find(CKO_PRIVATE_KEY);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Gives the sessions back, of which a device has a limited number. Those in use are given back when they are not. */
  close(): void {
    this.#closed = true;
    for (const session of [...this.#idle.splice(0), this.#first]) this.#end(session);
  }

  publicKey(): Uint8Array {
    const found = this.#lib.C_GetAttributeValue(this.#first, this.#find(CKO_PUBLIC_KEY), [
      { type: CKA_EC_POINT },
    ]);
    const point = found[0]?.value ?? Buffer.alloc(0);
    // PKCS#11 3.1, section 6.3.5: a DER OCTET STRING around the point; some devices give the point alone.
    const bytes = point.length === 34 && point[0] === 4 && point[1] === 32 ? point.subarray(2) : point;
    if (bytes.length !== 32)
      throw new TallyError('unavailable', `The key ${this.#object} is not an Ed25519 key.`);
    return Uint8Array.from(bytes);
  }

  async sign(message: Uint8Array): Promise<Uint8Array> {
    // A session makes one signature at a time.
    const session = this.#idle.pop() ?? this.#lib.C_OpenSession(this.#slot, CKF_SERIAL_SESSION);
    const signed = Buffer.from(message);
    this.#signing.add(signed);
    let kept = false;
    try {
      this.#lib.C_SignInit(session, { mechanism: CKM_EDDSA }, this.#key);
      const signature = await this.#lib.C_SignAsync(session, signed, Buffer.alloc(64));
      kept = !this.#closed && this.#idle.length < MAX_IDLE && this.#idle.push(session) > 0;
      return Uint8Array.from(signature);
    } finally {
      this.#signing.delete(signed);
      if (!kept) this.#end(session);
    }
  }

  /** @throws unavailable once the token has refused the PIN, without another try */
  #login(label: string, pin: string): void {
    const refused = refusedPins.get(this.#lib) ?? new Set<string>();
    const name = JSON.stringify([label, pin]);
    if (refused.has(name)) throw refusedPin(label);
    try {
      this.#lib.C_Login(this.#first, CKU_USER, pin);
    } catch (error) {
      const { code } = error as { code?: number };
      if (code === CKR_USER_ALREADY_LOGGED_IN) return;
      if (code !== CKR_PIN_INCORRECT && code !== CKR_PIN_LOCKED) throw error;
      refusedPins.set(this.#lib, refused.add(name));
      throw refusedPin(label);
    }
  }

  #end(session: Handle): void {
    try {
      this.#lib.C_CloseSession(session);
    } catch {
      // A device that was reset knows it no more.
    }
  }

  #find(kind: number): Handle {
    this.#lib.C_FindObjectsInit(this.#first, [
      { type: CKA_CLASS, value: kind },
      { type: CKA_KEY_TYPE, value: CKK_EC_EDWARDS },
      { type: CKA_LABEL, value: this.#object },
    ]);
    const [found, ...others] = this.#lib.C_FindObjects(this.#first, 2);
    this.#lib.C_FindObjectsFinal(this.#first);
    if (found === undefined || others.length > 0) {
      const count = found === undefined ? 'no' : 'more than one';
      throw new TallyError('unavailable', `The PKCS#11 token has ${count} Ed25519 key ${this.#object}.`);
    }
    return found;
  }
}

/** Tokens that have refused a PIN, each with it as JSON. They lock after a few wrong ones, and then refuse the right one too. */
const refusedPins = new WeakMap<Pkcs11, Set<string>>();

function refusedPin(label: string): TallyError {
  return new TallyError(
    'unavailable',
    `The PKCS#11 token ${label} refuses the PIN (CKR_PIN_INCORRECT or CKR_PIN_LOCKED). This process tries it no more, since tokens lock after a few wrong ones: correct TALLY_PKCS11_PIN and start again.`,
  );
}

/** A library may be initialised once in a process. */
const libraries = new Map<string, Pkcs11>();

function libraryOf(module: string): Pkcs11 {
  const known = libraries.get(module);
  if (known !== undefined) return known;
  const lib = new (packageOf().PKCS11)();
  lib.load(module);
  // pkcs11js signs in several threads at once. A library guards its memory against that only if this flag is set (PKCS#11 3.1, section 5.4).
  lib.C_Initialize({ flags: CKF_OS_LOCKING_OK });
  libraries.set(module, lib);
  return lib;
}

function packageOf(): { readonly PKCS11: new () => Pkcs11 } {
  try {
    return createRequire(import.meta.url)('pkcs11js') as { PKCS11: new () => Pkcs11 };
  } catch (cause) {
    const message =
      'Keys on PKCS#11 tokens need the package pkcs11js, which is not installed: npm install pkcs11js';
    throw new TallyError('unavailable', message, { cause });
  }
}

/** The name of the error, such as CKR_PIN_INCORRECT: no message of a device is trusted to hold no PIN. */
function unavailable(uri: string, error: unknown): TallyError {
  const [name = 'no reason given'] = /CKR_\w+/.exec((error as Error).message) ?? [];
  return new TallyError('unavailable', `The PKCS#11 key ${uri} can't be used at the moment (${name}).`);
}
