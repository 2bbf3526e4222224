import { createHash } from 'node:crypto';
import { type BenchmarkNode, canonicalize, copyJson, type JsonObject, signBenchmark } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { PartName, Results } from './results.ts';

/** A signed document as it is served. */
interface SignedNode {
  /** JCS. */
  readonly text: string;
  /** A weak tag: each process signs at its own time, but the content is the same. */
  readonly etag: string;
}

export interface Benchmark {
  /** Returns a document, signed once with each benchmark key. @throws unavailable where the keyring has no benchmark key */
  readonly node: (name: BenchmarkNode) => Promise<SignedNode>;
}

/** The benchmark's documents, signed with the benchmark key. `clock` gives Unix milliseconds. */
export function createBenchmark(issuer: OwnIssuer, clock: () => number): Benchmark {
  const signed = new Map<BenchmarkNode, { readonly keyId: string; readonly made: Promise<SignedNode> }>();
  return {
    node(name) {
      const { keyId } = issuer.signer('benchmark');
      const cached = signed.get(name);
      if (cached?.keyId === keyId) return cached.made;
      const made = sign(name, issuer, clock());
      signed.set(name, { keyId, made });
      return made;
    },
  };
}

async function sign(name: BenchmarkNode, issuer: OwnIssuer, now: number): Promise<SignedNode> {
  const signer = issuer.signer('benchmark');
  // They are a twentieth of what the program loads, and few ask for them.
  const { results } = await import('./results.ts');
  const content = contentOf(name, results);
  const signedContent = `${signer.keyId}\n${canonicalize(content)}`;
  return {
    text: await signBenchmark(name, content, { did: issuer.did, issuedAt: now }, signer),
    etag: `W/"${createHash('sha256').update(signedContent).digest('base64url')}"`,
  };
}

function contentOf(
  name: BenchmarkNode,
  { version, corpus, command, generated_with, nodes, peers }: Results,
): JsonObject {
  const common = { version, corpus, command, generated_with };
  if (name !== 'benchmark') return copyJson({ ...common, ...nodes[name] }) as JsonObject;
  const summaries = Object.fromEntries(
    (Object.keys(nodes) as PartName[]).map((part) => [part, summaryOf(part, nodes)]),
  );
  return copyJson({ ...common, nodes: summaries, peers }) as JsonObject;
}

/** What readers of a part look at first, and where to find the rest. */
function summaryOf(part: PartName, nodes: Results['nodes']): JsonObject {
  const { about, tiers, paired, lossless } = nodes[part];
  const url = `/v1/compute/benchmark/${part}`;
  return { url, about, tiers, paired, ...(lossless !== undefined && { lossless }) };
}
