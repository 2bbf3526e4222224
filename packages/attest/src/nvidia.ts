import type { X509Certificate } from 'node:crypto';
import { isObject, type JsonObject, parseJson } from '@tallystick/core';
import { certificatesIn } from './certificates.ts';
import { extensionOf } from './der.ts';
import { type Evidence, malformed, type VendorRule } from './evidence.ts';

/** The NVIDIA Device Identity CA. */
export const NVIDIA_ROOTS: readonly string[] = [
  '102bf659d5419614c9d8e6aecebc80454eb26b1df6a769ac720b9a690b167b48',
];

/** Most devices of one machine. */
const MAX_DEVICES = 32;

/** The version and the code that a request and a response of SPDM 1.1 begin with. */
const GET_MEASUREMENTS = 0x11e0;
const MEASUREMENTS = 0x1160;

const REQUEST = 37;
const SIGNATURE = 96;
/** Where the nonce of who asked begins in the request (SPDM 1.1, table 42), and the record's length in the response. */
const NONCE = 4;
const RECORD_LENGTH = REQUEST + 5;
const RECORD = REQUEST + 8;
/** The field of NVIDIA's opaque data with the hash of the firmware, and its bytes: SHA-384. */
const FIRMWARE = 20;
const FIRMWARE_HASH = 48;
/** Extensions with the hash of the firmware that a device's key is for (TCG DICE attestation architecture). */
const DICE = ['2.23.133.5.4.1', '2.23.133.5.4.1.1'];

/** Whether bytes begin as JSON does. */
export function looksLikeJson(bytes: Buffer): boolean {
  return /^\s*[[{]/.test(bytes.toString('latin1', 0, 64));
}

/**
 * Reads the evidence of NVIDIA GPUs and switches, one for each device, as NVIDIA's attestation SDK collects it: objects with the
 * certificates (PEM) and the SPDM request with its response, both in base64.
 * @throws attestation_invalid, json_*
 */
export function readDevices(bytes: Buffer): Evidence[] {
  const json = parseJson(bytes);
  const devices = Array.isArray(json) ? json : [json];
  if (devices.length === 0 || devices.length > MAX_DEVICES || !devices.every(isObject))
    throw malformed(`Evidence of NVIDIA is a list of 1 to ${MAX_DEVICES} devices.`);
  const evidence = devices.map((device) => readDevice(device));
  const keys = evidence.map(({ leaf }) =>
    leaf.publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
  );
  if (new Set(keys).size < keys.length) throw malformed('The same device is in the list twice.');
  return evidence;
}

function readDevice(device: JsonObject): Evidence {
  const [pem, report] = ['certificate', 'evidence'].map((name) => {
    const value = device[name];
    const decoded = Buffer.from(typeof value === 'string' ? value : '', 'base64');
    if (decoded.toString('base64') !== value) throw malformed(`A device has no ${name} in base64.`);
    return decoded;
  }) as [Buffer, Buffer];
  const [leaf, ...others] = certificatesIn(pem.toString('latin1'));
  if (leaf === undefined) throw malformed('A device has no certificate.');
  if (
    report.length < RECORD + SIGNATURE ||
    report.readUInt16BE(0) !== GET_MEASUREMENTS ||
    report.readUInt16BE(REQUEST) !== MEASUREMENTS
  )
    throw malformed('The evidence of a device is not GET_MEASUREMENTS of SPDM 1.1 with its response.');
  return {
    type: 'nvidia',
    statement: {
      measurement: null,
      reportData: report.toString('hex', NONCE, NONCE + 32),
      debug: null,
      movable: null,
      interruptible: null,
      level: null,
      time: null,
    },
    leaf,
    others,
    signatures: [
      {
        what: 'the measurements',
        key: leaf.publicKey,
        algorithm: 'sha384',
        message: report.subarray(0, -SIGNATURE),
        signature: report.subarray(-SIGNATURE),
      },
    ],
    rules: [sameFirmware(report, leaf)],
  };
}

/**
 * The key of a device is one for its firmware: its certificate names the firmware that the response states. NVIDIA's own verifier passes
 * over a response that states none; here it is refused, because the root is not one of GPUs and switches alone.
 */
function sameFirmware(report: Buffer, leaf: X509Certificate): VendorRule {
  const stated = opaqueField(report, FIRMWARE);
  const named = DICE.map((oid) => extensionOf(leaf, oid)).find((one) => one !== null);
  const holds = stated?.length === FIRMWARE_HASH && named?.includes(stated) === true;
  const detail =
    stated === null
      ? 'The response states no hash of its firmware.'
      : `The firmware of the response is ${holds ? '' : 'not '}that of the certificate of its key.`;
  return { holds, detail };
}

/** A field of the opaque data that follows the record and the nonce; null if there is none. @throws attestation_invalid */
function opaqueField(report: Buffer, wanted: number): Buffer | null {
  const start = RECORD + report.readUIntLE(RECORD_LENGTH, 3) + 32 + 2;
  const end = report.length - SIGNATURE;
  if (start > end || start + report.readUInt16LE(start - 2) !== end)
    throw malformed('The lengths in the response of a device do not add up.');
  for (let at = start; at + 4 <= end; ) {
    const [type, length] = [report.readUInt16LE(at), report.readUInt16LE(at + 2)];
    if (type === wanted) return report.subarray(at + 4, Math.min(at + 4 + length, end));
    at += 4 + length;
  }
  return null;
}
