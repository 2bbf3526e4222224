import { X509Certificate } from 'node:crypto';
import { formatTimestamp } from '@tallystick/core';
import { pathLengthOf } from './der.ts';
import { malformed } from './evidence.ts';

/** More certificates than any vendor's chain has. */
const MAX_CHAIN = 10;

/** More certificates than any evidence of one machine has. */
const MAX_CERTIFICATES = 20;

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The certificates in a text of PEM, in their order. @throws attestation_invalid */
export function certificatesIn(pem: string): X509Certificate[] {
  return certificatesOf(pem.match(PEM) ?? []);
}

/** @param encoded PEM, or DER, each @throws attestation_invalid also for too many */
export function certificatesOf(encoded: readonly (string | Uint8Array)[]): X509Certificate[] {
  if (encoded.length > MAX_CERTIFICATES)
    throw malformed(`The evidence of one machine has at most ${MAX_CERTIFICATES} certificates here.`);
  return encoded.map((one) => certificateOf(one));
}

/** @param encoded PEM, or DER @throws attestation_invalid */
export function certificateOf(encoded: string | Uint8Array): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(encoded);
    // The key is decoded when it is asked for, and throws where it is no key.
    void certificate.publicKey;
  } catch (cause) {
    throw malformed('A certificate in the evidence is not X.509.', cause);
  }
  // Node decodes a time that is none to a text that is no date.
  if (!(Date.parse(certificate.validFrom) <= Date.parse(certificate.validTo)))
    throw malformed('A certificate in the evidence is never valid.');
  return certificate;
}

/** The last certificate that was reached from the leaf, and what is wrong with the way to it. */
export interface Chain {
  readonly end: X509Certificate;
  /** A sentence; null if nothing is wrong. */
  readonly fault: string | null;
}

/**
 * Follows the certificates from the leaf to one of the roots (RFC 5280, section 6): each signed by the next, valid at the time, and
 * allowed to sign certificates, but for the leaf, which must not be. Revocation lists are not looked at.
 * @param roots SHA-256 of the certificates that are trusted, in hex
 * @param at Unix milliseconds
 */
export function follow(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly string[],
  at: number,
): Chain {
  let end = leaf;
  for (let below = 0; below < MAX_CHAIN; below++) {
    const fault = (text: string): Chain => ({ end, fault: `The certificate of ${nameOf(end)} ${text}` });
    if (!(Date.parse(end.validFrom) <= at && at <= Date.parse(end.validTo)))
      return fault(
        `was valid from ${timeOf(Date.parse(end.validFrom))} to ${timeOf(Date.parse(end.validTo))}, not at ${timeOf(at)}.`,
      );
    if (below === 0 && end.ca) return fault('is of an authority, and vouches for certificates only.');
    if (below > 0 && !end.ca) return fault('may not sign others.');
    // The leaf is below all; it does not count among the certificates in between.
    if (below > 0 && pathLengthOf(end) < below - 1) return fault('allows fewer certificates below it.');
    if (roots.includes(fingerprintOf(end))) return { end, fault: null };
    const issuer = others.find(
      (one) => fingerprintOf(one) !== fingerprintOf(end) && end.checkIssued(one) && end.verify(one.publicKey),
    );
    if (issuer === undefined)
      return fault('is not a root that is known here, and none of the others in the evidence signed it.');
    end = issuer;
  }
  return { end, fault: `More than ${MAX_CHAIN} certificates lead to no root.` };
}

/** SHA-256 of a certificate, 64 hex characters. */
function fingerprintOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

/** The common name of a certificate's subject, or all of the subject. A subject that is empty is undefined in Node. */
export function nameOf({ subject }: { readonly subject: string | undefined }): string {
  return /^CN=(.+)$/m.exec(subject ?? '')?.[1] ?? subject?.replaceAll('\n', ', ') ?? 'nobody';
}

/** @param at Unix milliseconds, also such as no date has @returns UTC, to the second */
export function timeOf(at: number): string {
  return formatTimestamp(Math.floor(at / 1000) * 1000);
}
