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
 * allowed to sign certificates, but for the leaf, which must not be. Where several signed one, as an authority that was certified anew
 * under its old key, one way that holds is enough. Revocation lists are not looked at.
 * @param roots SHA-256 of the certificates that are trusted, in hex
 * @param at Unix milliseconds
 * @returns of several ways none of which holds, what is wrong with one of the longest
 */
export function follow(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly string[],
  at: number,
): Chain {
  const issuersOf = issuersAmong(others);
  let reached: readonly X509Certificate[] = [leaf];
  for (let below = 0; below < MAX_CHAIN; below++) {
    const good: X509Certificate[] = [];
    let broken: Chain | undefined;
    for (const end of reached) {
      const fault = faultOf(end, below, at);
      if (fault !== null) broken ??= { end, fault: `The certificate of ${nameOf(end)} ${fault}` };
      else if (roots.includes(fingerprintOf(end))) return { end, fault: null };
      else good.push(end);
    }
    const next = new Set(good.flatMap(issuersOf));
    if (next.size === 0) {
      const [end = leaf] = good;
      const fault = `The certificate of ${nameOf(end)} is not a root that is known here, and none of the others in the evidence signed it.`;
      return broken ?? { end, fault };
    }
    reached = [...next];
  }
  return { end: reached[0] ?? leaf, fault: `More than ${MAX_CHAIN} certificates lead to no root.` };
}

/** What is wrong with a certificate, as the end of a sentence; null if nothing is. @param below number of certificates from the leaf to it */
function faultOf(certificate: X509Certificate, below: number, at: number): string | null {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (!(from <= at && at <= to))
    return `was valid from ${timeOf(from)} to ${timeOf(to)}, not at ${timeOf(at)}.`;
  if (below === 0) return certificate.ca ? 'is of an authority, and vouches for certificates only.' : null;
  if (!certificate.ca) return 'may not sign others.';
  // The leaf is below all; it does not count among the certificates in between.
  return pathLengthOf(certificate) < below - 1 ? 'allows fewer certificates below it.' : null;
}

/** Finds the certificates that signed another one; asked again, it checks no signature again. */
function issuersAmong(
  others: readonly X509Certificate[],
): (certificate: X509Certificate) => readonly X509Certificate[] {
  const found = new Map<X509Certificate, readonly X509Certificate[]>();
  return (certificate) => {
    const issuers =
      found.get(certificate) ??
      others.filter(
        (one) =>
          fingerprintOf(one) !== fingerprintOf(certificate) &&
          certificate.checkIssued(one) &&
          certificate.verify(one.publicKey),
      );
    found.set(certificate, issuers);
    return issuers;
  };
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
