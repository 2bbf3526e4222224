import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { certificatesIn } from './certificates.ts';
import { extensionOf } from './der.ts';
import { type Evidence, malformed } from './evidence.ts';

/** The Intel SGX Root CA. */
export const INTEL_ROOTS: readonly string[] = [
  '44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3',
];

const HEADER = 48;
const TDX = 0x81;
const ECDSA_P256 = 2;
const QE_REPORT = 384;
/** Certification data: PEM of the PCK's chain, and the report of the quoting enclave with data of another type. */
const PCK_CHAIN = 5;
const QE_CERTIFICATION = 6;

/** Bytes of the body by its type in a quote of version 5: TDX 1.0, TDX 1.5, and TDX 1.5 with its service TDs. Each begins as the one before. */
const BODIES: ReadonlyMap<number, number> = new Map([
  [2, 584],
  [3, 648],
  [4, 885],
]);

/** The signer, the product and the attributes of Intel's quoting enclave for TDX, as Intel's enclave identity `TD_QE` names them. */
const QE_SIGNER = 'dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5';
const QE_PRODUCT = 2;
const QE_ATTRIBUTES = 0x11n;
/** The attributes that count: all but MODE64BIT. */
const QE_ATTRIBUTES_MASK = ~0x04n;

/** The SGX extension, which each certificate of a platform has (Intel SGX PCK certificate specification, section 1.3.5). */
const PCK_EXTENSION = '1.2.840.113741.1.13.1';

/** Whether bytes begin as a quote of TDX does. */
export function looksLikeQuote(bytes: Buffer): boolean {
  if (bytes.length < HEADER) return false;
  return [4, 5].includes(bytes.readUInt16LE(0)) && bytes.readUInt32LE(4) === TDX;
}

/**
 * Reads a quote of Intel TDX, of version 4 or 5 (Intel TDX DCAP Quoting Library API, appendix A), with the PCK's chain in it.
 * @throws attestation_invalid
 */
export function readQuote(bytes: Buffer): Evidence {
  const rest = new Parts(bytes);
  const version = rest.next(HEADER).readUInt16LE(0);
  if (bytes.readUInt16LE(2) !== ECDSA_P256) throw malformed('The quote is not signed by ECDSA P-256.');
  const type = version === 4 ? 2 : rest.next(2).readUInt16LE(0);
  const size = BODIES.get(type);
  if (size === undefined || (version === 5 && rest.next(4).readUInt32LE(0) !== size))
    throw malformed('The body of the quote is of no type of TDX that is read here.');
  const body = rest.next(size);
  const signed = bytes.subarray(0, rest.at);

  const data = new Parts(rest.next(rest.next(4).readUInt32LE(0)));
  const [signature, attestationKey] = [data.next(64), data.next(64)];
  if (data.next(2).readUInt16LE(0) !== QE_CERTIFICATION)
    throw malformed('The quote does not have the report of its quoting enclave.');
  const qe = new Parts(data.next(data.next(4).readUInt32LE(0)));
  const [report, reportSignature] = [qe.next(QE_REPORT), qe.next(64)];
  const authentication = qe.next(qe.next(2).readUInt16LE(0));
  if (qe.next(2).readUInt16LE(0) !== PCK_CHAIN)
    throw malformed('The quote does not have the certificates of its platform (certification data 5).');
  const [leaf, ...others] = certificatesIn(qe.next(qe.next(4).readUInt32LE(0)).toString('latin1'));
  if (leaf === undefined) throw malformed('The quote has no certificate of its platform.');

  const named = createHash('sha256').update(attestationKey).update(authentication).digest();
  const isNamed = report.subarray(320).equals(Buffer.concat([named], 64));
  const isIntels =
    report.toString('hex', 128, 160) === QE_SIGNER &&
    report.readUInt16LE(256) === QE_PRODUCT &&
    report.readUInt32LE(16) === 0 &&
    (report.readBigUInt64LE(48) & QE_ATTRIBUTES_MASK) === QE_ATTRIBUTES;
  const isPlatforms = extensionOf(leaf, PCK_EXTENSION) !== null;
  const isModuleIntels = body.subarray(64, 120).every((byte) => byte === 0);
  return {
    type: 'tdx',
    statement: {
      measurement: body.toString('hex', 136, 184),
      reportData: body.toString('hex', 520, 584),
      // Any bit of TUD: a machine of which others can read or profile what it does.
      debug: body.readUInt8(120) !== 0,
      // MIGRATABLE, bit 29 of the attributes.
      movable: (body.readUInt8(123) & 0x20) !== 0,
      // SEPT_VE_DISABLE, bit 28.
      interruptible: (body.readUInt8(123) & 0x10) === 0,
      level: null,
      time: null,
    },
    leaf,
    others,
    signatures: [
      {
        what: 'the quoting enclave',
        key: leaf.publicKey,
        algorithm: 'sha256',
        message: report,
        signature: reportSignature,
      },
      {
        what: 'the quote',
        key: keyOf(attestationKey),
        algorithm: 'sha256',
        message: signed,
        signature,
      },
    ],
    rules: [
      {
        holds: isPlatforms,
        detail: `The certificate is ${isPlatforms ? '' : 'not '}that of a platform, as Intel provisions it.`,
      },
      // MRSIGNERSEAM is zero for the module that Intel signed, and SEAMATTRIBUTES where it is not in debug mode.
      { holds: isModuleIntels, detail: `The TDX module is ${isModuleIntels ? '' : 'not '}Intel’s.` },
      { holds: isIntels, detail: `The quoting enclave is ${isIntels ? '' : 'not '}Intel’s for TDX.` },
      {
        holds: isNamed,
        detail: `The quoting enclave ${isNamed ? 'names' : 'does not name'} the key of the quote.`,
      },
    ],
  };
}

/** @param point x and y, 32 bytes each @throws attestation_invalid */
function keyOf(point: Buffer): KeyObject {
  const [x, y] = [point.toString('base64url', 0, 32), point.toString('base64url', 32)];
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch (cause) {
    throw malformed('The key of the quote is not a point of P-256.', cause);
  }
}

/** Reads a quote part by part, each from where the one before ended. */
class Parts {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws attestation_invalid if there are fewer */
  next(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw malformed('The quote ends too early.');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
}
