import { type AttestationVerdict, type ReceiptFacts, verifyAttestation } from '@tallystick/attest';
import {
  type JsonObject,
  parseTimestamp,
  publicKeyOfDidKey,
  readReceipt,
  TallyError,
  verify,
} from '@tallystick/core';
import { named, nameOf, readBytes, readJson } from '../input.ts';
import { EXIT, type Exit, print, printJson, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { checkLine, headline } from '../verdict.ts';

/** Options of `tally attest verify`: paths, bytes in hex, and a UTC time. */
export interface AttestOptions {
  readonly receipt?: string;
  readonly measurement?: string;
  readonly reportData?: string;
  readonly at?: string;
  readonly json?: boolean;
}

/** Judges the evidence at a path, and prints the verdict. @throws UsageError */
export async function judgeEvidence(path: string, options: AttestOptions): Promise<Exit> {
  const { measurement, reportData, json } = options;
  requireHex('--measurement', measurement);
  requireHex('--report-data', reportData);
  if (path === '-' && options.receipt === '-')
    throw new UsageError('Standard input can be read once: give - once.');
  const given = timeOf(options.at);
  const receipt = options.receipt === undefined ? undefined : await factsOf(options.receipt);
  const at = given ?? receipt?.issuedAt ?? Date.now();
  const bytes = await readBytes(path);
  let verdict: AttestationVerdict;
  try {
    verdict = verifyAttestation(bytes, { at, measurement, reportData, receipt });
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    const message = `${nameOf(path)}: ${error.message}`;
    if (json === true) printJson({ valid: false, genuine: false, error: { code: error.code, message } });
    else print(headline('red', '✗ Not genuine', printable(message)));
    return EXIT.failed;
  }
  if (json === true) printJson(toJson(verdict));
  else show(verdict);
  if (!verdict.valid) return EXIT.failed;
  return verdict.bound === false ? EXIT.untrusted : EXIT.ok;
}

/** The attestation that a receipt names, the key that signed it, and its time of issue in Unix milliseconds. @throws TallyError, UsageError */
async function factsOf(path: string): Promise<ReceiptFacts & { readonly issuedAt: number }> {
  const document = await readJson(path);
  try {
    const { family, receipt } = readReceipt(document);
    const { integrity, checks } = await verify(document, { now: Date.now() });
    const { issuedAt, issuerPublicKey, keyId } = family.claims(receipt);
    if (!integrity) {
      const broken = checks.find(({ ok }) => ok === false);
      throw new TallyError('not_a_receipt', `The receipt is not intact: ${broken?.detail ?? ''}`);
    }
    return {
      attestation: attestationOf(receipt),
      publicKey: keyId?.startsWith('did:key:')
        ? publicKeyOfDidKey(keyId)
        : issuerPublicKey === null
          ? null
          : Buffer.from(issuerPublicKey, 'base64url'),
      issuedAt: issuedAt * 1000,
    };
  } catch (error) {
    throw named(error, path);
  }
}

function attestationOf(receipt: JsonObject): string | null {
  const hardware = receipt['hardware'] as JsonObject | undefined;
  const attestation = hardware?.['attestation'];
  return typeof attestation === 'string' ? attestation : null;
}

function toJson({
  type,
  attestation,
  genuine,
  valid,
  bound,
  statements,
  checks,
}: AttestationVerdict): object {
  return {
    valid,
    genuine,
    bound,
    type,
    attestation,
    statements: statements.map(({ measurement, reportData, debug, movable, interruptible, level, time }) => ({
      measurement,
      report_data: reportData,
      debug,
      movable,
      interruptible,
      level,
      made_at: time === null ? null : new Date(time).toISOString(),
    })),
    checks,
  };
}

function show({ attestation, genuine, valid, bound, statements, checks }: AttestationVerdict): void {
  const broken = checks.find(({ ok }) => ok === false);
  const fault = printable(`${broken?.name}: ${broken?.detail}`);
  if (!genuine) print(headline('red', '✗ Not genuine', fault));
  else if (!valid) print(headline('red', '✗ Genuine, but not what was expected', fault));
  else if (bound === false)
    print(
      headline('yellow', '○ Genuine, but not bound', 'the evidence does not name the key of the receipt.'),
    );
  else print(headline('green', '✓ Genuine', attestation));
  for (const { measurement, reportData } of statements) {
    if (measurement !== null) print(`  measurement  ${measurement}`);
    if (reportData !== null) print(`  report data  ${reportData}`);
  }
  print('');
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const check of checks) print(`  ${checkLine(check, width)}`);
}

function requireHex(option: string, value: string | undefined): void {
  if (value !== undefined && !/^(?:[0-9a-f]{2})+$/i.test(value))
    throw new UsageError(`${option} takes bytes in hex.`);
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const instant = parseTimestamp(text);
  if (instant === null) throw new UsageError('--at takes a UTC time such as 2026-12-31T12:00:00Z.');
  return instant.seconds * 1000;
}
