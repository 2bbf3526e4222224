import { verify as verifySignature } from 'node:crypto';
import { type Check, sha256Hex } from '@tallystick/core';
import { namesKey } from './binding.ts';
import { follow, nameOf, timeOf } from './certificates.ts';
import { type AttestationType, type Evidence, malformed, type Statement } from './evidence.ts';
import { AWS_ROOTS, looksLikeDocument, readDocument } from './nitro.ts';
import { looksLikeJson, NVIDIA_ROOTS, readDevices } from './nvidia.ts';
import { AMD_ROOTS, looksLikeReport, readReport } from './sev-snp.ts';
import { INTEL_ROOTS, looksLikeQuote, readQuote } from './tdx.ts';

/** Largest evidence that is read, in bytes. That of 32 GPUs has some 400 kB. */
const MAX_BYTES = 2 * 1024 * 1024;

/** What a receipt says that evidence can be held against. */
export interface ReceiptFacts {
  /** `hardware.attestation` of the receipt. */
  readonly attestation: string | null;
  /** The issuer's Ed25519 public key, 32 bytes; null if it is not known. */
  readonly publicKey: Uint8Array | null;
}

/** What the verifier expects beside what the vendors demand. */
export interface Expected {
  /** Unix milliseconds: when the certificates must be valid, where the evidence does not say when it was made. */
  readonly at: number;
  /** The measurement that the software must have, in hex. */
  readonly measurement?: string | undefined;
  /** What the report data must begin with, in hex. */
  readonly reportData?: string | undefined;
  readonly receipt?: ReceiptFacts | undefined;
}

/** The verdict on evidence of hardware. */
export interface AttestationVerdict {
  readonly type: AttestationType;
  /** `<type>:sha256:<64 hex>`, as `hardware.attestation` of a receipt has it. */
  readonly attestation: string;
  /** Whether the vendor's hardware signed this, and cannot be debugged as far as it says. */
  readonly genuine: boolean;
  /** Whether no check is false: it is genuine, and what was expected. */
  readonly valid: boolean;
  /** Whether the evidence names the key that signed the receipt; null without a receipt. */
  readonly bound: boolean | null;
  /** What each of the devices stated; one, but for NVIDIA. */
  readonly statements: readonly Statement[];
  readonly checks: readonly Check[];
}

const ROOTS: Readonly<Record<AttestationType, readonly string[]>> = {
  'sev-snp': AMD_ROOTS,
  tdx: INTEL_ROOTS,
  nitro: AWS_ROOTS,
  nvidia: NVIDIA_ROOTS,
};

/**
 * Judges evidence of confidential hardware, offline: the vendor's certificates from its pinned root, the signatures, debug mode, and what is
 * expected. It reads no revocation lists, and has no reference values of its own.
 * @throws attestation_invalid for what is no evidence of a known kind, json_*
 */
