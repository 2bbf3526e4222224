import type { X509Certificate } from 'node:crypto';
import { certificatesIn, certificatesOf, nameOf } from './certificates.ts';
import { contentsOf, extensionOf, integerOf, isCertificate } from './der.ts';
import { type Evidence, malformed, type VendorRule } from './evidence.ts';

/** Bytes of a report, and of the part that is signed (SEV-SNP ABI, table 23). */
const REPORT = 0x4a0;
const SIGNED = 0x2a0;

/** ARK-Milan, ARK-Genoa and ARK-Turin, as https://kdsintf.amd.com/vcek/v1/<product>/cert_chain gives them. */
export const AMD_ROOTS: readonly string[] = [
  '69d063b45344d26a2e94e1f4210de49ef555308287d4c174445c95639a540bcd',
  '4c6598d19c18719c5dfd4a7d335f674e5bfe1d8f800cea2cf270c10d103db2f1',
  '1f084161a44bb6d93778a904877d4819cafa5d05ef4193b2ded9dd9c73dd3f6a',
];

/** Extensions of the certificates of chips (VCEK certificate specification, table 8). */
const OID = {
  productName: '1.3.6.1.4.1.3704.1.2',
  bootloader: '1.3.6.1.4.1.3704.1.3.1',
  tee: '1.3.6.1.4.1.3704.1.3.2',
  snp: '1.3.6.1.4.1.3704.1.3.3',
  microcode: '1.3.6.1.4.1.3704.1.3.8',
  firmware: '1.3.6.1.4.1.3704.1.3.9',
  chip: '1.3.6.1.4.1.3704.1.4',
} as const;

/** Common names of the keys of a chip and of a cloud, by SIGNING_KEY of the report (SEV-SNP ABI, table 23). */
const SIGNERS: readonly string[] = ['SEV-VCEK', 'SEV-VLEK'];

/** Whether bytes begin as a report does: a version from 2, and a signature by ECDSA P-384 with SHA-384. */
export function looksLikeReport(bytes: Buffer): boolean {
  if (bytes.length < REPORT) return false;
  const version = bytes.readUInt32LE(0);
  return version >= 2 && version <= 16 && bytes.readUInt32LE(0x34) === 1;
}

/**
 * Reads an attestation report of AMD SEV-SNP, followed by the certificates of the chip and of AMD: as the table that the host gives with an
 * extended report (GHCB specification, section 4.1.8.1), or as PEM.
 * @throws attestation_invalid
 */
export function readReport(bytes: Buffer): Evidence {
  const report = bytes.subarray(0, REPORT);
  const certificates = certificatesAfter(bytes.subarray(REPORT));
  const signer = SIGNERS[(report.readUInt32LE(0x48) >> 2) & 7];
  if (signer === undefined) throw malformed('The report is signed by no key.');
  const leaf = certificates.find((one) => nameOf(one) === signer);
  if (leaf === undefined)
    throw malformed(
      `The report is followed by no certificate of its key, ${signer}. Append the VCEK or VLEK, the ASK and the ARK, as PEM.`,
    );
  return {
    type: 'sev-snp',
    statement: {
      measurement: report.toString('hex', 0x90, 0xc0),
      reportData: report.toString('hex', 0x50, 0x90),
      debug: (report.readUInt8(0x0a) & 0x08) !== 0,
      movable: (report.readUInt8(0x0a) & 0x04) !== 0,
      interruptible: null,
      level: report.readUInt32LE(0x30),
      time: null,
    },
    leaf,
    others: certificates.filter((one) => one !== leaf),
    signatures: [
      {
        what: 'the report',
        key: leaf.publicKey,
        algorithm: 'sha384',
        message: report.subarray(0, SIGNED),
        signature: signatureOf(report.subarray(SIGNED)),
      },
    ],
    rules: [sameFirmware(report, leaf), ...sameChip(report, leaf)],
  };
}

/** r and s are little-endian, in 72 bytes each, and zeros follow. @throws attestation_invalid for more than P-384 has */
function signatureOf(field: Buffer): Buffer {
  const [r, s, rest] = [field.subarray(0, 72), field.subarray(72, 144), field.subarray(144)];
  if ([r.subarray(48), s.subarray(48), rest].some((zeros) => !isZero(zeros)))
    throw malformed('The signature of the report is none of P-384.');
  return Buffer.concat([r, s].map((number) => Buffer.from(number.subarray(0, 48)).reverse()));
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

function certificatesAfter(rest: Buffer): X509Certificate[] {
  const pem = rest.toString('latin1');
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return certificatesIn(pem);
  const certificates: Buffer[] = [];
  // Entries of 24 bytes (a GUID, an offset, a length) end at one that is zero.
  for (let at = 0; at + 24 <= rest.length; at += 24) {
    const [offset, length] = [rest.readUInt32LE(at + 16), rest.readUInt32LE(at + 20)];
    if (length === 0 || offset + length > rest.length) break;
    const entry = rest.subarray(offset, offset + length);
    // A host puts other things into the table too, such as revocation lists.
    if (isCertificate(entry)) certificates.push(entry);
  }
  return certificatesOf(certificates);
}

/** The key of a chip is one for its firmware's versions: the certificate names those that the report states. */
function sameFirmware(report: Buffer, leaf: X509Certificate): VendorRule {
  const product = contentsOf(extensionOf(leaf, OID.productName))?.toString('latin1') ?? '';
  const stated = report.subarray(0x180, 0x188);
  const places: readonly (readonly [string, number])[] = product.startsWith('Turin')
    ? [
        [OID.firmware, 0],
        [OID.bootloader, 1],
        [OID.tee, 2],
        [OID.snp, 3],
        [OID.microcode, 7],
      ]
    : [
        [OID.bootloader, 0],
        [OID.tee, 1],
        [OID.snp, 6],
        [OID.microcode, 7],
      ];
  const holds = places.every(([oid, at]) => integerOf(extensionOf(leaf, oid)) === stated[at]);
  return {
    holds,
    detail: `The firmware of the report is ${holds ? '' : 'not '}that of the certificate of its key.`,
  };
}

/** A VCEK is of one chip, which the report names unless the owner of the machine masks it with zeros (MASK_CHIP_ID). */
function sameChip(report: Buffer, leaf: X509Certificate): VendorRule[] {
  const stated = report.subarray(0x1a0, 0x1e0);
  if (nameOf(leaf) !== 'SEV-VCEK' || isZero(stated)) return [];
  const chip = extensionOf(leaf, OID.chip);
  const holds = chip !== null && chip.length >= 8 && stated.subarray(0, chip.length).equals(chip);
  return [{ holds, detail: `The chip of the report is ${holds ? '' : 'not '}that of the certificate.` }];
}
