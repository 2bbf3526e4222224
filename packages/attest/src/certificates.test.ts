import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { certificateOf, certificatesIn, follow, nameOf } from './certificates.ts';
import { AMD_ROOTS } from './sev-snp.ts';
import { INTEL_ROOTS } from './tdx.ts';

/** A certificate of no vendor: P-256, signed by itself. Its subject is empty. */
const NAMELESS = `-----BEGIN CERTIFICATE-----
MIH7MIGhAhRoq/a/4Bcaoz+xorbaX/dbHiaoGDAKBggqhkjOPQQDAjAAMB4XDTI2
MTEyOTIxMzExM1oXDTM2MTEyNjIxMzExM1owADBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABGvg8XZcK9Zt94rJRml8hclBv0soZPv329L2b5MSq4Qb4kAbXXamPzhP
yVKXi2x2tD75FsoPy+py3in8ER455FwwCgYIKoZIzj0EAwIDSQAwRgIhAIHbD3G+
5byzHfv/RHgZZf+CC0bUZtnp3zYb4+HxmzqeAiEAp9kcAyAO+XH4cL0fYi3v5P2h
OfFr8LgbemnTK44UgUo=
-----END CERTIFICATE-----`;

describe('a certificate', () => {
  test.each([
    ['the first time', 0, 'xxxxxxxxxxxxx'],
    ['the last time', 1, '999999999999Z'],
  ])('is malformed where %s is none', (_, which, time) => {
    const der = Buffer.from(new X509Certificate(NAMELESS).raw);
    // The two of them are UTCTime, of 13 characters each.
    const first = der.indexOf(Buffer.from([0x17, 13]));
    der.write(time, first + 2 + 15 * which, 'latin1');
    expect(() => certificateOf(der)).toThrow(expect.objectContaining({ code: 'attestation_invalid' }));
  });

  it('without a name is nobody’s', () => {
    expect(nameOf(certificateOf(NAMELESS))).toBe('nobody');
  });
});

describe('the way from a leaf to a root', () => {
  const AT = Date.parse('2026-06-01T00:00:00Z');
  test.each([
    ['sev-snp.bin', AMD_ROOTS],
    ['tdx.bin', INTEL_ROOTS],
  ])('%s: only its last certificate vouches for evidence', (file, roots) => {
    const evidence = readFileSync(new URL(`../../../spec/vectors/attestation/${file}`, import.meta.url));
    const certificates = certificatesIn(evidence.toString('latin1'));
    const faults = certificates.map((one) => follow(one, certificates, roots, AT).fault);
    expect(faults).toEqual([null, expect.stringMatching(/authority/), expect.stringMatching(/authority/)]);
  });
});