export function verifyAttestation(bytes: Uint8Array, expected: Expected): AttestationVerdict {
  const devices = readEvidence(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const [first] = devices;
  if (first === undefined) throw malformed('There is no evidence.');
  const { type } = first;
  const statements = devices.map(({ statement }) => statement);
  const attestation = `${type}:sha256:${sha256Hex(bytes)}`;
  const own: Check[] = [
    {
      name: 'format',
      ok: true,
      detail: `It is evidence of ${type}${devices.length > 1 ? ` from ${devices.length} devices` : ''}.`,
    },
    together('certificates', devices, (one) => certificatesCheck(one, expected.at)),
    together('signature', devices, signatureCheck),
    together('vendor_rules', devices, rulesCheck),
    together('debug', devices, debugCheck),
    together('migration', devices, migrationCheck),
    ...exceptionChecks(devices),
    ...levelChecks(devices),
    {
      name: 'revocation',
      ok: null,
      detail: 'No revocation list and no list of known firmware was looked at: ask the vendor.',
    },
  ];
  const { receipt } = expected;
  const bound = receipt === undefined ? null : isBound(type, statements, receipt);
  const asked = [
    ...expectedChecks(devices, expected),
    ...(receipt === undefined ? [] : [claimCheck(receipt, attestation), boundCheck(bound === true)]),
  ];
  const genuine = own.every(({ ok }) => ok !== false);
  const valid = genuine && asked.every(({ ok }) => ok !== false);
  return { type, attestation, genuine, valid, bound, statements, checks: [...own, ...asked] };
}

/** Reads evidence of a kind that its first bytes tell. @throws attestation_invalid, json_* */
function readEvidence(bytes: Buffer): Evidence[] {
  if (bytes.length > MAX_BYTES) throw malformed(`Evidence has at most ${MAX_BYTES} bytes here.`);
  if (looksLikeDocument(bytes)) return [readDocument(bytes)];
  if (looksLikeQuote(bytes)) return [readQuote(bytes)];
  if (looksLikeJson(bytes)) return readDevices(bytes);
  if (looksLikeReport(bytes)) return [readReport(bytes)];
  throw malformed(
    'This is no evidence of a known kind: a report of SEV-SNP with its certificates, a quote of TDX, a document of Nitro, or JSON of NVIDIA.',
  );
}

type Finding = Omit<Check, 'name'>;

/** One check of all devices: the first finding that is false, or else the first one. */
function together(name: string, devices: readonly Evidence[], judge: (one: Evidence) => Finding): Check {
  const findings = devices.map((device, index) => {
    const { ok, detail } = judge(device);
    return { name, ok, detail: devices.length > 1 ? `Device ${index + 1}: ${detail}` : detail };
  });
  const [first = { name, ok: null, detail: '' }] = findings;
  return findings.find(({ ok }) => ok === false) ?? first;
}

function certificatesCheck({ type, leaf, others, statement }: Evidence, at: number): Finding {
  const { end, fault } = follow(leaf, others, ROOTS[type], statement.time ?? at);
  return fault === null
    ? { ok: true, detail: `${nameOf(end)} vouches for ${nameOf(leaf)}, at ${timeOf(statement.time ?? at)}.` }
    : { ok: false, detail: fault };
}

function signatureCheck({ signatures }: Evidence): Finding {
  const bad = signatures.find(
    ({ key, algorithm, message, signature }) =>
      key.asymmetricKeyType !== 'ec' ||
      !verifySignature(algorithm, message, { key, dsaEncoding: 'ieee-p1363' }, signature),
  );
  return bad === undefined
    ? { ok: true, detail: `The signature of ${signatures.map(({ what }) => what).join(' and of ')} is good.` }
    : { ok: false, detail: `The signature of ${bad.what} does not match: the contents were changed.` };
}

function rulesCheck({ rules }: Evidence): Finding {
  const broken = rules.filter(({ holds }) => !holds);
  if (broken.length > 0) return { ok: false, detail: broken.map(({ detail }) => detail).join(' ') };
  const all = rules.map(({ detail }) => detail).join(' ');
  return { ok: true, detail: all === '' ? 'The vendor demands nothing more.' : all };
}

function debugCheck({ statement: { debug } }: Evidence): Finding {
  if (debug === null)
    return { ok: null, detail: 'The evidence does not say whether the device is in debug mode.' };
  return debug
    ? { ok: false, detail: 'The machine is in debug mode: its owner can read and change what runs there.' }
    : { ok: true, detail: 'The machine is not in debug mode.' };
}

function migrationCheck({ statement: { movable } }: Evidence): Finding {
  if (movable === null)
    return { ok: null, detail: 'The evidence does not say whether the device can be moved.' };
  return movable
    ? {
        ok: false,
        detail:
          'An agent may move the machine to another host: it can read what runs there, and nothing here says what it is.',
      }
    : { ok: true, detail: 'The machine cannot be moved to another host.' };
}

/**
 * Exceptions on a machine's own memory are no fault: software may have turned them off since it started, which the evidence does not say, or
 * withstand them. Linux does not start where it meets them.
 */
function exceptionChecks(devices: readonly Evidence[]): Check[] {
  return devices.flatMap(({ statement: { interruptible } }) => {
    if (interruptible === null) return [];
    const detail = interruptible
      ? 'The host may take a page of memory away, so that what runs there meets an exception wherever it reads it (SEPT_VE_DISABLE is not set): whether it withstands that, only its own code says.'
      : 'What runs there meets no exception where it reads memory that the host took away: the machine ends.';
    return [{ name: 'exceptions', ok: interruptible ? null : true, detail }];
  });
}

/** VMPL of a report that the host asked for (SEV-SNP ABI, table 23). */
const HOST = 0xffff_ffff;

/** A level that is not the highest is no fault: where a paravisor runs at the highest, all else has a lower one. */
function levelChecks(devices: readonly Evidence[]): Check[] {
  return devices.flatMap(({ statement: { level } }) => {
    if (level === null) return [];
    const detail =
      level === 0
        ? 'Software at the highest level of privilege (VMPL 0) asked for the report.'
        : level === HOST
          ? 'The host asked for the report, not the software of the machine.'
          : `Software at VMPL ${level} asked for the report: what runs at a higher level of the machine can read and change it.`;
    return [{ name: 'privilege', ok: level === 0 ? true : null, detail }];
  });
}

function expectedChecks(devices: readonly Evidence[], { measurement, reportData }: Expected): Check[] {
  const checks: Check[] = [];
  if (measurement !== undefined)
    checks.push(
      together('measurement', devices, ({ statement }) => {
        const ok = statement.measurement === measurement.toLowerCase();
        return {
          ok,
          detail: `The measurement is ${statement.measurement ?? 'none'}${ok ? '' : ', another one'}.`,
        };
      }),
    );
  if (reportData !== undefined)
    checks.push(
      together('report_data', devices, ({ statement }) => {
        const ok = statement.reportData?.startsWith(reportData.toLowerCase()) ?? false;
        return {
          ok,
          detail: `The report data are ${statement.reportData ?? 'none'}${ok ? '' : ', others'}.`,
        };
      }),
    );
  return checks;
}

function claimCheck({ attestation }: ReceiptFacts, own: string): Check {
  const ok = attestation === own;
  const detail = ok
    ? 'The receipt names this evidence.'
    : attestation === null
      ? 'The receipt names no evidence.'
      : `The receipt names ${attestation}, and this is ${own}.`;
  return { name: 'receipt', ok, detail };
}

function isBound(
  type: AttestationType,
  statements: readonly Statement[],
  { publicKey }: ReceiptFacts,
): boolean {
  return publicKey !== null && statements.every(({ reportData }) => namesKey(type, reportData, publicKey));
}

/** Never false: evidence that names no key still says what the machine is. */
function boundCheck(bound: boolean): Check {
  return bound
    ? { name: 'key', ok: true, detail: 'The machine names the key that signed the receipt.' }
    : {
        name: 'key',
        ok: null,
        detail:
          'The machine does not name the key that signed the receipt: that the receipt was made there is the issuer’s word.',
      };
}
