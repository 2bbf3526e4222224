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

/**
 * Certificates of no vendor, DER in base64: P-256, valid for a century. `root` allows one authority below it, `first` none below that,
 * and `second` is one nevertheless. `near` is a leaf below `first`, `far` one below `second`, and `far` signed `lowest`. `trunk` signed `old`,
 * which is valid for a year, and `renewed`, of the same name and key; `twig` is a leaf below these two.
 */
const OWN = {
  root: 'MIIBJDCBy6ADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBFJvb3QwIBcNMjYxMTI5MjE0NzAzWhgPMjEyNjExMDUyMTQ3MDNaMA8xDTALBgNVBAMMBFJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARgqoKy6O5srXbVm7eG5Q2fwt2vSXbOq0dvGBfiwHBYixINxCWLEEzjn51B7hs+Sv+B98WdRepDZFUtQzPsNLidoxYwFDASBgNVHRMBAf8ECDAGAQH/AgEBMAoGCCqGSM49BAMCA0gAMEUCIQC5X3CJRYlp/exRLgbHVnyGsnpvvfUmsAW0OtZen+mE8QIgb9gz/CGVRu55MSKgNrXr3YsQ/HWi2csvtyCANQR9d4I=',
  first:
    'MIIBJTCBzKADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBFJvb3QwIBcNMjYxMTI5MjE0NzAzWhgPMjEyNjExMDUyMTQ3MDNaMBAxDjAMBgNVBAMMBUZpcnN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEj2OnnVuHJoOzHthQuOQZPHnOqCar+1C3tMVWHHeawfj49OanV/gNUST3g9XKKslYGapQBdmPzL54/SsUGhheyKMWMBQwEgYDVR0TAQH/BAgwBgEB/wIBADAKBggqhkjOPQQDAgNIADBFAiEA8NmrtS3IS+JmLS0Uavy8tHKZSIfMifR91T1WX5yxtLYCICSXC++V847p5Xa4bPQ4zkmx50snHgPKA5ZqRYPV8ZZK',
  second:
    'MIIBJTCBy6ADAgECAgEBMAoGCCqGSM49BAMCMBAxDjAMBgNVBAMMBUZpcnN0MCAXDTI2MTEyOTIxNDcwM1oYDzIxMjYxMTA1MjE0NzAzWjARMQ8wDQYDVQQDDAZTZWNvbmQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASy2RxtDaC6PJBwiSlPSVWT4QwAZjWyP2jzLrR40E+wyM2OGUzER1TQSEuvGkWuAt5k8G+xukDwbvkJ17KOg6KgoxMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCcL7WSi+UWdhc+AqyjoRTBrpwZsEAqJ+Qj4wBVLFq0lwIhAL6bkVG244HJBseU1/zNpMzayzU4YghY/QGYHQPUFt9C',
  near: 'MIIBHzCBxqADAgECAgECMAoGCCqGSM49BAMCMBAxDjAMBgNVBAMMBUZpcnN0MCAXDTI2MTEyOTIxNDcwNFoYDzIxMjYxMTA1MjE0NzA0WjAPMQ0wCwYDVQQDDAROZWFyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEstkcbQ2gujyQcIkpT0lVk+EMAGY1sj9o8y60eNBPsMjNjhlMxEdU0EhLrxpFrgLeZPBvsbpA8G75CdeyjoOioKMQMA4wDAYDVR0TAQH/BAIwADAKBggqhkjOPQQDAgNIADBFAiEA8f+kdTMI1M600rBIBh4pi4oQi0KpyhACAjjb89DikUUCIH9MmxVSJTtIKho9vyDpbehETIEzG8v82ioVqOJKWEuW',
  far: 'MIIBHzCBx6ADAgECAgEBMAoGCCqGSM49BAMCMBExDzANBgNVBAMMBlNlY29uZDAgFw0yNjExMjkyMTQ3MDRaGA8yMTI2MTEwNTIxNDcwNFowDzENMAsGA1UEAwwETGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFEWEP1UJk8SK10AJcFkethALuOdziZhvVaV430c/BLFG8QdLSmOd1X/m9CtiDbqVq2VelrYrCopUr/WmP6ubAOjEDAOMAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDRwAwRAIgaoqNVHS35r5Rr+G3RMS6Bm2Bg2kDDWFwbJeuNxjH/1wCIDTHEnc/sCKEgASehurLpp5Usv1cYXfNjsnl+AjmK1TG',
  lowest:
    'MIIBHzCBxqADAgECAgEDMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBExlYWYwIBcNMjYxMTI5MjE0NzA0WhgPMjEyNjExMDUyMTQ3MDRaMBAxDjAMBgNVBAMMBUxvd2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEj2OnnVuHJoOzHthQuOQZPHnOqCar+1C3tMVWHHeawfj49OanV/gNUST3g9XKKslYGapQBdmPzL54/SsUGhheyKMQMA4wDAYDVR0TAQH/BAIwADAKBggqhkjOPQQDAgNIADBFAiEAjlKKW9s1o+bFXw3PMHSm5dRRTLOqyyf/cWMVdEDyr3kCIEJ7onkY13DSgk1p/HGj1ktrm79C4G+y//LvChp3xWQp',
  trunk:
    'MIIBQjCB6aADAgECAgEBMAoGCCqGSM49BAMCMBAxDjAMBgNVBAMMBVRydW5rMCAXDTI2MTEzMDE4MjQxMloYDzIxMjYxMTA2MTgyNDEyWjAQMQ4wDAYDVQQDDAVUcnVuazBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM/uqIVospuA2IfjZeWcXAU4fe5LvQc289xC40VB2kh3xm5FCmPYESuAQUAkmUhszaXU/r0abInauL++SjtW33mjMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFHAOpWu5xeNfpOTENW+fTPsJLGNzMAoGCCqGSM49BAMCA0gAMEUCIQDZGMAlExqQEObtyaJYXVJ2TfWfDo0fAvJaqgwQDsqg2AIgSIy1HvRBda/ColBCZZVRFSZEVKd0AetBHh4Eq5w+CYU=',
  old: 'MIIBYzCCAQmgAwIBAgIBAjAKBggqhkjOPQQDAjAQMQ4wDAYDVQQDDAVUcnVuazAeFw0yNjExMzAxODI0MTNaFw0yNzExMzAxODI0MTNaMBExDzANBgNVBAMMBkJyYW5jaDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNbpqboqbDUDLLHsz620nEpGiSY3fxnpNlxkeZjAcD+cNOr+NO+RcWuYYzWxyrNX5WmXtIsp+Ud3h55Qc4UztV2jUzBRMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFHbfEm0/R/MjfCLa2boCwWf8hzYgMB8GA1UdIwQYMBaAFHAOpWu5xeNfpOTENW+fTPsJLGNzMAoGCCqGSM49BAMCA0gAMEUCIDgY547PKVRCqsv8F8CNC1pnYI/2HgReLKaqXB+dfnpxAiEAx7G7WG7ATwn2/Cb8sjMSN6+jOokQufWDT2iIG/1nKhs=',
  renewed:
    'MIIBZDCCAQugAwIBAgIBAzAKBggqhkjOPQQDAjAQMQ4wDAYDVQQDDAVUcnVuazAgFw0yNjExMzAxODI0MTRaGA8yMTI2MTEwNjE4MjQxNFowETEPMA0GA1UEAwwGQnJhbmNoMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1umpuipsNQMssezPrbScSkaJJjd/Gek2XGR5mMBwP5w06v4075Fxa5hjNbHKs1flaZe0iyn5R3eHnlBzhTO1XaNTMFEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUdt8SbT9H8yN8ItrZugLBZ/yHNiAwHwYDVR0jBBgwFoAUcA6la7nF41+k5MQ1b59M+wksY3MwCgYIKoZIzj0EAwIDRwAwRAIgBJfoJJTJqgXYj/gxg2KShxjIMQTx055qvlXm8rlC/+ACIFRI33qvOzE/F9LU6J7BL7hNajuOPw73NsAFzjTJJgGi',
  twig: 'MIIBYjCCAQegAwIBAgIBBDAKBggqhkjOPQQDAjARMQ8wDQYDVQQDDAZCcmFuY2gwIBcNMjYxMTMwMTgyNDE1WhgPMjEyNjExMDYxODI0MTVaMA8xDTALBgNVBAMMBFR3aWcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARRCt1jVbXKp5/qqOQSWuH+bKupmQphpQasoPnjCYT/6scacMqsujq1otkpx6UaFYxBJuA0iUcC8oG1GxFsAdWMo1AwTjAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBTtt5Spimm+FDIJRwJGz6n5jRQBXDAfBgNVHSMEGDAWgBR23xJtP0fzI3wi2tm6AsFn/Ic2IDAKBggqhkjOPQQDAgNJADBGAiEAg0z5CQH6QtVMz1BWcl1sudHs61mMj9XMr/UsC31J6KgCIQC40CfAKdLMvlSicCVvF80pSzHU1XjbV14WnzH50S3OOA==',
};
const own = (name: keyof typeof OWN): X509Certificate => certificateOf(Buffer.from(OWN[name], 'base64'));

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

  const IN_USE = Date.parse('2030-01-01T00:00:00Z');
  const all = Object.keys(OWN).map((name) => own(name as keyof typeof OWN));
  const roots = [own('root').fingerprint256.replaceAll(':', '').toLowerCase()];

  test.each([
    ['near', /^null$/],
    ['far', /First allows fewer certificates below it/],
    ['lowest', /Leaf may not sign others/],
    ['second', /Second is of an authority/],
  ] as const)('%s', (name, fault) => {
    expect(String(follow(own(name), all, roots, IN_USE).fault)).toMatch(fault);
  });

  test.each([
    ['the older first', ['old', 'renewed', 'trunk'], null],
    ['the newer first', ['renewed', 'old', 'trunk'], null],
    ['the older alone', ['old', 'trunk'], expect.stringMatching(/Branch was valid from 2026-/)],
    ['without the root', ['old', 'renewed'], expect.stringMatching(/Branch/)],
  ] as const)('of an authority that was certified anew, %s', (_, names, fault) => {
    const trunk = own('trunk').fingerprint256.replaceAll(':', '').toLowerCase();
    expect(follow(own('twig'), names.map(own), [trunk], IN_USE).fault).toEqual(fault);
  });

  test('ends where a certificate was changed, is not there, or is not valid yet', () => {
    const changed = Buffer.from(OWN.near, 'base64');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 0x01;
    const none = expect.stringMatching(/Near is not a root that is known here, and none of the others/);
    expect(follow(certificateOf(changed), all, roots, IN_USE).fault).toEqual(none);
    expect(follow(own('near'), [own('root')], roots, IN_USE).fault).toEqual(none);
    expect(follow(own('near'), all, roots, AT).fault).toMatch(/Near was valid from 2026-/);
    expect(follow(own('near'), all, roots, Number.NaN).fault).toMatch(/Near was valid from 2026-/);
    expect(follow(own('near'), all, AMD_ROOTS, IN_USE).fault).toMatch(
      /Root is not a root that is known here/,
    );
  });
});
