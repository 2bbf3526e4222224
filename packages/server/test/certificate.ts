import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

/** A self-signed certificate and its key, as PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Signs a certificate of this machine (`localhost` and 127.0.0.1): X.509 version 3, ECDSA over P-256.
 * @param validity Unix milliseconds, from 1950 to 2049
 */
export function testCertificate(validity: {
  readonly from: number;
  readonly until: number;
}): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  // Its own, since authorities are found by it.
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(randomUUID())))));
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time(validity.from), time(validity.until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(extension('551d11', names), extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))),
    ),
  );
  return {
    cert: pem('CERTIFICATE', sequence(body, algorithm, signature(body, privateKey))),
    key: pemOf(privateKey),
  };
}

function signature(body: Buffer, key: KeyObject): Buffer {
  return der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', body, key)]));
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function pem(label: string, bytes: Buffer): string {
  const lines =
    bytes
      .toString('base64')
      .match(/.{1,64}/g)
      ?.join('\n') ?? '';
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** X.690, 8.1: tag, length, value. */
function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const integer = (value: number): Buffer => der(0x02, Buffer.of(value));

/** UTCTime, YYMMDDhhmmssZ. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
